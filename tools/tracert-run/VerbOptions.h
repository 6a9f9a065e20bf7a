/// The verbs run, verify and bench as CLI11 subcommands, for tracert-run and tracec.
///
///   CLI::App *run = addRunVerb(app, options); ... app.parse(hyphenated(argc, argv));
///   return runParsed("tracec", [&] { return runVerb(options); });
#pragma once

#include "Session.h"

#include <CLI/CLI.hpp>

#include <functional>

namespace cli {

/// The arguments in the order CLI11 wants; --input_name is an alias of --input-name.
std::vector<std::string> hyphenated(int argc, char **argv);

CLI::App *addRunVerb(CLI::App &app, Options &options);
CLI::App *addVerifyVerb(CLI::App &app, Options &options);
CLI::App *addBenchVerb(CLI::App &app, Options &options);

/// Prints `tool: error CODE: message` on one line of stderr.
int failWith(const std::string &tool, const char *code, const std::string &message, int exitCode);
/// Parses; the exit code when the program should end, else -1.
int parseArguments(CLI::App &app, const std::string &tool, int argc, char **argv);
/// Runs a verb and turns what it throws into a line and an exit code.
int runParsed(const std::string &tool, const std::function<int()> &verb);

} // namespace cli
