#include "Compile.h"

#include "tracec/Compiler.h"
#include "tracert/Executor.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace cli {

using tracert::Isa;

namespace {

constexpr Isa kIsas[] = {Isa::Portable, Isa::V3, Isa::Avx512};

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw UserError("cannot read '" + path + "'");
  }
  return text.str();
}

void writeText(const std::string &path, const std::string &text) {
  if (path.empty() || path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  std::ofstream file(path, std::ios::binary);
  if (!(file << text) || !file.flush()) {
    throw UserError("cannot write '" + path + "'");
  }
}

/// cpu: the best level of this machine. cpu:portable adds no section.
std::vector<Isa> isasOf(const std::vector<std::string> &targets) {
  std::vector<Isa> isas;
  auto add = [&](Isa isa) {
    if (isa != Isa::Portable && std::find(isas.begin(), isas.end(), isa) == isas.end()) {
      isas.push_back(isa);
    }
  };
  for (const std::string &target : targets.empty() ? std::vector<std::string>{"cpu"} : targets) {
    if (target == "cpu") {
      add(tracert::bestIsa());
      continue;
    }
    if (target.rfind("nvptx", 0) == 0) {
      throw LibraryError(TRT_UNSUPPORTED, "target '" + target + "' is not built into this version");
    }
    bool isKnown = false;
    for (Isa isa : kIsas) {
      if (target == "cpu:" + std::string(tracert::isaName(isa))) {
        add(isa);
        isKnown = true;
      }
    }
    if (!isKnown) {
      throw UserError("unknown target '" + target + "', see --list-targets");
    }
  }
  return isas;
}

int listTargets() {
  std::printf("cpu\n");
  for (Isa isa : kIsas) {
    std::printf("cpu:%s%s\n", std::string(tracert::isaName(isa)).c_str(),
                tracert::isaSupported(isa) ? "" : "  (this machine cannot run it)");
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
    throw UserError(status.message());
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
  verb->add_option("-O", options.optLevel, "0: one kernel per op; 2: default")
      ->check(CLI::Range(0, 2));
  verb->add_option("--compile-to", options.compileTo,
                   "print this stage instead: trace, canonical, fused, kernel, vector, llvm, asm");
  verb->add_option("--emit", options.emit, "also write these stages beside the output")
      ->delimiter(',');
  verb->add_option("--strip", options.strip, "leave out: locs")
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
  tracec::CompileOptions compile;
  compile.targets = isasOf(options.targets);
  compile.optLevel = options.optLevel;
  compile.timing = options.timing;
  std::string text = readFile(options.input == "-" ? "/dev/stdin" : options.input);
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
