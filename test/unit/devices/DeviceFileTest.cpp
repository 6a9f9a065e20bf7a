// Files with a section for a device: used where there is one, skipped where there is none.
#include "DevicePlans.h"

using namespace tracert;
using namespace tracert::test;

namespace {

/// chainProgram with a test vector.
std::string chainFile() {
  auto program = std::make_shared<Program>(*chainProgram());
  Tensors tensors{iota(DType::Float32, {4, 3}), iota(DType::Float32, {4, 3}, 7)};
  TestVector vector;
  vector.origin = "user";
  auto keep = [&](const HostTensor &from) {
    auto held = std::make_shared<HostTensor>(from);
    program->owners.push_back(held);
    return TestTensor{held->type, held->bytes.data()};
  };
  for (const HostTensor &input : tensors) {
    vector.inputs.push_back(keep(input));
  }
  vector.outputs.push_back(keep((*reference(*program, tensors))[0]));
  program->testVectors.push_back(std::move(vector));
  Result<std::string> bytes = serializeProgram(*program, {});
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? *bytes : "";
}

Result<std::shared_ptr<const Program>> load(const std::string &bytes) {
  return loadProgram(std::span(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()),
                     nullptr, {.verifyAll = true});
}

std::vector<TensorView> vectorInputs(const Program &program) {
  std::vector<TensorView> views;
  for (const TestTensor &input : program.testVectors[0].inputs) {
    views.push_back(TensorView::contiguous(const_cast<void *>(input.data), input.type));
  }
  return views;
}

HostTensor vectorOutput(const Program &program) {
  const TestTensor &output = program.testVectors[0].outputs[0];
  return rawTensor(output.type.dtype, output.type.shape, output.data);
}

TEST(DeviceFile, TestVectorsRunOnTheDevice) {
  std::string bytes = chainFile();
  RegisteredFake fake;
  auto loaded = load(bytes);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_EQ((*loaded)->sections.size(), 1u);
  EXPECT_EQ((*loaded)->sections[0].target, kFakeTarget);
  DeviceRunner runner(fake, *loaded, {.section = {SectionChoice::Native, kFakeTarget}});
  Result<Tensors> got = runner.run(vectorInputs(**loaded));
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ((*got)[0], vectorOutput(**loaded));
  EXPECT_EQ(runner.last.launches, 2u);
  EXPECT_EQ(runner.libraryKernels, 0u);
  // What was loaded is written again.
  Result<std::string> again = serializeProgram(**loaded, {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, bytes);
}

TEST(DeviceFile, WithoutTheDeviceItIsPortableWithTheSameBits) {
  std::string bytes = chainFile();
  ASSERT_FALSE(hasDevices());
  auto loaded = load(bytes);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_TRUE((*loaded)->sections.empty());
  std::unique_ptr<Executor> executor = executorOf(*loaded);
  std::vector<OwnedTensor> outputs;
  ASSERT_TRUE(executor->run(vectorInputs(**loaded), outputs).ok());
  EXPECT_EQ(copyOf(outputs[0].view), vectorOutput(**loaded));
  EXPECT_EQ(executor->stats().section, kPortable);
}

TEST(DeviceFile, DamagedCodeNeverReachesALaunch) {
  std::string bytes = chainFile();
  RegisteredFake fake;
  auto loaded = load(bytes);
  ASSERT_TRUE(loaded.ok());
  auto changed = std::make_shared<Program>(**loaded);
  changed->sections[0].code.back() ^= 1;
  auto executor = Executor::create(changed, {.device = &*fake});
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.status().code(), StatusCode::CorruptFile);
  EXPECT_EQ(executor.status().message(), "the native code is damaged (content hash)");
  EXPECT_EQ(fake->counts().launches, 0u);
  EXPECT_EQ(fake->allocator().usage().bytesInUse, 0u);
}

} // namespace
