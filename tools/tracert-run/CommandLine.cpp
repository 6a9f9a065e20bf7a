#include "CommandLine.h"

#include "Text.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <sstream>

namespace cli {
namespace {

bool isLongFlag(const std::string &text) { return text.rfind("--", 0) == 0 && text.size() > 2; }

bool isNegativeNumber(const std::string &text) {
  return text.size() > 1 && text[0] == '-' &&
         std::string("0123456789.in").find(text[1]) != std::string::npos;
}

/// --input_name is an alias of --input-name; a negative number after a flag is its value.
std::vector<std::string> readArguments(int argc, char **argv) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    bool isValue = !arguments.empty() && isLongFlag(arguments.back()) &&
                   arguments.back().find('=') == std::string::npos && isNegativeNumber(text);
    if (isValue) {
      arguments.back() += "=" + text;
      continue;
    }
    if (isLongFlag(text)) {
      size_t end = std::min(text.find('='), text.size());
      std::replace(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
    }
    arguments.push_back(std::move(text));
  }
  return arguments;
}

/// Edits that turn one name into the other.
size_t distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row[b.size()];
}

std::vector<std::string> verbNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *verb : app.get_subcommands([](const CLI::App *) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

/// The first argument that is no flag is the verb: the tools have no other top-level arguments.
void checkVerb(const CLI::App &app, const std::vector<std::string> &arguments) {
  std::vector<std::string> known = verbNames(app);
  for (const std::string &argument : arguments) {
    if (argument == "--help" || argument == "-h" || argument == "--version") {
      return;
    }
    if (argument.empty() || argument[0] != '-') {
      if (std::find(known.begin(), known.end(), argument) == known.end()) {
        throw UserError(unknownName("verb", argument, known));
      }
      return;
    }
  }
  throw UserError("no verb is given; verbs: " + joined(known));
}

/// A better message than CLI11's for a flag that no verb has; `what` is CLI11's.
std::string flagMessage(const CLI::App &app, const std::vector<std::string> &arguments,
                        const std::string &what) {
  const std::vector<CLI::App *> parsed = app.get_subcommands();
  const CLI::App &verb = parsed.empty() ? app : *parsed.front();
  std::vector<std::string> known;
  for (const CLI::Option *option : verb.get_options()) {
    for (const std::string &name : option->get_lnames()) {
      known.push_back("--" + name);
    }
  }
  for (const std::string &argument : arguments) {
    std::string flag = argument.substr(0, argument.find('='));
    if (isLongFlag(flag) && std::find(known.begin(), known.end(), flag) == known.end()) {
      return unknownName("flag", flag, known);
    }
  }
  return what;
}

/// The exit code when the program should end, else -1.
int parse(CLI::App &app, const std::string &tool, const std::vector<std::string> &arguments) {
  std::string help = "; see " + tool + " --help";
  try {
    checkVerb(app, arguments);
    const std::vector<CLI::App *> verbs = app.get_subcommands([](CLI::App *) { return true; });
    for (const CLI::App *verb : verbs) {
      if (!arguments.empty() && arguments[0] == verb->get_name()) {
        help = "; see " + tool + " " + verb->get_name() + " --help";
      }
    }
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ExtrasError &error) {
    return failWith(tool, "USAGE", flagMessage(app, arguments, error.what()) + help, kUserError);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() != 0) {
      return failWith(tool, "USAGE", error.what() + help, kUserError);
    }
    std::ostringstream text;
    app.exit(error, text, text);
    printRaw(text.str());
    return kOk;
  } catch (const std::exception &error) {
    return failWith(tool, "USAGE", error.what() + help, kUserError);
  }
  return -1;
}

int runParsed(const std::string &tool, const std::function<int()> &verb) {
  try {
    return verb();
  } catch (const OutputError &) {
    throw;
  } catch (const LibraryError &error) {
    return failWith(tool, trt_status_name(error.status), error.what(), exitCodeOf(error.status));
  } catch (const std::bad_alloc &) {
    return failWith(tool, trt_status_name(TRT_OUT_OF_MEMORY), "no memory for this", kUserError);
  } catch (const std::exception &error) {
    return failWith(tool, "INPUT", error.what(), kUserError);
  }
}

} // namespace

std::string nearestName(const std::string &name, const std::vector<std::string> &known) {
  std::string nearest;
  size_t least = name.size() / 3 + 2;
  for (const std::string &candidate : known) {
    size_t edits = distance(name, candidate);
    if (edits < least) {
      least = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string unknownName(const std::string &what, const std::string &name,
                        const std::vector<std::string> &known) {
  std::string nearest = nearestName(name, known);
  std::string text = "unknown " + what + " '" + name + "'";
  text += nearest.empty() ? "; " : "; did you mean '" + nearest + "'? ";
  return text + (known.empty() ? "there are none" : "known: " + joined(known));
}

int failWith(const std::string &tool, const std::string &code, const std::string &message,
             int exitCode) {
  std::fprintf(stderr, "%s: error %s: %s\n", tool.c_str(), code.c_str(),
               printable(message).c_str());
  return exitCode;
}

int runTool(CLI::App &app, const std::string &tool, int argc, char **argv,
            const std::function<int()> &verb) {
  app.name(tool);
  app.footer("Exit codes: 0 ok, 1 user error, 2 a result differs, 3 damaged file, 4 unsupported "
             "here.\n" +
             tool + " VERB --help shows a verb's flags.");
  app.require_subcommand(1);
  std::vector<std::string> arguments = readArguments(argc, argv);
  try {
    int exitCode = parse(app, tool, arguments);
    if (exitCode < 0) {
      exitCode = runParsed(tool, verb);
    }
    closeOutput();
    return exitCode;
  } catch (const OutputError &error) {
    return failWith(tool, "OUTPUT", error.what(), kUserError);
  }
}

} // namespace cli
