#include "Session.h"

#include "CommandLine.h"
#include "Numbers.h"

#include <algorithm>
#include <map>

namespace cli {

void check(trt_status status) {
  if (status != TRT_OK) {
    throw LibraryError(status, trt_last_error());
  }
}

int exitCodeOf(trt_status status) {
  switch (status) {
  case TRT_OK:
    return kOk;
  case TRT_MISMATCH:
    return kMismatch;
  case TRT_CORRUPT_FILE:
    return kCorrupt;
  case TRT_UNSUPPORTED:
    return kUnsupported;
  default:
    return kUserError;
  }
}

trt_section sectionOf(const std::string &name) {
  static const std::map<std::string, trt_section> names{{"best", TRT_SECTION_BEST},
                                                        {"portable", TRT_SECTION_PORTABLE},
                                                        {"native", TRT_SECTION_NATIVE},
                                                        {"cpu", TRT_SECTION_NATIVE},
                                                        {"x86-64-v3", TRT_SECTION_X86_64_V3},
                                                        {"x86-64-v4", TRT_SECTION_X86_64_V4},
                                                        {"aarch64-neon", TRT_SECTION_AARCH64_NEON}};
  auto found = names.find(name);
  if (found == names.end()) {
    throw UserError(unknownName(
        "section", name, {"best", "portable", "native", "x86-64-v3", "x86-64-v4", "aarch64-neon"}));
  }
  return found->second;
}

trt_tolerance toleranceOf(const Options &options) {
  return {sizeof(trt_tolerance), options.rtol, options.atol, options.ulp};
}

std::unique_ptr<trt_model, ModelRelease> loadModel(const std::string &path, bool verifyAll) {
  trt_load_options options{sizeof options, verifyAll ? uint32_t(TRT_VERIFY_ALL) : 0u};
  trt_model *model = nullptr;
  check(trt_model_load_path(path.c_str(), &options, &model));
  return std::unique_ptr<trt_model, ModelRelease>(model);
}

std::unique_ptr<trt_session, SessionDestroy> makeSession(trt_model *model, trt_section section,
                                                         int64_t threads) {
  trt_session_options options{sizeof options, section, static_cast<int32_t>(threads)};
  trt_session *session = nullptr;
  check(trt_session_create(model, &options, &session));
  return std::unique_ptr<trt_session, SessionDestroy>(session);
}

Opened openModel(const Options &options) {
  Opened opened;
  opened.model = loadModel(options.files.at(0), options.verifyAll);
  std::string section = options.sections.empty() ? "best" : options.sections[0];
  opened.session = makeSession(opened.model.get(), sectionOf(section), options.threads);
  return opened;
}

trt_tensor_info inputInfo(const trt_model *model, int32_t index) {
  trt_tensor_info info{};
  info.struct_size = sizeof info;
  check(trt_model_input(model, index, &info));
  return info;
}

trt_tensor_info outputInfo(const trt_model *model, int32_t index) {
  trt_tensor_info info{};
  info.struct_size = sizeof info;
  check(trt_model_output(model, index, &info));
  return info;
}

trt_tensor outputOf(trt_session *session, int32_t index) {
  trt_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  check(trt_session_output(session, index, &tensor));
  return tensor;
}

namespace {

/// More elements than any machine holds.
constexpr int64_t kMaxSize = int64_t(1) << 40;

/// Names of the sizes in the inputs, in order.
std::vector<std::string> symbolsOf(const trt_model *model) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < trt_model_input_count(model); ++i) {
    trt_tensor_info info = inputInfo(model, i);
    for (int32_t axis = 0; axis < info.rank; ++axis) {
      const char *symbol = info.dims[axis].symbol;
      if (symbol && std::find(names.begin(), names.end(), symbol) == names.end()) {
        names.push_back(symbol);
      }
    }
  }
  return names;
}

