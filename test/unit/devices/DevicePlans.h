/// DevicePlans: programs whose section is for the fake device, and runs that say what they copied.
///
///   RegisteredFake fake; DeviceRunner runner(fake, maskedSumProgram(kFakeTarget));
///   Result<Tensors> got = runner.run({x, m});  runner.last.copiesIn ...
#pragma once

#include "FakeDevice.h"

#include "../runtime/LaunchPrograms.h"
#include "tracert/HostCopies.h"

namespace tracert::test {

inline FakeDevice::Counts operator-(const FakeDevice::Counts &a, const FakeDevice::Counts &b) {
  return {a.copiesIn - b.copiesIn, a.copiesOut - b.copiesOut, a.copiesWithin - b.copiesWithin,
          a.launches - b.launches, a.loads - b.loads};
}

/// The values of a tensor on the device.
inline HostTensor fetch(FakeDevice &device, const TensorView &view) {
  HostCopies copies(device, processAllocator());
  Result<CopiedTensor> brought = copies.bring(view);
  EXPECT_TRUE(brought.ok()) << brought.status().message();
  return brought.ok() ? copyOf(brought->view) : HostTensor();
}

class DeviceRunner {
public:
  DeviceRunner(RegisteredFake &fake, std::shared_ptr<const Program> program,
               ExecutorOptions options = {})
      : device(*fake) {
    options.device = &device;
    executor = executorOf(std::move(program), options);
  }

  Result<Tensors> run(const std::vector<TensorView> &inputs) {
    FakeDevice::Counts before = device.counts();
    Executor::Stats statsBefore = executor->stats();
    std::vector<OwnedTensor> outputs;
    Status status = executor->run(inputs, outputs);
    last = device.counts() - before;
    // No copy that the executor does not tell of.
    Executor::Stats stats = executor->stats();
    EXPECT_EQ(stats.copiesIn - statsBefore.copiesIn, last.copiesIn);
    EXPECT_EQ(stats.copiesOut - statsBefore.copiesOut, last.copiesOut);
    EXPECT_EQ(stats.copiesWithin - statsBefore.copiesWithin, last.copiesWithin);
    libraryKernels = stats.libraryKernelsRun - statsBefore.libraryKernelsRun;
    TRACERT_TRY(status);
    Tensors results;
    for (const OwnedTensor &output : outputs) {
      EXPECT_EQ(&output.buffer->space(), &device.space());
      EXPECT_TRUE(output.view.isContiguous());
      results.push_back(fetch(device, output.view));
    }
    return results;
  }
  Result<Tensors> run(const Tensors &inputs) {
    std::vector<TensorView> views;
    for (const HostTensor &input : inputs) {
      views.push_back(input.view());
    }
    return run(views);
  }

  FakeDevice &device;
  std::unique_ptr<Executor> executor;
  /// Of the last run.
  FakeDevice::Counts last;
  uint64_t libraryKernels = 0;
};

/// sum = x + y, any rank-2 strides; scaled = sum + (1, 2, ...) of the last axis, which has size 3.
std::shared_ptr<const Program> chainProgram();
/// t = x + x without a kernel; t[1:] = y + y.
std::shared_ptr<const Program> setProgram();
/// y = x[begin:] + x[begin:], begin an int64 of rank 0.
std::shared_ptr<const Program> sliceProgram();
/// counter = counter + step, state that starts as (100, 100, 100); old = counter as it was.
std::shared_ptr<const Program> counterProgram();

} // namespace tracert::test
