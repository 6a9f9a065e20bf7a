// Models, status texts and dtypes of the C API.
#include "CApiHandles.h"
#include "CheckedMath.h"
#include "FileFormat.h"
#include "ProgramReader.h"

namespace tracert::capi {
namespace {

/// Keeps the text without copying it, so that it exists when there is no memory for a copy.
Status &lastError() {
  thread_local Status error;
  return error;
}

} // namespace

trt_status report(const Status &status) {
  lastError() = status;
  // The numbers are the same by intent; codes that cannot occur here map to a bug of ours.
  auto code = static_cast<int>(status.code());
  bool isPublic = status.code() != StatusCode::Compile;
  return isPublic ? static_cast<trt_status>(code) : TRT_INTERNAL;
}

Status badStructSize(const char *name, size_t size, size_t here) {
  return Status::invalidArgument(std::string(name) + ".struct_size is " + std::to_string(size) +
                                 ", set it to sizeof(" + name + "), which is " +
                                 std::to_string(here) + " here");
}

Result<TensorView> viewOfTensor(const trt_tensor *tensor, const char *what) {
  auto bad = [&](const std::string &problem) {
    return Status::invalidArgument(std::string(what) + ": " + problem);
  };
  if (!tensor) {
    return bad("the tensor is null");
  }
  Result<trt_tensor> known = optionsOf(tensor);
  if (!known.ok()) {
    return bad(known.status().message());
  }
  const trt_tensor &given = *known;
  if (given.rank < 0 || given.rank > static_cast<int32_t>(kMaxRank)) {
    return bad("rank " + std::to_string(given.rank) + " is not from 0 to " +
               std::to_string(kMaxRank));
  }
  auto rawDType = static_cast<int>(given.dtype);
  if (rawDType < 0 || rawDType > UINT8_MAX || !isKnownDType(static_cast<uint8_t>(rawDType))) {
    return Status::invalidType(std::string(what) + ": " + std::to_string(rawDType) +
                               " is no dtype");
  }
  if (given.rank > 0 && !given.shape) {
    return bad("the shape is null");
  }
  TensorType type{static_cast<DType>(rawDType), Dims(given.shape, given.shape + given.rank)};
  int64_t bytes;
  if (!checkedByteCount(type, bytes)) {
    return bad("shape " + shapeString(type.shape) + " is negative or too large");
  }
  if (!given.data && bytes > 0) {
    return bad("the data is null");
  }
  TensorView view = TensorView::contiguous(given.data, type);
  if (!given.strides) {
    return view;
  }
  view.strides = Dims(given.strides, given.strides + given.rank);
  // The whole extent must be addressable, or offsets would wrap.
  int64_t reach = 0;
  for (size_t axis = 0; axis < view.rank(); ++axis) {
    int64_t span;
    int64_t steps = std::max<int64_t>(view.shape[axis] - 1, 0);
    if (!checkedMultiply(steps, view.strides[axis], span) || span == INT64_MIN ||
        __builtin_add_overflow(reach, span < 0 ? -span : span, &reach)) {
      return bad("the strides reach beyond the address space");
    }
  }
  return view;
}

trt_tensor tensorOf(const TensorView &view) {
  trt_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = static_cast<trt_dtype>(view.dtype);
  tensor.rank = static_cast<int32_t>(view.rank());
  tensor.shape = view.shape.data();
  tensor.strides = view.strides.data();
  tensor.data = view.data;
  return tensor;
}

namespace {

/// The sizes of a value as the signature shows them.
std::vector<trt_dim> dimsOf(const Program &program, ValueId value,
                            std::span<const uint32_t> symbols) {
  std::vector<trt_dim> dims;
  const Dims &declared = program.values[value].dims;
  for (size_t axis = 0; axis < declared.size(); ++axis) {
    trt_dim dim{declared[axis], nullptr, declared[axis], declared[axis]};
    if (axis < symbols.size() && symbols[axis] != kNoIndex) {
      const SymbolDef &symbol = program.symbols[symbols[axis]];
      dim = {-1, symbol.name.c_str(), symbol.min, symbol.max};
    } else if (declared[axis] == kUnknownDim) {
      dim = {-1, nullptr, 0, INT64_MAX};
    }
    dims.push_back(dim);
  }
  return dims;
}

Status makeModel(Result<std::shared_ptr<const Program>> program, trt_model **model) {
  if (!program.ok()) {
    return program.status();
  }
  auto made = std::make_unique<trt_model>();
  made->program = std::move(program).value();
  const Program &loaded = *made->program;
  for (const InputDef &input : loaded.inputs) {
    made->inputDims.push_back(dimsOf(loaded, input.value, input.dimSymbols));
  }
  for (const OutputDef &output : loaded.outputs) {
    made->outputDims.push_back(dimsOf(loaded, output.value, {}));
  }
  *model = made.release();
  return {};
}

Result<LoadOptions> loadOptionsOf(const trt_load_options *given) {
  TRACERT_ASSIGN(trt_load_options options, optionsOf(given));
  constexpr uint32_t known = TRT_VERIFY_ALL | TRT_PORTABLE_ONLY | TRT_LOAD_COPY;
  if (options.flags & ~known) {
    return Status::invalidArgument("unknown load flags " + std::to_string(options.flags & ~known));
  }
  return LoadOptions{.portableOnly = (options.flags & TRT_PORTABLE_ONLY) != 0,
                     .verifyAll = (options.flags & TRT_VERIFY_ALL) != 0,
                     .copy = (options.flags & TRT_LOAD_COPY) != 0,
                     .memoryLimit = options.memory_limit};
}

Status nullArgument(const char *what) {
  return Status::invalidArgument(std::string(what) + " is null");
}

trt_tensor_info infoOf(const Program &program, const std::string &name, ValueId value,
                       const std::vector<trt_dim> &dims, bool isState) {
  trt_tensor_info info{};
  info.name = name.c_str();
  info.dtype = static_cast<trt_dtype>(program.values[value].dtype);
  info.rank = static_cast<int32_t>(dims.size());
  info.dims = dims.data();
  info.is_state = isState;
  return info;
}

Status outOfRange(const char *what, int32_t index, size_t count) {
  return Status::invalidArgument(std::string(what) + " " + std::to_string(index) +
                                 " is out of range, the model has " + std::to_string(count));
}

bool isIndex(int32_t index, size_t count) {
  return index >= 0 && static_cast<size_t>(index) < count;
}

template <class Def> int32_t findName(const std::vector<Def> &list, const char *name) {
  for (size_t i = 0; name && i < list.size(); ++i) {
    if (list[i].name == name) {
      return static_cast<int32_t>(i);
    }
  }
  return -1;
}

} // namespace
} // namespace tracert::capi

