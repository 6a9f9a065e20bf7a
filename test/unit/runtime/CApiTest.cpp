#include "ProgramKit.h"

#include "tracert/tracert.hpp"

#include <cmath>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

using namespace tracert;
using namespace tracert::test;

namespace {

/// The sample in aligned memory, as a model.
class CApi : public testing::Test {
protected:
  void SetUp() override {
    Result<std::string> written = serializeProgram(*sampleProgram(), {});
    ASSERT_TRUE(written.ok());
    bytes = *written;
    ASSERT_EQ(trt_model_load_memory(bytes.data(), bytes.size(), nullptr, &model), TRT_OK)
        << trt_last_error();
    ASSERT_EQ(trt_session_create(model, nullptr, &session), TRT_OK) << trt_last_error();
  }
  void TearDown() override {
    trt_session_destroy(session);
    trt_model_release(model);
  }

  trt_tensor inputTensor() {
    trt_tensor tensor{};
    tensor.struct_size = sizeof tensor;
    tensor.dtype = TRT_FLOAT32;
    tensor.rank = 2;
    tensor.shape = shape;
    tensor.data = inputs[0].bytes.data();
    return tensor;
  }
  HostTensor outputTensor(int32_t index) {
    trt_tensor tensor{};
    tensor.struct_size = sizeof tensor;
    EXPECT_EQ(trt_session_output(session, index, &tensor), TRT_OK) << trt_last_error();
    return rawTensor(static_cast<DType>(tensor.dtype),
                     Dims(tensor.shape, tensor.shape + tensor.rank), tensor.data);
  }

