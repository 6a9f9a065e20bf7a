// Traced functions and tensors on a device: refused, and never read by the host.

#include "../devices/FakeDevice.h"
#include "../eager/TestTransforms.h"
#include "tracec/Devices.h"
#include "tracec/Trace.h"

using namespace tracec;
using namespace tracec::test;
using tracert::OpKind;
using tracert::test::RegisteredFake;

namespace {

Result<Tensor> call(const std::shared_ptr<TracedFunction> &function, Tensor argument,
                    const Tensor &added) {
  CallArguments arguments;
  arguments.tensors = {std::move(argument)};
  arguments.names = {"x"};
  arguments.structure = "x=tensor";
  CallScope scope(function);
  TRACERT_TRY(scope.begin(arguments));
  TRACERT_ASSIGN(Value y, added.read());
  TRACERT_ASSIGN(Value result, binary(OpKind::add, y, y));
  Tensor returned = Tensor::fromValue(std::move(result));
  TRACERT_TRY(scope.finish({&returned, 1}));
  return returned;
}

std::shared_ptr<TracedFunction> makeFunction() {
  TraceOptions options;
  options.name = "f";
  return TracedFunction::create(options);
}

TEST(TracesAndDevices, AnArgumentOnADeviceIsRefused) {
  RegisteredFake fake;
  auto function = makeFunction();
  Tensor host = Tensor::fromValue(vectorOf({1, 2}));
  Tensor there = Tensor::fromValue(take(toDevice(vectorOf({1, 2}), *fake)));
  Status status = call(function, there, host).status();
  EXPECT_EQ(status.code(), tracert::StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "a traced function takes tensors of the host, got 'x' on fake0; copy "
                              "it with toHost() before the call");
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(elementsOf(take(call(function, host, host))), (std::vector<float>{2, 4}));
  }
}

TEST(TracesAndDevices, ACapturedTensorOnADeviceIsRefusedWhenReplayed) {
  RegisteredFake fake;
  auto function = makeFunction();
  Tensor host = Tensor::fromValue(vectorOf({1, 2}));
  Tensor there = Tensor::fromValue(take(toDevice(vectorOf({3, 4}), *fake)));
  Tensor recorded = take(call(function, host, there));
  EXPECT_EQ(elementsOf(recorded), (std::vector<float>{6, 8}));
  Result<Tensor> replayed = call(function, host, there);
  Status status = replayed.status();
  if (replayed.ok()) {
    status = replayed->readForHost().status();
  }
  EXPECT_NE(status.message().find("lies on fake0, the executor runs on cpu0"), std::string::npos)
      << status.message();
}

} // namespace
