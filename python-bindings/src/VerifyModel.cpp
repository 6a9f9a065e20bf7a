#include "VerifyModel.h"

#include "tracec/InterpreterLock.h"
#include "tracert/Element.h"

#include <cstring>

namespace tracec::python {

using tracert::Executor;
using tracert::ExecutorOptions;
using tracert::OwnedTensor;
using tracert::Program;
using tracert::SectionChoice;

Result<std::unique_ptr<Executor>> makeExecutor(std::shared_ptr<const Program> program,
                                               const ExecutorOptions &options) {
  WithoutInterpreter pause;
  return Executor::create(std::move(program), options);
}

namespace {

/// Elements that differ in bits and are not both NaN, and the first of them; outputs are
/// contiguous.
std::pair<int64_t, int64_t> findDifferences(const TensorView &got,
                                            const tracert::TestTensor &expected) {
  size_t size = tracert::dtypeSize(got.dtype);
  const char *a = static_cast<const char *>(got.data);
  const char *b = static_cast<const char *>(expected.data);
  int64_t differences = 0;
  int64_t first = -1;
  for (int64_t i = 0; i < got.elementCount(); ++i, a += size, b += size) {
    if (std::memcmp(a, b, size) != 0 &&
        !(tracert::isNaNAt(a, got.dtype) && tracert::isNaNAt(b, got.dtype))) {
      first = differences++ == 0 ? i : first;
    }
  }
  return {differences, first};
}

/// Runs one vector.
Status verifyVector(const Program &program, Executor &executor, const tracert::TestVector &vector) {
  std::vector<TensorView> inputs;
  for (const tracert::TestTensor &input : vector.inputs) {
    inputs.push_back(TensorView::contiguous(const_cast<void *>(input.data), input.type));
  }
  std::vector<OwnedTensor> outputs;
  TRACERT_TRY(executor.run(inputs, outputs));
  for (size_t i = 0; i < vector.outputs.size() && i < outputs.size(); ++i) {
    const std::string &name = program.outputs[i].name;
    const tracert::TestTensor &expected = vector.outputs[i];
    if (!(outputs[i].view.type() == expected.type)) {
      return Status::invalidArgument("output '" + name + "' is " + outputs[i].view.type().str() +
                                     " instead of " + expected.type.str());
    }
    auto [count, first] = findDifferences(outputs[i].view, expected);
    if (count > 0) {
      return Status::invalidArgument("output '" + name + "' differs in " + std::to_string(count) +
                                     " of " + std::to_string(expected.type.elementCount()) +
                                     " elements, first in element " + std::to_string(first));
    }
  }
  return Status();
}

} // namespace

Status verifySection(const std::shared_ptr<const Program> &program, SectionChoice section,
                     tracert::RunControl &control, const RunLimits &limits) {
  ExecutorOptions options;
  options.section = section;
  options.memoryLimit = limits.memoryBytes;
  // Without vectors the section must still be one that can be made ready to run.
  TRACERT_TRY(makeExecutor(program, options).status());
  for (const tracert::TestVector &vector : program->testVectors) {
    // A new executor each: session state starts from the file.
    TRACERT_ASSIGN(std::unique_ptr<Executor> executor, makeExecutor(program, options));
    tracert::RunScope scope(control, limits.timeMs);
    Status status = verifyVector(*program, *executor, vector);
    if (!status.ok()) {
      return status.withMessage("test vector '" + vector.origin + "': " + status.message());
    }
  }
  return Status();
}

} // namespace tracec::python
