/// From argv to an exit code: parsing, messages on one line, and whether standard output was
/// written.
///
///   CLI::App app("runs .trc files"); addRunVerb(app, options); ...
///   return runTool(app, "tracert-run", argc, argv, [&] { return runVerb(options); });
#pragma once

#include "Session.h"

#include <CLI/CLI.hpp>

#include <functional>

namespace cli {

/// Parses, runs `verb`, turns what it throws into a line and an exit code. Fails also when the
/// output cannot be written.
int runTool(CLI::App &app, const std::string &tool, int argc, char **argv,
            const std::function<int()> &verb);

/// Prints `tool: error CODE: message` on one line of stderr.
int failWith(const std::string &tool, const std::string &code, const std::string &message,
             int exitCode);

/// The nearest of `known`, or "" when none is near.
std::string nearestName(const std::string &name, const std::vector<std::string> &known);
/// "unknown WHAT 'name'; did you mean 'x'? known: x, y".
std::string unknownName(const std::string &what, const std::string &name,
                        const std::vector<std::string> &known);

} // namespace cli
