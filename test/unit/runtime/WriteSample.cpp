// Writes the sample program (write-sample FILE), or one with a wrong test vector
// (write-sample --wrong FILE).
#include "ProgramKit.h"

#include <cstdio>

int main(int argc, char **argv) {
  bool isWrong = argc == 3 && std::string(argv[1]) == "--wrong";
  if (argc != (isWrong ? 3 : 2)) {
    std::fprintf(stderr, "usage: write-sample [--wrong] FILE\n");
    return 1;
  }
  tracert::Program program = *tracert::test::sampleProgram();
  if (isWrong) {
    auto *values = const_cast<void *>(program.testVectors[0].outputs[0].data);
    static_cast<float *>(values)[0] += 1;
  }
  tracert::Status status = tracert::writeProgram(program, argv[argc - 1], {});
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
  }
  return status.ok() ? 0 : 1;
}
