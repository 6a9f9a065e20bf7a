// What the C API promises about failing runs, growing structs, changing files, limits and cancel.
#include "FileKit.h"
#include "ProgramKit.h"

#include "tracert/tracert.hpp"

#include <chrono>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace tracert;
using namespace tracert::test;

namespace {

std::string bytesOf(const Program &program) {
  Result<std::string> bytes = serializeProgram(program, {});
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return *bytes;
}

struct Loaded {
  explicit Loaded(const Program &program, trt_session_options options = {})
      : bytes(bytesOf(program)) {
    options.struct_size = sizeof options;
    EXPECT_EQ(trt_model_load_memory(bytes.data(), bytes.size(), nullptr, &model), TRT_OK)
        << trt_last_error();
    EXPECT_EQ(trt_session_create(model, &options, &session), TRT_OK) << trt_last_error();
  }
  ~Loaded() {
    trt_session_destroy(session);
    trt_model_release(model);
  }
  Loaded(const Loaded &) = delete;

  trt_status set(const char *name, const trt::Tensor &tensor) {
    trt_tensor raw = tensor.raw();
    return trt_session_set_input_by_name(session, name, &raw);
  }
  trt_status place(int32_t output, const trt::Tensor &tensor) {
    trt_tensor raw = tensor.raw();
    return trt_session_set_output(session, output, &raw);
  }
  std::vector<float> output(int32_t index) {
    trt_tensor tensor{};
    tensor.struct_size = sizeof tensor;
    EXPECT_EQ(trt_session_output(session, index, &tensor), TRT_OK) << trt_last_error();
    auto *data = static_cast<const float *>(tensor.data);
    return {data, data + (tensor.rank == 0 ? 1 : tensor.shape[0])};
  }

  std::string bytes;
  trt_model *model = nullptr;
  trt_session *session = nullptr;
};

/// next = total + x (kept as state), twice = 2 * x, picked = total[[1]].
std::shared_ptr<const Program> counter() {
  ProgramKit kit;
  kit.constant(tensor<float>({2}, {0, 0}));
  ValueId total = kit.input("total", DType::Float32, {kUnknownDim}, {"n"});
  kit.program->inputs[0].isState = true;
  kit.program->inputs[0].initialConstant = 0;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
  kit.output("next", kit.op(OpKind::add, {}, {total, x}));
  kit.program->outputs[0].stateInput = 0;
  kit.output("twice", kit.op(OpKind::add, {}, {x, x}));
  ValueId one = kit.constant(tensor<int64_t>({1}, {1}));
  kit.output("picked", kit.op(OpKind::indexing_multi_axis_vec, items({arrayItem()}), {total, one}));
  return kit.finish();
}

TEST(CApiRun, AFailedRunChangesNothing) {
  Loaded loaded(*counter());
  std::vector<float> x{1, 2};
  ASSERT_EQ(loaded.set("x", trt::tensor(x.data(), {2})), TRT_OK);
  ASSERT_EQ(trt_session_run(loaded.session), TRT_OK) << trt_last_error();
  EXPECT_EQ(loaded.output(0), (std::vector<float>{1, 2}));

  // The first place fits, the second does not.
  std::vector<float> next{-1, -1}, twice{-1, -1, -1};
  ASSERT_EQ(loaded.place(0, trt::tensor(next.data(), {2})), TRT_OK);
  ASSERT_EQ(loaded.place(1, trt::tensor(twice.data(), {3})), TRT_OK);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(trt_session_run(loaded.session), TRT_INVALID_ARGUMENT);
    EXPECT_STREQ(trt_last_error(),
                 "output 'twice' is float32[2], the place set for it is float32[3]");
  }
  EXPECT_EQ(next, (std::vector<float>{-1, -1}));
  EXPECT_EQ(twice, (std::vector<float>{-1, -1, -1}));
  EXPECT_EQ(loaded.output(0), (std::vector<float>{1, 2}));
  EXPECT_EQ(loaded.output(1), (std::vector<float>{2, 4}));
  trt_session_stats stats{};
  stats.struct_size = sizeof stats;
  ASSERT_EQ(trt_session_get_stats(loaded.session, &stats), TRT_OK);
  EXPECT_EQ(stats.runs, 1u);