std::map<std::string, int64_t> namedSizes(const Options &options, const trt_model *model) {
  std::map<std::string, int64_t> sizes;
  std::vector<std::string> known = symbolsOf(model);
  for (const std::string &text : options.sizes) {
    // A name may hold a '=', a number not.
    size_t equals = text.rfind('=');
    if (equals == std::string::npos) {
      throw UserError("--size takes name=number, got '" + text + "'");
    }
    std::string name = text.substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UserError(unknownName("size", name, known));
    }
    int64_t size =
        parseNumber<int64_t>("--size " + name + "=", text.substr(equals + 1), {0, kMaxSize});
    if (!sizes.emplace(name, size).second) {
      throw UserError("--size " + name + " is given twice");
    }
  }
  if (!sizes.empty() && options.fillMode.empty()) {
    throw UserError("--size is for inputs that --fill-mode makes; give --fill-mode, too");
  }
  return sizes;
}

std::vector<std::string> inputNames(const trt_model *model) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < trt_model_input_count(model); ++i) {
    names.push_back(inputInfo(model, i).name);
  }
  return names;
}

FillMode fillModeOf(const std::string &name) {
  if (name == "zeros") {
    return FillMode::Zeros;
  }
  if (name == "ones") {
    return FillMode::Ones;
  }
  if (name == "random") {
    return FillMode::Random;
  }
  throw UserError(unknownName("fill mode", name, {"random", "zeros", "ones"}));
}

OwnedArray fillInput(const trt_tensor_info &info, const std::map<std::string, int64_t> &sizes,
                     FillMode mode) {
  std::vector<int64_t> shape;
  for (int32_t axis = 0; axis < info.rank; ++axis) {
    const trt_dim &dim = info.dims[axis];
    auto chosen = dim.symbol ? sizes.find(dim.symbol) : sizes.end();
    if (chosen != sizes.end()) {
      shape.push_back(chosen->second);
    } else {
      // Enough to see something, within the allowed range.
      shape.push_back(dim.size >= 0 ? dim.size : std::clamp<int64_t>(16, dim.min, dim.max));
    }
  }
  return filled(info.dtype, std::move(shape), mode);
}

} // namespace

void setInputs(Opened &opened, const Options &options) {
  trt_model *model = opened.model.get();
  int32_t count = trt_model_input_count(model);
  std::vector<bool> isSet(static_cast<size_t>(count), false);
  opened.arrays.reserve(options.inputs.size() + static_cast<size_t>(count));
  int32_t nextUnnamed = 0;
  auto set = [&](int32_t index, OwnedArray array) {
    opened.arrays.push_back(std::move(array));
    trt_tensor tensor = opened.arrays.back().tensor();
    check(trt_session_set_input(opened.session.get(), index, &tensor));
    isSet[static_cast<size_t>(index)] = true;
  };
  for (const std::string &text : options.inputs) {
    NamedValue named = splitName(text);
    int32_t index =
        named.name.empty() ? nextUnnamed++ : trt_model_find_input(model, named.name.c_str());
    if (index < 0) {
      throw UserError(unknownName("input", named.name, inputNames(model)));
    }
    if (index >= count) {
      throw UserError("more inputs are given than the model has: " + std::to_string(count));
    }
    if (isSet[static_cast<size_t>(index)]) {
      throw UserError("input '" + std::string(inputInfo(model, index).name) + "' is given twice");
    }
    set(index, parseValue(named.value));
  }
  std::map<std::string, int64_t> sizes = namedSizes(options, model);
  if (!options.fillMode.empty()) {
    fillModeOf(options.fillMode);
  }
  bool usesVector =
      options.inputs.empty() && options.fillMode.empty() && trt_model_vector_count(model) > 0;
  for (int32_t i = 0; i < count; ++i) {
    if (isSet[static_cast<size_t>(i)]) {
      continue;
    }
    trt_tensor_info info = inputInfo(model, i);
    if (usesVector) {
      trt_tensor tensor{};
      tensor.struct_size = sizeof tensor;
      check(trt_model_vector_input(model, 0, i, &tensor));
      check(trt_session_set_input(opened.session.get(), i, &tensor));
    } else if (!options.fillMode.empty()) {
      set(i, fillInput(info, sizes, fillModeOf(options.fillMode)));
    } else if (!info.is_state) {
      throw UserError("input '" + std::string(info.name) + "' is missing: give --input " +
                      info.name + "=... or --fill-mode");
    }
  }
}

} // namespace cli
