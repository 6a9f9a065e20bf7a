/// KernelHarness: text of a kernel.func in, a callable out.
///
///   RunnableKernel kernel(text, tracert::kX86V4);
///   KernelCall call{.domain = {n}}; call.add(x.at(), {4}); call.add(out.at(), {4});
///   ASSERT_EQ(kernel.run(call), kKernelOk);
#pragma once

#include "References.h"

#include "tracert/KernelAbi.h"
#include "tracert/Kernels.h"

namespace tracec::test {

using tracert::Target;

struct KernelCall {
  std::vector<int64_t> domain = {};
  std::vector<void *> pointers = {};
  std::vector<int64_t> strides = {};
  std::vector<int64_t> gathers = {};
  int64_t begin = 0, end = 0;
  /// Out.
  int64_t count = 0, errorPosition = 0, errorAccess = 0;

  void add(void *data, std::vector<int64_t> bytesPerAxis) {
    EXPECT_EQ(bytesPerAxis.size(), domain.size());
    pointers.push_back(data);
    strides.insert(strides.end(), bytesPerAxis.begin(), bytesPerAxis.end());
  }
};

class RunnableKernel {
public:
  RunnableKernel(const std::string &text, Target target);
  ~RunnableKernel();
  RunnableKernel(const RunnableKernel &) = delete;
  int32_t run(KernelCall &call);

private:
  void *memory = nullptr;
  size_t mappedBytes = 0;
  uint64_t entry = 0;
};

/// The levels this machine can run; every test runs at each.
class AtEachTarget : public testing::TestWithParam<Target> {
protected:
  void SetUp() override {
    if (GetParam() == tracert::kX86V4 && !__builtin_cpu_supports("avx512bw")) {
      GTEST_SKIP() << "this processor has no AVX-512";
    }
  }
};
#define TRACEC_AT_EACH_ISA(suite)                                                                  \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::Values(tracert::kX86V3, tracert::kX86V4),             \
                           [](const testing::TestParamInfo<tracert::Target> &info) {               \
                             return info.param == tracert::kX86V3 ? "V3" : "Avx512";               \
                           })

} // namespace tracec::test
