// Files of every released format version, and what the fuzzer found: read, run, refused, as they
// are.
#include "FileKit.h"

#include "tracert/Limits.h"
#include "tracert/Target.h"
#include "tracert/tracert.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>

using namespace tracert;
using namespace tracert::test;

namespace {

std::vector<std::filesystem::path> filesIn(const std::string &folder) {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string()[0] != '.') {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class GoldenFile : public testing::TestWithParam<std::filesystem::path> {
protected:
  /// Every output of every test vector, bit for bit.
  void verify(trt_section section) {
    trt::Model model = trt::Model::load(GetParam().string(), TRT_VERIFY_ALL).value();
    EXPECT_GT(trt_model_vector_count(model.get()), 0);
    trt::Expected<trt::Session> session = trt::Session::create(model, section);
    ASSERT_TRUE(session.ok()) << session.error().message;
    int outputs = 0;
    auto count = [](const trt_comparison *comparison, void *user) {
      EXPECT_EQ(comparison->mismatch_count, 0) << comparison->name;
      ++*static_cast<int *>(user);
    };
    EXPECT_EQ(trt_session_verify(session.value().get(), nullptr, count, &outputs), TRT_OK)
        << trt_last_error();
    EXPECT_EQ(outputs, trt_model_vector_count(model.get()) * model.outputCount());
  }
};

TEST_P(GoldenFile, PortableSectionGivesTheVectors) { verify(TRT_SECTION_PORTABLE); }

TEST_P(GoldenFile, V3SectionGivesTheVectors) {
  if (!supports(kX86V3)) {
    GTEST_SKIP() << "this processor cannot run x86-64-v3";
  }
  verify(TRT_SECTION_X86_64_V3);
}

TEST_P(GoldenFile, V4SectionGivesTheVectors) {
  if (!supports(kX86V4)) {
    GTEST_SKIP() << "this processor cannot run x86-64-v4";
  }
  verify(TRT_SECTION_X86_64_V4);
}

auto nameOf = [](const testing::TestParamInfo<std::filesystem::path> &info) {
  std::string name = info.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
};

INSTANTIATE_TEST_SUITE_P(Files, GoldenFile, testing::ValuesIn(filesIn(TRACEC_GOLDEN_FOLDER)),
                         nameOf);

/// What the fuzzer's corpus and its finds do today: an answer, soon, within the limits.
class FuzzFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(FuzzFile, IsReadOrRefused) {
  auto start = std::chrono::steady_clock::now();
  trt::Expected<trt::Model> model = trt::Model::load(
      GetParam().string(), TRT_LOAD_COPY | TRT_PORTABLE_ONLY, kUntrustedLoadMemory);
  if (model.ok()) {
    trt::Session session =
        trt::Session::create(model.value(), {.memoryLimit = 64 << 20, .timeLimitMs = 200}).value();
    std::vector<std::vector<uint64_t>> memory;
    for (int32_t i = 0; i < model.value().inputCount(); ++i) {
      trt_tensor_info info = model.value().input(i);
      trt::Tensor tensor{info.dtype, {}, {}, nullptr};
      int64_t bytes = static_cast<int64_t>(trt_dtype_size(info.dtype));
      for (int32_t axis = 0; axis < info.rank; ++axis) {
        tensor.shape.push_back(info.dims[axis].size < 0 ? 3 : info.dims[axis].size);
        bytes *= std::max<int64_t>(tensor.shape.back(), 1);
        if (bytes > 1 << 20) {
          return;
        }
      }
      memory.emplace_back(static_cast<size_t>(bytes) / 8 + 1, 0);
      tensor.data = memory.back().data();
      (void)session.setInput(i, tensor);
    }
    (void)session.run();
    (void)session.run();
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 10.0);
}

INSTANTIATE_TEST_SUITE_P(Files, FuzzFile, testing::ValuesIn(filesIn(TRACEC_FUZZ_CORPUS)), nameOf);

} // namespace