using namespace tracert;
using namespace tracert::capi;

extern "C" {

const char *trt_last_error(void) { return lastError().message().c_str(); }

const char *trt_status_name(trt_status status) {
  switch (status) {
  case TRT_OK:
    return "TRT_OK";
  case TRT_INVALID_ARGUMENT:
    return "TRT_INVALID_ARGUMENT";
  case TRT_INVALID_TYPE:
    return "TRT_INVALID_TYPE";
  case TRT_INDEX_OUT_OF_RANGE:
    return "TRT_INDEX_OUT_OF_RANGE";
  case TRT_OVERFLOW:
    return "TRT_OVERFLOW";
  case TRT_AXIS_OUT_OF_RANGE:
    return "TRT_AXIS_OUT_OF_RANGE";
  case TRT_CORRUPT_FILE:
    return "TRT_CORRUPT_FILE";
  case TRT_UNSUPPORTED:
    return "TRT_UNSUPPORTED";
  case TRT_IO:
    return "TRT_IO";
  case TRT_OUT_OF_MEMORY:
    return "TRT_OUT_OF_MEMORY";
  case TRT_MISMATCH:
    return "TRT_MISMATCH";
  case TRT_INTERNAL:
    return "TRT_INTERNAL";
  case TRT_GUARD_FAILED:
    return "TRT_GUARD_FAILED";
  case TRT_CANCELLED:
    return "TRT_CANCELLED";
  case TRT_RESOURCE_EXHAUSTED:
    return "TRT_RESOURCE_EXHAUSTED";
  case TRT_DEADLINE_EXCEEDED:
    return "TRT_DEADLINE_EXCEEDED";
  }
  return "unknown status";
}

const char *trt_version(void) { return TRACERT_VERSION; }

// The newest version that openContainer takes.
const char *trt_format_version(void) {
  static const std::string version =
      std::to_string(kContainerMajor) + "." + std::to_string(kContainerMinor + 1);
  return version.c_str();
}

size_t trt_dtype_size(trt_dtype dtype) {
  auto raw = static_cast<int>(dtype);
  return raw >= 0 && raw <= UINT8_MAX && isKnownDType(static_cast<uint8_t>(raw))
             ? dtypeSize(static_cast<DType>(raw))
             : 0;
}

const char *trt_dtype_name(trt_dtype dtype) {
  // dtypeName gives literals, which end with a zero.
  return trt_dtype_size(dtype) ? dtypeName(static_cast<DType>(dtype)).data() : "unknown";
}

trt_status trt_model_load_path(const char *path, const trt_load_options *options,
                               trt_model **model) {
  return guarded([&]() -> Status {
    if (!path || !model) {
      return nullArgument(path ? "model" : "path");
    }
    TRACERT_ASSIGN(LoadOptions loadOptions, loadOptionsOf(options));
    return makeModel(loadProgram(std::string(path), loadOptions), model);
  });
}

trt_status trt_model_load_memory(const void *bytes, size_t size, const trt_load_options *options,
                                 trt_model **model) {
  return guarded([&]() -> Status {
    if (!bytes || !model) {
      return nullArgument(bytes ? "model" : "bytes");
    }
    TRACERT_ASSIGN(LoadOptions loadOptions, loadOptionsOf(options));
    std::span<const uint8_t> view(static_cast<const uint8_t *>(bytes), size);
    return makeModel(loadProgram(view, nullptr, loadOptions), model);
  });
}

trt_status trt_model_load_fd(int fd, const trt_load_options *options, trt_model **model) {
  return guarded([&]() -> Status {
    if (!model) {
      return nullArgument("model");
    }
    TRACERT_ASSIGN(LoadOptions loadOptions, loadOptionsOf(options));
    return makeModel(loadDescriptor(fd, loadOptions), model);
  });
}

void trt_model_release(trt_model *model) {
  if (model) {
    model->release();
  }
}

int32_t trt_model_input_count(const trt_model *model) {
  return model ? static_cast<int32_t>(model->program->inputs.size()) : 0;
}

int32_t trt_model_output_count(const trt_model *model) {
  return model ? static_cast<int32_t>(model->program->outputs.size()) : 0;
}

trt_status trt_model_input(const trt_model *model, int32_t index, trt_tensor_info *info) {
  return guarded([&]() -> Status {
    if (!model) {
      return nullArgument("model");
    }
    const Program &program = *model->program;
    if (!isIndex(index, program.inputs.size())) {
      return outOfRange("input", index, program.inputs.size());
    }
    const InputDef &input = program.inputs[static_cast<size_t>(index)];
    return fill(info, infoOf(program, input.name, input.value,
                             model->inputDims[static_cast<size_t>(index)],
                             input.isState && input.initialConstant != kNoIndex));
  });
}

trt_status trt_model_output(const trt_model *model, int32_t index, trt_tensor_info *info) {
  return guarded([&]() -> Status {
    if (!model) {
      return nullArgument("model");
    }
    const Program &program = *model->program;
    if (!isIndex(index, program.outputs.size())) {
      return outOfRange("output", index, program.outputs.size());
    }
    const OutputDef &output = program.outputs[static_cast<size_t>(index)];
    return fill(info, infoOf(program, output.name, output.value,
                             model->outputDims[static_cast<size_t>(index)],
                             output.stateInput != kNoIndex));
  });
}

int32_t trt_model_find_input(const trt_model *model, const char *name) {
  return model ? findName(model->program->inputs, name) : -1;
}

int32_t trt_model_find_output(const trt_model *model, const char *name) {
  return model ? findName(model->program->outputs, name) : -1;
}

const char *trt_model_producer(const trt_model *model) {
  return model ? model->program->producer.c_str() : "";
}

const char *trt_model_user_info(const trt_model *model) {
  return model ? model->program->userInfo.c_str() : "";
}

int32_t trt_model_section_count(const trt_model *model) {
  return model ? static_cast<int32_t>(model->program->sections.size()) : 0;
}

const char *trt_model_section(const trt_model *model, int32_t index) {
  if (!model || !isIndex(index, model->program->sections.size())) {
    return nullptr;
  }
  // targetName gives literals, which end with a zero.
  return targetName(model->program->sections[static_cast<size_t>(index)].target).data();
}

int32_t trt_model_vector_count(const trt_model *model) {
  return model ? static_cast<int32_t>(model->program->testVectors.size()) : 0;
}

trt_status trt_model_vector_input(const trt_model *model, int32_t vector, int32_t input,
                                  trt_tensor *tensor) {
  return guarded([&]() -> Status {
    if (!model) {
      return nullArgument("model");
    }
    const std::vector<TestVector> &vectors = model->program->testVectors;
    if (!isIndex(vector, vectors.size())) {
      return outOfRange("test vector", vector, vectors.size());
    }
    const std::vector<TestTensor> &inputs = vectors[static_cast<size_t>(vector)].inputs;
    if (!isIndex(input, inputs.size())) {
      return outOfRange("input", input, inputs.size());
    }
    const TestTensor &stored = inputs[static_cast<size_t>(input)];
    trt_tensor filled{};
    filled.dtype = static_cast<trt_dtype>(stored.type.dtype);
    filled.rank = static_cast<int32_t>(stored.type.rank());
    filled.shape = stored.type.shape.data();
    filled.data = const_cast<void *>(stored.data);
    return fill(tensor, filled);
  });
}

} // extern "C"
