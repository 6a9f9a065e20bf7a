#include "Inspect.h"

#include "Compile.h"

#include "tracert/LoadedFile.h"

#include <CLI/CLI.hpp>

namespace cli {

CLI::App *addInspectVerb(CLI::App &app, InspectOptions &options) {
  CLI::App *verb = app.add_subcommand("inspect", "show what is in a .trc file");
  verb->add_option("file", options.file, "the .trc file")->required();
  verb->add_flag("--signature", options.signature,
                 "inputs, outputs, sizes, sections, user info (default)");
  verb->add_flag("--ops", options.ops, "the ops with operands, types, kernels and Python lines");
  verb->add_flag("--constants", options.constants, "weights and baked constants, with values");
  verb->add_flag("--kernels", options.kernels, "compiled kernels, what they cover and access");
  verb->add_flag("--vectors", options.vectors, "test vectors, with values");
  verb->add_flag("--locs", options.locs, "source lines");
  verb->add_flag("--sizes", options.sizes, "bytes and counts");
  verb->add_flag("--segments", options.segments, "place, bytes and hash of each part of the file");
  verb->add_flag("--all", options.all, "all of these");
  verb->add_flag("--json", options.isJson,
                 "print JSON with all values; everything when nothing is chosen");
  return verb;
}

int inspectVerb(const InspectOptions &given) {
  InspectOptions options = given;
  bool choosesAny = options.signature || options.ops || options.constants || options.kernels ||
                    options.vectors || options.locs || options.sizes || options.segments;
  if (options.all || (options.isJson && !choosesAny)) {
    options.signature = options.ops = options.constants = options.kernels = options.vectors =
        options.locs = options.sizes = options.segments = true;
  } else if (!choosesAny) {
    options.signature = true;
  }
  tracert::Result<tracert::LoadedFile> file = tracert::loadFile(options.file, {});
  check(file.status());
  auto show = options.isJson ? inspectJson : inspectText;
  show(*file, options);
  return kOk;
}

} // namespace cli
