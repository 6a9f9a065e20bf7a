// What an executor does once, and what one on a device does around a run.
#include "Plan.h"

#include "tracert/ThreadPool.h"

namespace tracert {
namespace {

Result<const NativeSection *> chooseSection(const Program &program, const SectionChoice &choice,
                                            const Device &device) {
  switch (choice.kind) {
  case SectionChoice::Portable:
    return nullptr;
  case SectionChoice::Best:
    return bestSection(program, device);
  case SectionChoice::Native:
    break;
  }
  for (const NativeSection &section : program.sections) {
    if (section.target != choice.target) {
      continue;
    }
    if (!device.supports(choice.target)) {
      std::string where =
          device.space().isHost() ? "this processor" : std::string(device.space().name);
      return Status::unsupported("the section for " + std::string(targetName(choice.target)) +
                                 " cannot run on " + where + "; use the portable section")
          .withAdvice("use section=\"best\" or section=\"portable\": the bits are the same");
    }
    return &section;
  }
  return Status::unsupported("the program has no section for " +
                             std::string(targetName(choice.target)))
      .withAdvice(
          "use section=\"best\" or section=\"portable\", or dump the file with this target");
}

} // namespace

Result<ExecutorCore> makeExecutorCore(std::shared_ptr<const Program> program,
                                      const ExecutorOptions &options) {
  TRACERT_TRY(checkTargetLimit());
  ExecutorCore core;
  core.device = options.device ? options.device : &hostDevice();
  TRACERT_ASSIGN(core.use, DeviceUse::of(*core.device));
  TRACERT_ASSIGN(core.section, chooseSection(*program, options.section, *core.device));
  core.pool = options.pool ? options.pool : &processThreadPool();
  core.allocator = options.allocator ? options.allocator : &core.device->allocator();
  if (&core.allocator->space() != &core.device->space()) {
    return Status::invalidArgument("the executor's allocator is for " +
                                   std::string(core.allocator->space().name) + ", its device is " +
                                   std::string(core.device->space().name));
  }
  bool isHost = core.device->space().isHost();
  if (options.memoryLimit != 0) {
    core.budget = std::make_shared<BudgetAllocator>(*core.allocator, options.memoryLimit);
    core.allocator = core.budget.get();
    core.hostBudget =
        isHost ? core.budget
               : std::make_shared<BudgetAllocator>(processAllocator(), options.memoryLimit);
  }
  if (!isHost) {
    Allocator &forCopies = core.hostBudget ? *core.hostBudget : processAllocator();
    core.copies = std::make_unique<HostCopies>(*core.device, forCopies);
  }
  core.target = options.section.kind == SectionChoice::Portable ? kPortable : bestTarget();
  if (core.section) {
    if (isHost && options.section.kind == SectionChoice::Native) {
      core.target = options.section.target;
    }
    Result<std::shared_ptr<const DeviceCode>> code =
        core.section->sharedCode.load(*core.device, core.section->code, core.section->codeHash);
    if (code.ok()) {
      core.code = std::move(code).value();
      core.schedule = core.section->blocks[0].instructions;
    } else if (isHost && options.section.kind == SectionChoice::Best &&
               code.status().code() == StatusCode::Io) {
      // A system that forbids new executable memory makes it slower, not impossible.
      core.section = nullptr;
    } else {
      return code.status();
    }
  }
  if (!core.section) {
    core.schedule.resize(program->ops.size());
    for (uint32_t i = 0; i < core.schedule.size(); ++i) {
      core.schedule[i].index = i;
    }
  }
  core.program = std::move(program);
  return core;
}

Status checkInputPlace(const ExecutorCore &core, const InputDef &input, const void *data) {
  Device *place = data ? deviceOf(data) : nullptr;
  if (!place || place == core.device) {
    return {};
  }
  std::string where(place->space().name);
  return Status::invalidArgument("input '" + input.name + "' lies on " + where +
                                 ", the executor runs on " +
                                 std::string(core.device->space().name) +
                                 "; copy the input, or make the executor on " + where);
}

Status copyConstants(ExecutorCore &core) {
  std::vector<BufferRef> placed;
  for (const ConstantDef &constant : core.program->constants) {
    auto size = static_cast<size_t>(constant.type.byteCount());
    BufferRef buffer(Buffer::allocate(*core.allocator, size));
    if (!buffer) {
      return Status::outOfMemory("no memory for a constant of " + std::to_string(size) + " bytes");
    }
    TRACERT_TRY(core.copies->put(constant.data, buffer->data(), size));
    placed.push_back(std::move(buffer));
  }
  core.constants = std::move(placed);
  return {};
}

Status copyInputs(const ExecutorCore &core, std::vector<TensorView> &inputs,
                  std::vector<BufferRef> &kept) {
  kept.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].data && core.device->owns(inputs[i].data)) {
      continue;
    }
    TRACERT_ASSIGN(CopiedTensor sent,
                   core.copies->send(inputs[i], *core.allocator, std::move(kept[i])));
    inputs[i] = std::move(sent.view);
    kept[i] = std::move(sent.buffer);
  }
  return {};
}

} // namespace tracert
