/// `tracec inspect FILE`: what is in a .trc file, as text or JSON.
#pragma once

#include <string>

namespace CLI {
class App;
}
namespace tracert {
struct LoadedFile;
}

namespace cli {

struct InspectOptions {
  std::string file;
  bool signature = false;
  bool ops = false;
  bool constants = false;
  bool kernels = false;
  bool vectors = false;
  bool locs = false;
  bool sizes = false;
  bool segments = false;
  bool all = false;
  bool isJson = false;
};

CLI::App *addInspectVerb(CLI::App &app, InspectOptions &options);
int inspectVerb(const InspectOptions &options);

/// What the options choose, to standard output.
void inspectText(const tracert::LoadedFile &file, const InspectOptions &options);
void inspectJson(const tracert::LoadedFile &file, const InspectOptions &options);

} // namespace cli
