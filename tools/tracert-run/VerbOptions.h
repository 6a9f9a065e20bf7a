/// The verbs run, verify and bench as CLI11 subcommands, for tracert-run and tracec.
///
///   CLI::App *run = addRunVerb(app, options); ...
///   return runTool(app, "tracec", argc, argv, [&] { return runVerb(options); });
#pragma once

#include "Session.h"

#include <CLI/CLI.hpp>

namespace cli {

CLI::App *addRunVerb(CLI::App &app, Options &options);
CLI::App *addVerifyVerb(CLI::App &app, Options &options);
CLI::App *addBenchVerb(CLI::App &app, Options &options);

} // namespace cli
