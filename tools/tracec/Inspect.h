/// `tracec inspect FILE`: what is in a .trc file, as text or JSON.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace cli {

struct InspectOptions {
  std::string file;
  bool signature = false;
  bool ops = false;
  bool kernels = false;
  bool locs = false;
  bool sizes = false;
  bool segments = false;
  bool isJson = false;
};

CLI::App *addInspectVerb(CLI::App &app, InspectOptions &options);
int inspectVerb(const InspectOptions &options);

} // namespace cli
