// Sessions of the C API.
#include "CApiHandles.h"
#include "CallCheck.h"
#include "tracert/Device.h"

namespace tracert::capi {
namespace {

Status nullArgument(const char *what) {
  return Status::invalidArgument(std::string(what) + " is null");
}

Status checkIndex(const char *what, int32_t index, size_t count) {
  if (index >= 0 && static_cast<size_t>(index) < count) {
    return {};
  }
  return Status::invalidArgument(std::string(what) + " " + std::to_string(index) +
                                 " is out of range, the model has " + std::to_string(count));
}

/// What the executor will choose, for reports.
const NativeSection *chosenSection(const Program &program, const SectionChoice &choice) {
  if (choice.kind == SectionChoice::Best) {
    return bestSection(program, hostDevice());
  }
  for (const NativeSection &section : program.sections) {
    if (choice.kind == SectionChoice::Native && choice.target == section.target) {
      return &section;
    }
  }
  return nullptr;
}

Result<SectionChoice> sectionChoice(const Program &program, trt_section section) {
  switch (section) {
  case TRT_SECTION_BEST:
    return SectionChoice{SectionChoice::Best, kPortable};
  case TRT_SECTION_PORTABLE:
    return SectionChoice{SectionChoice::Portable, kPortable};
  case TRT_SECTION_X86_64_V3:
    return SectionChoice{SectionChoice::Native, kX86V3};
  case TRT_SECTION_X86_64_V4:
    return SectionChoice{SectionChoice::Native, kX86V4};
  case TRT_SECTION_AARCH64_NEON:
    return SectionChoice{SectionChoice::Native, kAarch64Neon};
  case TRT_SECTION_NATIVE:
    break;
  default:
    return Status::invalidArgument("unknown section " + std::to_string(section));
  }
  if (const NativeSection *best =
          chosenSection(program, SectionChoice{SectionChoice::Best, kPortable})) {
    return SectionChoice{SectionChoice::Native, best->target};
  }
  return Status::unsupported("the model has no native section that this processor can run; use the "
                             "portable section");
}

/// Element by element with memcpy, since the source is not aligned.
void copyMisaligned(const TensorView &from, const TensorView &to) {
  size_t size = dtypeSize(from.dtype);
  const char *source = static_cast<const char *>(from.data);
  char *target = static_cast<char *>(to.data);
  Dims index(from.rank(), 0);
  for (int64_t i = 0, count = from.elementCount(); i < count; ++i) {
    std::memcpy(target, source, size);
    target += size;
    for (size_t axis = from.rank(); axis-- > 0;) {
      source += from.strides[axis];
      if (++index[axis] < from.shape[axis]) {
        break;
      }
      source -= from.strides[axis] * from.shape[axis];
      index[axis] = 0;
    }
  }
}

Status takeInput(trt_session &session, size_t i) {
  const Program &program = *session.model->program;
  if (!session.isInputSet[i]) {
    const InputDef &input = program.inputs[i];
    if (input.isState && input.initialConstant != kNoIndex) {
      session.taken[i] = TensorView();
      return {};
    }
    return Status::invalidArgument("input '" + input.name + "' is not set");
  }
  const TensorView &given = session.inputs[i];
  if (isAligned(given)) {
    session.taken[i] = given;
    return {};
  }
  TensorType type = given.type();
  BufferRef copy(
      Buffer::allocate(session.executor->allocator(), static_cast<size_t>(type.byteCount())));
  if (!copy) {
    std::string what = "an aligned copy of input '" + program.inputs[i].name + "'";
    return session.options.memory_limit == 0
               ? Status::outOfMemory("no memory for " + what)
               : Status(kResourceExhausted, "the run needs more than its limit of " +
                                                std::to_string(session.options.memory_limit) +
                                                " bytes of memory: no memory for " + what);
  }
  session.taken[i] = TensorView::contiguous(copy->data(), type);
  copyMisaligned(given, session.taken[i]);
  session.alignedCopies[i] = std::move(copy);
  return {};
}

/// All of them before the first is written.
Status checkPlaces(const trt_session &session, std::span<const OwnedTensor> outputs) {
  const Program &program = *session.model->program;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::optional<TensorView> &place = session.places[i];
    if (place && !(place->type() == outputs[i].view.type())) {
      return Status::invalidArgument("output '" + program.outputs[i].name + "' is " +
                                     outputs[i].view.type().str() + ", the place set for it is " +
                                     place->type().str());
    }
  }
  return {};
}

void copyToPlaces(trt_session &session, std::span<const OwnedTensor> outputs) {
  KernelContext context{session.pool.get(), bestTarget(), &processAllocator(), IndexMode::Checked};
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (session.places[i]) {
      copyView(context, outputs[i].view, *session.places[i]);
    }
  }
}

/// Everything that can fail, then everything that can be seen.
Status runSession(trt_session &session) {
  for (size_t i = 0; i < session.inputs.size(); ++i) {
    TRACERT_TRY(takeInput(session, i));
  }
  std::vector<OwnedTensor> outputs;
  TRACERT_TRY(session.executor->compute(session.taken, outputs));
  TRACERT_TRY(checkPlaces(session, outputs));
  session.executor->commit(outputs);
  copyToPlaces(session, outputs);
  session.outputs = std::move(outputs);
  session.hasRun = true;
  return {};
}

Status setInput(trt_session &session, int32_t index, const trt_tensor *tensor) {
  TRACERT_TRY(checkIndex("input", index, session.inputs.size()));
  auto i = static_cast<size_t>(index);
  if (!tensor) {
    session.isInputSet[i] = false;
    return {};
  }
  TRACERT_ASSIGN(
      session.inputs[i],
      viewOfTensor(tensor, ("input '" + session.model->program->inputs[i].name + "'").c_str()));
  session.isInputSet[i] = true;
  return {};
}

} // namespace