  std::string bytes;
  trt_model *model = nullptr;
  trt_session *session = nullptr;
  Tensors inputs = sampleInputs();
  int64_t shape[2] = {5, 4};
};

TEST_F(CApi, DescribesTheSignature) {
  EXPECT_EQ(trt_model_input_count(model), 1);
  EXPECT_EQ(trt_model_output_count(model), 3);
  trt_tensor_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(trt_model_input(model, 0, &info), TRT_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.dtype, TRT_FLOAT32);
  ASSERT_EQ(info.rank, 2);
  EXPECT_EQ(info.dims[0].size, -1);
  EXPECT_STREQ(info.dims[0].symbol, "n");
  EXPECT_EQ(info.dims[0].max, INT64_MAX);
  EXPECT_EQ(info.dims[1].size, 4);
  EXPECT_EQ(info.dims[1].symbol, nullptr);
  ASSERT_EQ(trt_model_output(model, 2, &info), TRT_OK);
  EXPECT_STREQ(info.name, "selected");
  EXPECT_EQ(info.dims[0].size, -1);
  EXPECT_EQ(trt_model_find_output(model, "total"), 1);
  EXPECT_EQ(trt_model_find_output(model, "nothing"), -1);
  EXPECT_STREQ(trt_model_user_info(model), "{\"name\": \"sample\"}");
  EXPECT_EQ(trt_model_input(model, 1, &info), TRT_INVALID_ARGUMENT);
  EXPECT_STREQ(trt_last_error(), "input 1 is out of range, the model has 1");
  EXPECT_EQ(trt_model_vector_count(model), 1);
}

TEST_F(CApi, OlderCallersGetOnlyTheFieldsTheyKnow) {
  // As it was before launches_run was added.
  trt_session_stats stats{};
  stats.struct_size = offsetof(trt_session_stats, launches_run);
  stats.launches_run = 77;
  ASSERT_EQ(trt_session_get_stats(session, &stats), TRT_OK);
  EXPECT_GT(stats.weight_bytes, 0u);
  EXPECT_EQ(stats.launches_run, 77u);
}

TEST_F(CApi, RunsByIndexAndByName) {
  trt_tensor x = inputTensor();
  ASSERT_EQ(trt_session_set_input_by_name(session, "x", &x), TRT_OK);
  ASSERT_EQ(trt_session_run(session), TRT_OK) << trt_last_error();
  Tensors expected = run(sampleProgram(), inputs);
  for (int32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(outputTensor(i), expected[static_cast<size_t>(i)]);
  }
  EXPECT_STREQ(trt_session_section(session), "portable");
  trt_session_stats stats{};
  stats.struct_size = sizeof stats;
  ASSERT_EQ(trt_session_get_stats(session, &stats), TRT_OK);
  EXPECT_EQ(stats.runs, 1u);
  EXPECT_EQ(stats.weight_bytes, 4 * 4 + 3 * 8 + 4 + 4u);
  EXPECT_GT(stats.output_bytes, 0u);
}

TEST_F(CApi, TakesStridesAndMisalignedData) {
  Tensors expected = run(sampleProgram(), inputs);
  std::vector<unsigned char> memory(5 * 4 * 4 * 2 + 1);
  // Every second element of a row, at an odd address.
  for (int i = 0; i < 20; ++i) {
    std::memcpy(memory.data() + 1 + i * 8, inputs[0].bytes.data() + i * 4, 4);
  }
  int64_t strides[] = {32, 8};
  trt_tensor x = inputTensor();
  x.strides = strides;
  x.data = memory.data() + 1;
  ASSERT_EQ(trt_session_set_input(session, 0, &x), TRT_OK);
  ASSERT_EQ(trt_session_run(session), TRT_OK) << trt_last_error();
  EXPECT_EQ(outputTensor(0), expected[0]);
}

TEST_F(CApi, CopiesToPlacesOnlyOnSuccess) {
  trt_tensor x = inputTensor();
  ASSERT_EQ(trt_session_set_input(session, 0, &x), TRT_OK);
  std::vector<float> place(12, -1.0f);
  int64_t placeShape[] = {3, 4};
  trt_tensor y = x;
  y.shape = placeShape;
  y.data = place.data();
  ASSERT_EQ(trt_session_set_output(session, 0, &y), TRT_OK);
  ASSERT_EQ(trt_session_run(session), TRT_OK) << trt_last_error();
  EXPECT_EQ(place, run(sampleProgram(), inputs)[0].values<float>());
  // One row only: index 1 of the table is out of range.
  std::fill(place.begin(), place.end(), -1.0f);
  int64_t oneRow[] = {1, 4};
  x.shape = oneRow;
  ASSERT_EQ(trt_session_set_input(session, 0, &x), TRT_OK);
  EXPECT_EQ(trt_session_run(session), TRT_INDEX_OUT_OF_RANGE);
  EXPECT_STREQ(trt_last_error(), "index 1 is out of range for axis 0 of size 1 (op #1 "
                                 "'indexing_multi_axis_vec' at model.py:11)");
  EXPECT_EQ(place, std::vector<float>(12, -1.0f));
  trt_tensor none{};
  none.struct_size = sizeof none;
  EXPECT_EQ(trt_session_output(session, 3, &none), TRT_INVALID_ARGUMENT);
  // Of the run that succeeded.
  EXPECT_EQ(outputTensor(0), run(sampleProgram(), inputs)[0]);
}

TEST_F(CApi, BadCallsAreStatuses) {
  trt_tensor x = inputTensor();
  EXPECT_EQ(trt_session_run(session), TRT_INVALID_ARGUMENT);
  EXPECT_STREQ(trt_last_error(), "input 'x' is not set");
  EXPECT_EQ(trt_session_set_input(session, 3, &x), TRT_INVALID_ARGUMENT);
  EXPECT_EQ(trt_session_set_input_by_name(session, "z", &x), TRT_INVALID_ARGUMENT);
  EXPECT_STREQ(trt_last_error(), "the model has no input 'z'");
  x.dtype = static_cast<trt_dtype>(99);
  EXPECT_EQ(trt_session_set_input(session, 0, &x), TRT_INVALID_TYPE);
  x = inputTensor();
  x.rank = -1;
  EXPECT_EQ(trt_session_set_input(session, 0, &x), TRT_INVALID_ARGUMENT);
  x = inputTensor();
  x.data = nullptr;
  EXPECT_EQ(trt_session_set_input(session, 0, &x), TRT_INVALID_ARGUMENT);
  x = inputTensor();
  int64_t huge[] = {INT64_MAX, 4};
  x.shape = huge;
  EXPECT_EQ(trt_session_set_input(session, 0, &x), TRT_INVALID_ARGUMENT);
  x = inputTensor();
  int64_t strides[] = {INT64_MAX, 4};
  x.strides = strides;
  EXPECT_EQ(trt_session_set_input(session, 0, &x), TRT_INVALID_ARGUMENT);
  x = inputTensor();
  x.dtype = TRT_INT32;
  ASSERT_EQ(trt_session_set_input(session, 0, &x), TRT_OK);
  EXPECT_EQ(trt_session_run(session), TRT_INVALID_TYPE);
  EXPECT_STREQ(trt_last_error(), "input 'x': must be float32, got int32");
  EXPECT_EQ(trt_session_run(nullptr), TRT_INVALID_ARGUMENT);
  trt_session_destroy(nullptr);
  trt_model_release(nullptr);
  trt_model *none = nullptr;
  EXPECT_EQ(trt_model_load_path("/no/such.trc", nullptr, &none), TRT_IO);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(trt_model_load_memory("garbage!", 8, nullptr, &none), TRT_CORRUPT_FILE);
  EXPECT_EQ(trt_model_load_fd(-1, nullptr, &none), TRT_IO);
  trt_session *noSession = nullptr;
  trt_session_options options{sizeof options, TRT_SECTION_NATIVE, 0};
  EXPECT_EQ(trt_session_create(model, &options, &noSession), TRT_UNSUPPORTED);
  options.section = static_cast<trt_section>(50);
  EXPECT_EQ(trt_session_create(model, &options, &noSession), TRT_INVALID_ARGUMENT);
  EXPECT_STREQ(trt_status_name(TRT_INDEX_OUT_OF_RANGE), "TRT_INDEX_OUT_OF_RANGE");
}

TEST_F(CApi, LoadsFromADescriptor) {
  char path[] = "/tmp/tracert-fd-XXXXXX";
  int fd = ::mkstemp(path);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  trt_model *fromFd = nullptr;
  EXPECT_EQ(trt_model_load_fd(fd, nullptr, &fromFd), TRT_OK) << trt_last_error();
  ::close(fd);
  ::unlink(path);
  EXPECT_EQ(trt_model_output_count(fromFd), 3);
  trt_model_release(fromFd);
}

TEST_F(CApi, SessionsOutliveTheModelHandle) {
  trt_model_release(model);
  model = nullptr;
  trt_tensor x = inputTensor();
  ASSERT_EQ(trt_session_set_input(session, 0, &x), TRT_OK);
  EXPECT_EQ(trt_session_run(session), TRT_OK);
}

TEST_F(CApi, OneModelManyThreads) {
  Tensors expected = run(sampleProgram(), inputs);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      trt_session *own = nullptr;
      trt_session_options options{sizeof options, TRT_SECTION_BEST, 2};
      if (trt_session_create(model, &options, &own) != TRT_OK) {
        return;
      }
      trt_tensor x = inputTensor();
      trt_session_set_input(own, 0, &x);
      for (int i = 0; i < 20; ++i) {
        trt_tensor y{};
        y.struct_size = sizeof y;
        bool ok = trt_session_run(own) == TRT_OK && trt_session_output(own, 0, &y) == TRT_OK &&
                  std::memcmp(y.data, expected[0].bytes.data(), expected[0].bytes.size()) == 0;
        good += ok;
      }
      trt_session_destroy(own);
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(good.load(), 80);
}

struct Collected {
  std::vector<trt_comparison> list;
  static void add(const trt_comparison *comparison, void *user) {
    static_cast<Collected *>(user)->list.push_back(*comparison);
  }
};

TEST_F(CApi, VerifiesTheVectors) {
  Collected collected;
  EXPECT_EQ(trt_session_verify(session, nullptr, Collected::add, &collected), TRT_OK)
      << trt_last_error();
  ASSERT_EQ(collected.list.size(), 3u);
  for (const trt_comparison &comparison : collected.list) {
    EXPECT_EQ(comparison.mismatch_count, 0);
    EXPECT_EQ(comparison.first_bad, -1);
    EXPECT_EQ(comparison.has_same_type, 1);
  }
}

TEST(CApiVerify, ReportsAWrongVector) {
  Program program = *sampleProgram();
  TestVector &vector = program.testVectors[0];
  auto *wrong = const_cast<float *>(static_cast<const float *>(vector.outputs[0].data));
  wrong[5] = std::nextafter(wrong[5], 100.0f);
  Result<std::string> bytes = serializeProgram(program, {});
  ASSERT_TRUE(bytes.ok());
  trt::Model model = trt::Model::load(std::as_bytes(std::span(*bytes))).value();
  trt::Session session = trt::Session::create(model).value();
  Collected collected;
  EXPECT_EQ(trt_session_verify(session.get(), nullptr, Collected::add, &collected), TRT_MISMATCH);
  EXPECT_EQ(collected.list[0].mismatch_count, 1);
  EXPECT_EQ(collected.list[0].first_bad, 5);
  EXPECT_EQ(collected.list[0].max_ulp, 1u);
  EXPECT_STREQ(collected.list[0].name, "written");
  trt_tolerance tolerance{sizeof tolerance, 0, 0, 1};
  EXPECT_EQ(trt_session_verify(session.get(), &tolerance, nullptr, nullptr), TRT_OK);
}

TEST(CApiCompare, CountsDistances) {
  float nan = std::nanf("");
  std::vector<float> e{1, nan, 0.0f, nan, 2}, a{1, -nan, -0.0f, 1, 2.5f};
  trt::Tensor expected = trt::tensor(e.data(), {5});
  trt::Tensor actual = trt::tensor(a.data(), {5});
  trt_tensor rawExpected = expected.raw(), rawActual = actual.raw();
  trt_comparison found{};
  found.struct_size = sizeof found;
  EXPECT_EQ(trt_compare(&rawExpected, &rawActual, nullptr, &found), TRT_MISMATCH);
  EXPECT_EQ(found.mismatch_count, 3);
  EXPECT_EQ(found.first_bad, 2);
  EXPECT_EQ(found.max_ulp, UINT64_MAX);
  EXPECT_TRUE(std::isinf(found.max_abs));
  trt_tolerance tolerance{sizeof tolerance, 0, 0.5, 0};
  EXPECT_EQ(trt_compare(&rawExpected, &rawActual, &tolerance, &found), TRT_MISMATCH);
  EXPECT_EQ(found.mismatch_count, 1);
  EXPECT_EQ(found.first_bad, 3);
  actual.shape = {5, 1};
  rawActual = actual.raw();
  EXPECT_EQ(trt_compare(&rawExpected, &rawActual, nullptr, &found), TRT_MISMATCH);
  EXPECT_EQ(found.has_same_type, 0);
}

TEST(CppWrapper, LoadsSetsRunsReads) {
  Result<std::string> bytes = serializeProgram(*sampleProgram(), {});
  ASSERT_TRUE(bytes.ok());
  trt::Model model = trt::Model::load(std::as_bytes(std::span(*bytes))).value();
  trt::Session session = trt::Session::create(model, TRT_SECTION_PORTABLE, 1).value();
  std::vector<float> x = sampleInputs()[0].values<float>();
  ASSERT_FALSE(session.setInput("x", trt::tensor(x.data(), {5, 4})));
  ASSERT_FALSE(session.run());
  trt::Tensor y = session.output(0).value();
  EXPECT_EQ(y.shape, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(y.as<float>().size(), 12u);
  EXPECT_TRUE(y.as<int32_t>().empty());
  trt::Expected<trt::Tensor> none = session.output(9);
  EXPECT_FALSE(none.ok());
  EXPECT_EQ(none.error().status, TRT_INVALID_ARGUMENT);
}

} // namespace
