#include "Compile.h"

#include "tracec/Compiler.h"
#include "tracert/Executor.h"
#include "tracert/SavePath.h"

#include "Verbs/CommandLine.h"
#include "Verbs/Numbers.h"
#include "Verbs/OutputFile.h"
#include "Verbs/Text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace cli {

using tracert::Target;

namespace {

std::string readFile(const std::string &path) {
  int descriptor = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  char part[65536];
  ssize_t count = descriptor < 0 ? -1 : ::read(descriptor, part, sizeof part);
  for (; count > 0; count = ::read(descriptor, part, sizeof part)) {
    text.append(part, static_cast<size_t>(count));
  }
  int error = errno;
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  if (count < 0) {
    throw UserError("cannot read '" + path + "': " + std::strerror(error));
  }
  return text;
}

void writeText(const std::string &path, const std::string &text) {
  if (path.empty() || path == "-") {
    printRaw(text);
    return;
  }
  OutputFile file(path);
  file.write(text);
  file.finish();
}

/// What --target can name beside cpu: processors, in the order of the list of targets.
std::vector<std::pair<std::string, Target>> namedTargets() {
  std::vector<std::pair<std::string, Target>> named;
  for (const tracert::NamedTarget &known : tracert::kTargets) {
    if (known.target == tracert::kAarch64Neon) {
      named.push_back({"cpu:aarch64", known.target});
    } else if (known.target.kind != tracert::TargetKind::Nvptx) {
      named.push_back({"cpu:" + std::string(known.name), known.target});
    }
  }
  return named;
}

/// cpu: the best level of this machine. cpu:portable adds no section.
std::vector<Target> targetsOf(const std::vector<std::string> &names) {
  std::vector<Target> targets;
  auto add = [&](Target target) {
    if (!target.isPortable() &&
        std::find(targets.begin(), targets.end(), target) == targets.end()) {
      targets.push_back(target);
    }
  };
  const auto named = namedTargets();
  for (const std::string &name : names.empty() ? std::vector<std::string>{"cpu"} : names) {
    if (name == "cpu") {
      add(tracert::bestTarget());
      continue;
    }
    if (name.rfind("nvptx", 0) == 0) {
      throw LibraryError(TRT_UNSUPPORTED, "target '" + name + "' is not built into this version");
    }
    auto found = std::find_if(named.begin(), named.end(),
                              [&](const auto &known) { return known.first == name; });
    if (found == named.end()) {
      std::vector<std::string> known{"cpu"};
      for (const auto &each : named) {
        known.push_back(each.first);
      }
      throw UserError(unknownName("target", name, known));
    }
    add(found->second);
  }
  return targets;
}

int listTargets() {
  printLine("cpu");
  for (const auto &[name, target] : namedTargets()) {
    printLine(name + (tracert::supports(target) ? "" : "  (this machine cannot run it)"));
  }
  return kOk;
}

std::string stageFile(const std::string &output, const std::string &stage) {
  std::string base = output.substr(0, output.rfind(".trc"));
  return base + "." + stage + (stage == "llvm" ? ".ll" : stage == "asm" ? ".s" : ".mlir");
}

} // namespace

void check(const tracert::Status &status) {
  // The C API has no code for it: a module that does not compile is for the user to mend.
  if (status.code() == tracert::StatusCode::Compile) {
    // Its diagnostics have several lines.
    std::string line = status.message();
    std::replace(line.begin(), line.end(), '\n', ' ');
    throw UserError(line);
  }
  if (!status.ok()) {
    throw LibraryError(static_cast<trt_status>(status.code()), status.message());
  }
}

CLI::App *addCompileVerb(CLI::App &app, CompileOptions &options) {
  CLI::App *verb = app.add_subcommand("compile", "compile a .mlir file in the trace dialect");
  verb->add_option("file", options.input, "the .mlir file, - for standard input");
  verb->add_option("-o,--output", options.output, "the file to write");
  verb->add_option("--target", options.targets, "cpu, cpu:x86-64-v3, ...; may be repeated")
      ->allow_extra_args(false);
  addNumber(*verb, "-O", options.optLevel, {0, 2}, "0: one kernel per op; 2: default");
  verb->add_option("--compile-to", options.compileTo,
                   "print this stage instead: trace, canonical, fused, kernel, vector, llvm, asm");
  verb->add_option("--emit", options.emit, "also write these stages beside the output")
      ->delimiter(',');
  verb->add_option("--strip", options.strip, "leave out: locs (the source lines)")
      ->delimiter(',')
      ->check(CLI::IsMember({"locs"}));
  verb->add_flag("--list-targets", options.listsTargets, "print what --target takes");
  verb->add_flag("--timing", options.timing, "print each stage's time");
  return verb;
}

int compileVerb(const CompileOptions &options) {
  if (options.listsTargets) {
    return listTargets();
  }
  if (options.input.empty()) {
    throw UserError("no input file");
  }
  if (options.compileTo.empty() && options.output.empty()) {
    throw UserError("no output file: write -o OUT.trc, or --compile-to=STAGE to print a stage");
  }
  if (options.compileTo.empty()) {
    check(tracert::checkSavePath(options.output));
  }
  tracec::CompileOptions compile;
  compile.targets = targetsOf(options.targets);
  compile.optLevel = static_cast<int>(options.optLevel);
  compile.timing = options.timing;
  std::string text = readFile(options.input);
  tracert::Result<const tracec::CompilerApi *> api = tracec::loadCompiler();
  check(api.status());
  if (!options.compileTo.empty()) {
    std::string stage;
    check((*api)->printTextStage(text, options.input, compile, options.compileTo, &stage));
    writeText(options.output, stage);
    return kOk;
  }
  for (const std::string &name : options.emit) {
    std::string stage;
    check((*api)->printTextStage(text, options.input, compile, name, &stage));
    writeText(stageFile(options.output, name), stage);
  }
  std::shared_ptr<tracert::Program> program;
  check((*api)->compileText(text, options.input, compile, &program));
  tracert::WriteOptions write;
  write.keepLocs = options.strip.empty();
  check(tracert::writeProgram(*program, options.output, write));
  return kOk;
}

} // namespace cli