Status makeExecutor(trt_session &session, std::unique_ptr<Executor> &executor) {
  ExecutorOptions options;
  TRACERT_ASSIGN(options.section, sectionChoice(*session.model->program, session.options.section));
  options.pool = session.pool.get();
  options.memoryLimit = session.options.memory_limit;
  TRACERT_ASSIGN(executor, Executor::create(session.model->program, options));
  const NativeSection *section = chosenSection(*session.model->program, options.section);
  session.sectionName = section ? targetName(section->target) : targetName(kPortable);
  session.codeBytes = section ? section->code.size() : 0;
  return {};
}

} // namespace tracert::capi

using namespace tracert;
using namespace tracert::capi;

extern "C" {

trt_status trt_session_create(const trt_model *model, const trt_session_options *options,
                              trt_session **session) {
  return guarded([&]() -> Status {
    if (!model || !session) {
      return nullArgument(model ? "session" : "model");
    }
    auto made = std::make_unique<trt_session>();
    made->model = const_cast<trt_model *>(model);
    made->model->retain();
    TRACERT_ASSIGN(made->options, optionsOf(options));
    if (made->options.thread_count < 0 || made->options.thread_count > 4096) {
      return Status::invalidArgument("thread_count " + std::to_string(made->options.thread_count) +
                                     " is not from 0 to 4096");
    }
    if (made->options.thread_count > 0) {
      made->pool = std::make_unique<ThreadPool>(made->options.thread_count);
    }
    TRACERT_TRY(makeExecutor(*made, made->executor));
    size_t inputCount = model->program->inputs.size();
    made->inputs.resize(inputCount);
    made->isInputSet.resize(inputCount, false);
    made->taken.resize(inputCount);
    made->alignedCopies.resize(inputCount);
    made->places.resize(model->program->outputs.size());
    *session = made.release();
    return {};
  });
}

void trt_session_destroy(trt_session *session) { delete session; }

trt_status trt_session_set_input(trt_session *session, int32_t index, const trt_tensor *tensor) {
  return guarded([&]() -> Status {
    return session ? setInput(*session, index, tensor) : nullArgument("session");
  });
}

trt_status trt_session_set_input_by_name(trt_session *session, const char *name,
                                         const trt_tensor *tensor) {
  return guarded([&]() -> Status {
    if (!session || !name) {
      return nullArgument(session ? "name" : "session");
    }
    int32_t index = trt_model_find_input(session->model, name);
    if (index < 0) {
      return Status::invalidArgument("the model has no input '" + std::string(name) + "'");
    }
    return setInput(*session, index, tensor);
  });
}

trt_status trt_session_set_output(trt_session *session, int32_t index, const trt_tensor *tensor) {
  return guarded([&]() -> Status {
    if (!session) {
      return nullArgument("session");
    }
    TRACERT_TRY(checkIndex("output", index, session->places.size()));
    auto i = static_cast<size_t>(index);
    if (!tensor) {
      session->places[i].reset();
      return {};
    }
    TRACERT_ASSIGN(
        TensorView place,
        viewOfTensor(tensor,
                     ("output '" + session->model->program->outputs[i].name + "'").c_str()));
    if (!isAligned(place)) {
      return Status::invalidArgument("output '" + session->model->program->outputs[i].name +
                                     "': the memory is not aligned to the size of its elements");
    }
    session->places[i] = std::move(place);
    return {};
  });
}

trt_status trt_session_run(trt_session *session) {
  return guarded([&]() -> Status {
    if (!session) {
      return nullArgument("session");
    }
    RunScope scope(session->control, session->options.time_limit_ms);
    Status status = runSession(*session);
    for (BufferRef &copy : session->alignedCopies) {
      copy = BufferRef();
    }
    return status;
  });
}

void trt_session_cancel(trt_session *session) {
  if (session) {
    session->control.cancel();
  }
}

trt_status trt_session_output(trt_session *session, int32_t index, trt_tensor *tensor) {
  return guarded([&]() -> Status {
    if (!session) {
      return nullArgument("session");
    }
    TRACERT_TRY(checkIndex("output", index, session->places.size()));
    if (!session->hasRun) {
      return Status::invalidArgument("there are no outputs: no run of the session has succeeded");
    }
    return fill(tensor, tensorOf(session->outputs[static_cast<size_t>(index)].view));
  });
}

const char *trt_session_section(const trt_session *session) {
  return session ? session->sectionName.c_str() : "";
}

trt_status trt_session_get_stats(const trt_session *session, trt_session_stats *stats) {
  return guarded([&]() -> Status {
    if (!session) {
      return nullArgument("session");
    }
    Executor::Stats counted = session->executor->stats();
    trt_session_stats filled{};
    filled.runs = counted.runs;
    filled.plans = counted.plans;
    filled.launches_run = counted.launchesRun;
    filled.launches_replaced = counted.launchesReplacedByOps;
    filled.library_kernels_run = counted.libraryKernelsRun;
    filled.arena_bytes = counted.arenaBytes;
    for (const OwnedTensor &output : session->outputs) {
      filled.output_bytes += static_cast<uint64_t>(output.view.type().byteCount());
    }
    for (const ConstantDef &constant : session->model->program->constants) {
      filled.weight_bytes += static_cast<uint64_t>(constant.type.byteCount());
    }
    filled.code_bytes = session->codeBytes;
    return fill(stats, filled);
  });
}

} // extern "C"