  // A failure inside the program, after the new state was computed.
  std::vector<float> one{5};
  ASSERT_EQ(loaded.place(1, trt::tensor(twice.data(), {2})), TRT_OK);
  ASSERT_EQ(loaded.set("total", trt::tensor(one.data(), {1})), TRT_OK);
  ASSERT_EQ(loaded.set("x", trt::tensor(one.data(), {1})), TRT_OK);
  EXPECT_EQ(trt_session_run(loaded.session), TRT_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(loaded.output(0), (std::vector<float>{1, 2}));

  ASSERT_EQ(trt_session_set_input_by_name(loaded.session, "total", nullptr), TRT_OK);
  ASSERT_EQ(loaded.set("x", trt::tensor(x.data(), {2})), TRT_OK);
  ASSERT_EQ(trt_session_run(loaded.session), TRT_OK) << trt_last_error();
  // The state of the first run, once.
  EXPECT_EQ(next, (std::vector<float>{2, 4}));
  EXPECT_EQ(loaded.output(2), (std::vector<float>{2}));
}

//===----------------------------------------------------------------------===//
// Structs that grow
//===----------------------------------------------------------------------===//

/// A struct with room behind it, as a newer caller has it.
template <class T> struct Newer {
  T known{};
  unsigned char more[64] = {};
};

/// Calls use(pointer) with every kind of struct_size. `isFilled`: the library writes the struct.
template <class T, class Use>
void checkStructSizes(const char *name, size_t firstSize, bool isFilled, const T &good, Use use) {
  SCOPED_TRACE(name);
  auto with = [&](size_t size, unsigned char tail) {
    Newer<T> given;
    given.known = good;
    given.known.struct_size = size;
    std::memset(given.more, tail, sizeof given.more);
    trt_status status = use(&given.known);
    if (isFilled && status == TRT_OK && size > sizeof(T)) {
      EXPECT_EQ(given.more[0], 0);
      EXPECT_EQ(given.known.struct_size, size);
    }
    return status;
  };
  for (size_t size : {size_t(0), size_t(1), sizeof(size_t), firstSize - 1}) {
    EXPECT_EQ(with(size, 0), TRT_INVALID_ARGUMENT) << size;
    std::string text = trt_last_error();
    EXPECT_NE(text.find(std::string(name) + ".struct_size is " + std::to_string(size)),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(with(firstSize, 0), TRT_OK) << trt_last_error();
  EXPECT_EQ(with(sizeof(T), 0), TRT_OK) << trt_last_error();
  EXPECT_EQ(with(sizeof(Newer<T>), 0), TRT_OK) << trt_last_error();
  EXPECT_EQ(with(sizeof(T) + 1, 9), isFilled ? TRT_OK : TRT_INVALID_ARGUMENT);
  if (!isFilled) {
    std::string text = trt_last_error();
    EXPECT_NE(text.find("sets a field that this library does not know"), std::string::npos) << text;
  }
  EXPECT_EQ(with(SIZE_MAX, 0), TRT_INVALID_ARGUMENT);
}

TEST(CApiStructs, EverySizeIsChecked) {
  Loaded loaded(*counter());
  std::string bytes = loaded.bytes;
  checkStructSizes(
      "trt_load_options", 12, false, trt_load_options{}, [&](trt_load_options *options) {
        trt_model *model = nullptr;
        trt_status status = trt_model_load_memory(bytes.data(), bytes.size(), options, &model);
        EXPECT_EQ(model != nullptr, status == TRT_OK);
        trt_model_release(model);
        return status;
      });
  checkStructSizes("trt_session_options", 16, false, trt_session_options{},
                   [&](trt_session_options *options) {
                     trt_session *session = nullptr;
                     trt_status status = trt_session_create(loaded.model, options, &session);
                     EXPECT_EQ(session != nullptr, status == TRT_OK);
                     trt_session_destroy(session);
                     return status;
                   });
  std::vector<float> x{1, 2};
  trt::Tensor tensor = trt::tensor(x.data(), {2});
  checkStructSizes("trt_tensor", 40, false, tensor.raw(), [&](trt_tensor *given) {
    return trt_session_set_input(loaded.session, 1, given);
  });
  ASSERT_EQ(loaded.set("x", tensor), TRT_OK);
  ASSERT_EQ(trt_session_run(loaded.session), TRT_OK) << trt_last_error();
  checkStructSizes("trt_tensor", 40, true, trt_tensor{},
                   [&](trt_tensor *given) { return trt_session_output(loaded.session, 1, given); });
  checkStructSizes("trt_tensor_info", 36, true, trt_tensor_info{},
                   [&](trt_tensor_info *info) { return trt_model_input(loaded.model, 1, info); });
  checkStructSizes(
      "trt_session_stats", 64, true, trt_session_stats{},
      [&](trt_session_stats *stats) { return trt_session_get_stats(loaded.session, stats); });
  trt_tensor raw = tensor.raw();
  checkStructSizes("trt_tolerance", 32, false, trt_tolerance{}, [&](trt_tolerance *tolerance) {
    return trt_compare(&raw, &raw, tolerance, nullptr);
  });
  checkStructSizes("trt_comparison", 76, true, trt_comparison{}, [&](trt_comparison *comparison) {
    return trt_compare(&raw, &raw, nullptr, comparison);
  });
}

TEST(CApiStructs, OptionsThatWereIgnoredAreRefused) {
  std::string bytes = bytesOf(*counter());
  trt_load_options options{};
  options.flags = TRT_PORTABLE_ONLY | TRT_VERIFY_ALL;
  trt_model *model = nullptr;
  EXPECT_EQ(trt_model_load_memory(bytes.data(), bytes.size(), &options, &model),
            TRT_INVALID_ARGUMENT);
  EXPECT_STREQ(trt_last_error(), "trt_load_options.struct_size is 0, set it to "
                                 "sizeof(trt_load_options), which is 24 here");
  EXPECT_EQ(model, nullptr);
  options = {sizeof options, 64 | TRT_VERIFY_ALL, 0};
  EXPECT_EQ(trt_model_load_memory(bytes.data(), bytes.size(), &options, &model),
            TRT_INVALID_ARGUMENT);
  EXPECT_STREQ(trt_last_error(), "unknown load flags 64");
}

//===----------------------------------------------------------------------===//
// Files that change
//===----------------------------------------------------------------------===//

TEST(CApiLoad, ACopyDoesNotSeeTheFileChange) {
  Folder folder;
  std::string path = folder.path + "/model.trc";
  std::string bytes = bytesOf(*counter());
  std::string buffer = bytes;
  trt_load_options options{sizeof options, TRT_LOAD_COPY | TRT_PORTABLE_ONLY, 0};
  std::vector<float> x{3, 4};
  for (const char *from : {"path", "descriptor", "memory"}) {
    SCOPED_TRACE(from);
    std::ofstream(path, std::ios::binary) << bytes << std::flush;
    trt_model *model = nullptr;
    if (from == std::string("path")) {
      ASSERT_EQ(trt_model_load_path(path.c_str(), &options, &model), TRT_OK) << trt_last_error();
    } else if (from == std::string("memory")) {
      ASSERT_EQ(trt_model_load_memory(buffer.data(), buffer.size(), &options, &model), TRT_OK);
      std::fill(buffer.begin(), buffer.end(), '\xff');
    } else {
      FILE *file = std::fopen(path.c_str(), "rb");
      ASSERT_EQ(trt_model_load_fd(fileno(file), &options, &model), TRT_OK) << trt_last_error();
      std::fclose(file);
    }
    // Written over in place, then cut off: a mapped file would change or end the process.
    std::ofstream(path, std::ios::in | std::ios::out | std::ios::binary)
        << std::string(bytes.size(), '\xff') << std::flush;
    ASSERT_EQ(::truncate(path.c_str(), 10), 0);
    trt_session *session = nullptr;
    ASSERT_EQ(trt_session_create(model, nullptr, &session), TRT_OK) << trt_last_error();
    trt::Tensor tensor = trt::tensor(x.data(), {2});
    trt_tensor raw = tensor.raw();
    ASSERT_EQ(trt_session_set_input_by_name(session, "x", &raw), TRT_OK);
    for (int i = 1; i <= 2; ++i) {
      ASSERT_EQ(trt_session_run(session), TRT_OK) << trt_last_error();
      trt_tensor next{};
      next.struct_size = sizeof next;
      ASSERT_EQ(trt_session_output(session, 0, &next), TRT_OK);
      EXPECT_EQ(static_cast<const float *>(next.data)[1], 4.0f * static_cast<float>(i));
    }
    trt_session_destroy(session);
    trt_model_release(model);
  }
}

TEST(CApiLoad, TheWrapperTakesFlagsAndLimits) {
  std::string bytes = bytesOf(*counter());
  auto span = std::as_bytes(std::span(bytes));
  trt::Expected<trt::Model> model = trt::Model::load(span, TRT_LOAD_COPY, 100);
  EXPECT_EQ(model.error().status, TRT_RESOURCE_EXHAUSTED);
  model = trt::Model::load(span, TRT_LOAD_COPY, 1 << 20);
  ASSERT_TRUE(model.ok());
  trt::Session session =
      trt::Session::create(model.value(), {.memoryLimit = 1 << 20, .timeLimitMs = 10'000}).value();
  std::vector<float> x{3, 4};
  ASSERT_FALSE(session.setInput("x", trt::tensor(x.data(), {2})));
  EXPECT_FALSE(session.run());
  session.cancel();
  EXPECT_FALSE(session.run());
}

//===----------------------------------------------------------------------===//
// Limits and cancel
//===----------------------------------------------------------------------===//

constexpr int64_t kHuge = int64_t(1) << 40;

AttrList reduceAttrs(int64_t axis) { return {AttrValue::ints({axis}), AttrValue::boolean(false)}; }
AttrList shapeAttrs(Dims shape) { return {AttrValue::ints(std::move(shape))}; }

struct LongProgram {
  const char *name;
  std::shared_ptr<const Program> program;
};

/// Small files whose runs would take hours: each in a loop of its own.
std::vector<LongProgram> longPrograms() {
  std::vector<LongProgram> list;
  auto add = [&](const char *name, auto make) {
    ProgramKit kit;
    ValueId x = kit.input("x", DType::Float32, {});
    kit.output("y", make(kit, x));
    list.push_back({name, kit.finish()});
  };
  auto huge = [](ProgramKit &kit, ValueId x, Dims shape) {
    return kit.op(OpKind::broadcast_to, shapeAttrs(std::move(shape)), {x});
  };
  add("sum", [&](ProgramKit &kit, ValueId x) {
    return kit.op(OpKind::sum, reduceAttrs(0), {huge(kit, x, {kHuge})});
  });
  add("max", [&](ProgramKit &kit, ValueId x) {
    return kit.op(OpKind::max, reduceAttrs(0), {huge(kit, x, {kHuge})});
  });
  add("sum of rows", [&](ProgramKit &kit, ValueId x) {
    return kit.op(OpKind::sum, reduceAttrs(1), {huge(kit, x, {4000, kHuge / 4096})});
  });
  add("sum of columns", [&](ProgramKit &kit, ValueId x) {
    return kit.op(OpKind::sum, reduceAttrs(0), {huge(kit, x, {kHuge / 4, 3})});
  });
  add("product", [&](ProgramKit &kit, ValueId x) {
    return kit.op(OpKind::matmul, {}, {huge(kit, x, {3, kHuge / 4}), huge(kit, x, {kHuge / 4, 2})});
  });
  add("product of a vector", [&](ProgramKit &kit, ValueId x) {
    return kit.op(OpKind::matmul, {}, {huge(kit, x, {3, kHuge / 4}), huge(kit, x, {kHuge / 4})});
  });
  add("large product", [&](ProgramKit &kit, ValueId x) {
    ValueId product =
        kit.op(OpKind::matmul, {}, {huge(kit, x, {2000, 1 << 22}), huge(kit, x, {1 << 22, 2000})});
    return kit.op(OpKind::sum, reduceAttrs(0), {product});
  });
  add("masked read", [&](ProgramKit &kit, ValueId x) {
    ValueId mask = huge(kit, kit.op(OpKind::gt, {}, {x, x}), {kHuge});
    ValueId read = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem(1)}),
                          {huge(kit, x, {kHuge}), mask});
    return kit.op(OpKind::sum, reduceAttrs(0), {read});
  });
  add("masked write of an axis", [&](ProgramKit &kit, ValueId x) {
    ValueId mask = huge(kit, kit.op(OpKind::gt, {}, {x, x}), {kHuge});
    ValueId read = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem(1), slice({}, {})}),
                          {huge(kit, x, {kHuge, 2}), mask});
    return kit.op(OpKind::sum, reduceAttrs(0), {read});
  });
  add("positions of a mask", [&](ProgramKit &kit, ValueId x) {
    ValueId mask = huge(kit, kit.op(OpKind::gt, {}, {x, x}), {kHuge});
    kit.op(OpKind::cond_take, {}, {mask, huge(kit, x, {kHuge})});
    return kit.lastOp().results[0];
  });
  add("many writes of few elements", [&](ProgramKit &kit, ValueId x) {
    ValueId target = kit.op(OpKind::add, {}, {huge(kit, x, {2, 100'000}), x});
    ValueId zero = kit.constant(tensor<int64_t>({1}, {0}));
    ValueId index = kit.op(OpKind::broadcast_to, shapeAttrs({1 << 22}), {zero});
    return kit.op(OpKind::set_indexing_multi_axis_vec, items({arrayItem(), slice({}, {})}),
                  {target, x, index});
  });
  add("many small steps", [&](ProgramKit &kit, ValueId x) {
    ValueId current = huge(kit, x, {20'000});
    for (int i = 0; i < 20'000; ++i) {
      current = kit.op(OpKind::tanh, {}, {current});
    }
    return current;
  });
  return list;
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(CApiLimits, TimeEndsEveryLongLoop) {
  for (const LongProgram &test : longPrograms()) {
    for (trt_section section : {TRT_SECTION_BEST, TRT_SECTION_PORTABLE}) {
      for (int32_t threads : {1, 2}) {
        SCOPED_TRACE(std::string(test.name) + " on " + std::to_string(threads) + " threads");
        trt_session_options options{};
        options.section = section;
        options.thread_count = threads;
        options.time_limit_ms = 20;
        Loaded loaded(*test.program, options);
        float x = 1;
        ASSERT_EQ(loaded.set("x", trt::tensor(&x, {})), TRT_OK);
        auto start = std::chrono::steady_clock::now();
        EXPECT_EQ(trt_session_run(loaded.session), TRT_DEADLINE_EXCEEDED) << trt_last_error();
        std::string text = trt_last_error();
        EXPECT_TRUE(text.starts_with("the run took longer than its limit of 20 ms")) << text;
        // Generous: the machine may be busy. Without the limit it is hours.
        EXPECT_LT(secondsSince(start), 5.0);
      }
    }
  }
}

TEST(CApiLimits, AnotherThreadCancels) {
  std::vector<LongProgram> programs = longPrograms();
  Loaded loaded(*programs[0].program);
  float x = 1;
  ASSERT_EQ(loaded.set("x", trt::tensor(&x, {})), TRT_OK);
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> isDone{false};
    std::thread other([&] {
      // Until it is seen: a cancel before the run starts has no effect.
      while (!isDone) {
        trt_session_cancel(loaded.session);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    EXPECT_EQ(trt_session_run(loaded.session), TRT_CANCELLED) << trt_last_error();
    EXPECT_TRUE(std::string(trt_last_error()).starts_with("the run was cancelled"))
        << trt_last_error();
    isDone = true;
    other.join();
  }
  trt_session_cancel(nullptr);
}

TEST(CApiLimits, ASessionWorksAfterACancelledRun) {
  // y = sum of n copies of x, z = y: short for small n.
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {});
  ValueId n = kit.input("n", DType::Int64, {});
  ValueId many = kit.op(OpKind::broadcast_to, shapeAttrs({kFromOperand}), {x, n});
  kit.output("y", kit.op(OpKind::sum, reduceAttrs(0), {many}));
  trt_session_options options{};
  options.time_limit_ms = 20;
  Loaded loaded(*kit.finish(), options);
  float value = 2;
  int64_t count = 1000;
  ASSERT_EQ(loaded.set("x", trt::tensor(&value, {})), TRT_OK);
  ASSERT_EQ(loaded.set("n", trt::tensor(&count, {})), TRT_OK);
  ASSERT_EQ(trt_session_run(loaded.session), TRT_OK) << trt_last_error();
  EXPECT_EQ(loaded.output(0)[0], 2000);
  count = kHuge;
  EXPECT_EQ(trt_session_run(loaded.session), TRT_DEADLINE_EXCEEDED) << trt_last_error();
  EXPECT_EQ(loaded.output(0)[0], 2000);
  trt_session_cancel(loaded.session);
  count = 10;
  ASSERT_EQ(trt_session_run(loaded.session), TRT_OK) << trt_last_error();
  EXPECT_EQ(loaded.output(0)[0], 20);
}

/// y = sum of (broadcast of x to n) + 1: an intermediate value of 4n bytes.
std::shared_ptr<const Program> widening(int64_t n) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {});
  ValueId wide = kit.op(OpKind::broadcast_to, shapeAttrs({n}), {x});
  ValueId sum = kit.op(OpKind::add, {}, {wide, x});
  kit.output("total", kit.op(OpKind::sum, reduceAttrs(0), {sum}));
  kit.output("wide", wide);
  return kit.finish();
}

TEST(CApiLimits, MemoryIsCountedBeforeItIsSpent) {
  trt_session_options options{};
  options.memory_limit = 10 << 20;
  for (int64_t n : {int64_t(3) << 20, kHuge}) {
    Loaded loaded(*widening(n), options);
    float x = 1;
    ASSERT_EQ(loaded.set("x", trt::tensor(&x, {})), TRT_OK);
    EXPECT_EQ(trt_session_run(loaded.session), TRT_RESOURCE_EXHAUSTED);
    EXPECT_NE(std::string(trt_last_error()).find("limit of 10485760 bytes"), std::string::npos)
        << trt_last_error();
  }
  // 4 MB of intermediate value and 4 MB of output: fits, however often it runs and is kept.
  Loaded loaded(*widening(1 << 20), options);
  float x = 1;
  ASSERT_EQ(loaded.set("x", trt::tensor(&x, {})), TRT_OK);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(trt_session_run(loaded.session), TRT_OK) << trt_last_error();
  }
}

TEST(CApiLimits, MemoryOfTemporariesCounts) {
  // Counted sizes and scratch: neither is in the arena.
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {});
  ValueId wide = kit.op(OpKind::broadcast_to, shapeAttrs({1 << 22}), {x});
  ValueId mask = kit.op(OpKind::eq, {}, {x, x});
  ValueId all = kit.op(OpKind::broadcast_to, shapeAttrs({1 << 22}), {mask});
  ValueId read = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem(1)}), {wide, all});
  kit.output("total", kit.op(OpKind::sum, reduceAttrs(0), {read}));
  auto program = kit.finish();
  for (auto [limit, expected] : {std::pair(uint64_t(8) << 20, TRT_RESOURCE_EXHAUSTED),
                                 std::pair(uint64_t(24) << 20, TRT_OK)}) {
    trt_session_options options{};
    options.memory_limit = limit;
    Loaded loaded(*program, options);
    float one = 1;
    ASSERT_EQ(loaded.set("x", trt::tensor(&one, {})), TRT_OK);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(trt_session_run(loaded.session), expected) << trt_last_error();
    }
  }
}

TEST(CApiLimits, AMisalignedCopyCounts) {
  trt_session_options options{};
  options.memory_limit = 1 << 20;
  Loaded loaded(*counter(), options);
  std::vector<unsigned char> memory((4 << 20) + 1);
  trt::Tensor tensor{TRT_FLOAT32, {1 << 20}, {}, memory.data() + 1};
  ASSERT_EQ(loaded.set("x", tensor), TRT_OK);
  EXPECT_EQ(trt_session_run(loaded.session), TRT_RESOURCE_EXHAUSTED);
}

} // namespace
