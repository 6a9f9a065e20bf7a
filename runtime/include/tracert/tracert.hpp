/// tracert.hpp: tracert.h for C++20. Handles that release themselves, spans, and Expected results.
///
///   trt::Model model = trt::Model::load("model.trc").value();
///   trt::Session session = trt::Session::create(model).value();
///   std::vector<float> x(6, 1.0f);
///   session.setInput("x", trt::tensor(x.data(), {2, 3}));
///   if (trt::Error error = session.run()) { std::puts(error.message.c_str()); }
///   std::span<const float> y = session.output(0).value().as<float>();
///
/// Nothing here throws (except std::bad_alloc of std::string and std::vector). value() of a failed
/// result ends the program with the message; check ok() first where failure is possible.
#pragma once

#include "tracert/tracert.h"

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace trt {

/// A status that is not TRT_OK is true.
struct [[nodiscard]] Error {
  trt_status status = TRT_OK;
  std::string message;

  static Error of(trt_status status) {
    return status == TRT_OK ? Error{} : Error{status, trt_last_error()};
  }
  explicit operator bool() const { return status != TRT_OK; }
};

/// A value or an Error.
template <class T> class [[nodiscard]] Expected {
public:
  Expected(T v) : held(std::move(v)) {}
  Expected(Error e) : failure(std::move(e)) {}

  bool ok() const { return held.has_value(); }
  const Error &error() const { return failure; }
  T &&value() && {
    check();
    return std::move(*held);
  }
  T &value() & {
    check();
    return *held;
  }

private:
  void check() const {
    if (!held) {
      std::fprintf(stderr, "tracert: %s\n", failure.message.c_str());
      std::abort();
    }
  }
  std::optional<T> held;
  Error failure;
};

template <class T> struct DTypeOf;
template <> struct DTypeOf<bool> {
  static constexpr trt_dtype value = TRT_BOOL;
};
template <> struct DTypeOf<uint8_t> {
  static constexpr trt_dtype value = TRT_UINT8;
};
template <> struct DTypeOf<int32_t> {
  static constexpr trt_dtype value = TRT_INT32;
};
template <> struct DTypeOf<int64_t> {
  static constexpr trt_dtype value = TRT_INT64;
};
template <> struct DTypeOf<float> {
  static constexpr trt_dtype value = TRT_FLOAT32;
};
template <> struct DTypeOf<double> {
  static constexpr trt_dtype value = TRT_FLOAT64;
};

/// A view: dtype, shape, byte strides (empty: contiguous) and data that somebody else owns.
struct Tensor {
  trt_dtype dtype = TRT_FLOAT32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  void *data = nullptr;

  int64_t elementCount() const {
    int64_t count = 1;
    for (int64_t size : shape) {
      count *= size;
    }
    return count;
  }
  /// The elements of a contiguous tensor; empty when T is not its dtype.
  template <class T> std::span<T> as() const {
    if (dtype != DTypeOf<std::remove_const_t<T>>::value) {
      return {};
    }
    return {static_cast<T *>(data), static_cast<size_t>(elementCount())};
  }
  trt_tensor raw() const {
    trt_tensor raw{};
    raw.struct_size = sizeof raw;
    raw.dtype = dtype;
    raw.rank = static_cast<int32_t>(shape.size());
    raw.shape = shape.data();
    raw.strides = strides.empty() ? nullptr : strides.data();
    raw.data = data;
    return raw;
  }
};

template <class T> Tensor tensor(T *data, std::initializer_list<int64_t> shape) {
  return {DTypeOf<std::remove_const_t<T>>::value,
          shape,
          {},
          const_cast<std::remove_const_t<T> *>(data)};
}

/// Shared by any number of sessions and threads.
class Model {
public:
  /// Unless `flags` has TRT_LOAD_COPY the file must not be changed in place while the model lives.
  static Expected<Model> load(const std::string &path, uint32_t flags = 0,
                              uint64_t memoryLimit = 0) {
    trt_load_options options{sizeof options, flags, memoryLimit};
    trt_model *model = nullptr;
    if (Error error = Error::of(trt_model_load_path(path.c_str(), &options, &model))) {
      return error;
    }
    return Model(model);
  }
  /// The bytes must outlive the model and its sessions, unless `flags` has TRT_LOAD_COPY.
  static Expected<Model> load(std::span<const std::byte> bytes, uint32_t flags = 0,
                              uint64_t memoryLimit = 0) {
    trt_load_options options{sizeof options, flags, memoryLimit};
    trt_model *model = nullptr;
    if (Error error =
            Error::of(trt_model_load_memory(bytes.data(), bytes.size(), &options, &model))) {
      return error;
    }
    return Model(model);
  }

  Model(Model &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Model &operator=(Model &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Model() { trt_model_release(handle); }

  int32_t inputCount() const { return trt_model_input_count(handle); }
  int32_t outputCount() const { return trt_model_output_count(handle); }
  /// The index must be in range.
  trt_tensor_info input(int32_t index) const {
    trt_tensor_info info{};
    info.struct_size = sizeof info;
    (void)trt_model_input(handle, index, &info);
    return info;
  }
  trt_tensor_info output(int32_t index) const {
    trt_tensor_info info{};
    info.struct_size = sizeof info;
    (void)trt_model_output(handle, index, &info);
    return info;
  }
  const trt_model *get() const { return handle; }

private:
  explicit Model(trt_model *model) : handle(model) {}
  trt_model *handle;
};

/// As trt_session_options.
struct SessionOptions {
  trt_section section = TRT_SECTION_BEST;
  int32_t threadCount = 0;
  uint64_t memoryLimit = 0;
  uint64_t timeLimitMs = 0;
};

/// One thread's way to run a model; keeps the model's memory alive.
class Session {
public:
  static Expected<Session> create(const Model &model, const SessionOptions &wanted = {}) {
    trt_session_options options{sizeof options, wanted.section, wanted.threadCount,
                                wanted.memoryLimit, wanted.timeLimitMs};
    trt_session *session = nullptr;
    if (Error error = Error::of(trt_session_create(model.get(), &options, &session))) {
      return error;
    }
    return Session(session);
  }
  static Expected<Session> create(const Model &model, trt_section section,
                                  int32_t threadCount = 0) {
    return create(model, SessionOptions{section, threadCount, 0, 0});
  }

  Session(Session &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Session &operator=(Session &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Session() { trt_session_destroy(handle); }

  Error setInput(int32_t index, const Tensor &tensor) {
    trt_tensor raw = tensor.raw();
    return Error::of(trt_session_set_input(handle, index, &raw));
  }
  Error setInput(const char *name, const Tensor &tensor) {
    trt_tensor raw = tensor.raw();
    return Error::of(trt_session_set_input_by_name(handle, name, &raw));
  }
  Error run() { return Error::of(trt_session_run(handle)); }
  /// From any thread: ends the run that is going on.
  void cancel() { trt_session_cancel(handle); }
  /// Valid until the next run that succeeds.
  Expected<Tensor> output(int32_t index) {
    trt_tensor raw{};
    raw.struct_size = sizeof raw;
    if (Error error = Error::of(trt_session_output(handle, index, &raw))) {
      return error;
    }
    return Tensor{raw.dtype, {raw.shape, raw.shape + raw.rank}, {}, raw.data};
  }
  trt_session *get() const { return handle; }

private:
  explicit Session(trt_session *session) : handle(session) {}
  trt_session *handle;
};

} // namespace trt
