#include "devices/cpu/LaunchRunner.h"

#include "tracert/KernelAbi.h"
#include "tracert/Limits.h"
#include "tracert/RunControl.h"

#include <algorithm>
#include <atomic>

namespace tracert {
namespace {

constexpr int kMaxScratchSlots = 64;
/// Flat ranges are cut at multiples of this, so that only the last part has a tail.
constexpr int64_t kFlatGrain = 1024;

KernelFrame frameOf(const BoundLaunch &bound, int64_t begin, int64_t end, void *scratch) {
  KernelFrame frame{};
  frame.pointers = bound.pointers.data();
  frame.domain = bound.domain.data();
  frame.strides = bound.strides.data();
  frame.gathers = bound.gathers.data();
  frame.begin = begin;
  frame.end = end;
  frame.scratch = scratch;
  return frame;
}

// The sanitizer would look for its own note in front of the generated code.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
int32_t callEntry(KernelHandle entry, KernelFrame *frame) {
  return reinterpret_cast<KernelEntry>(entry)(frame);
}

/// What the threads of one launch share.
struct SharedLaunch {
  const BoundLaunch &bound;
  char *scratch;
  std::atomic<uint64_t> freeSlots;
  std::atomic<bool> hasFailed{false};
  int64_t grain;
  /// Parts between two looks at the control.
  int64_t partsPerCheck;
  const RunControl *control;

  int takeSlot() {
    for (;;) {
      uint64_t slots = freeSlots.load(std::memory_order_relaxed);
      if (slots != 0 &&
          freeSlots.compare_exchange_weak(slots, slots & (slots - 1), std::memory_order_acquire)) {
        return std::countr_zero(slots);
      }
    }
  }
  void giveSlot(int slot) { freeSlots.fetch_or(uint64_t(1) << slot, std::memory_order_release); }

  void runRange(int64_t begin, int64_t end) {
    int slot = takeSlot();
    void *memory = scratch + static_cast<size_t>(slot) * kKernelScratchBytes;
    while (begin < end && !(control && control->shouldStop())) {
      int64_t next = end - begin > partsPerCheck ? begin + partsPerCheck : end;
      KernelFrame frame =
          frameOf(bound, begin * grain, std::min(next * grain, bound.splitCount), memory);
      if (callEntry(bound.entry, &frame) != kKernelOk) {
        hasFailed.store(true, std::memory_order_relaxed);
      }
      begin = next;
    }
    giveSlot(slot);
  }
};

int64_t partsBetweenChecks(bool isChecked, double nanosecondsPerPart) {
  if (!isChecked) {
    return INT64_MAX;
  }
  return std::max<int64_t>(
      1, static_cast<int64_t>(kNanosecondsBetweenChecks / std::max(nanosecondsPerPart, 1e-3)));
}

} // namespace

Result<std::unique_ptr<Launcher>> LaunchRunner::make(Allocator &allocator, int threadCount) {
  std::unique_ptr<LaunchRunner> made(new LaunchRunner());
  made->slotCount = std::clamp(threadCount, 1, kMaxScratchSlots);
  size_t bytes = static_cast<size_t>(made->slotCount) * kKernelScratchBytes;
  made->scratch = BufferRef(Buffer::allocate(allocator, bytes));
  if (!made->scratch) {
    return Status::outOfMemory("no memory for the scratch buffers of compiled kernels");
  }
  return std::unique_ptr<Launcher>(std::move(made));
}

Status LaunchRunner::run(const BoundLaunch &bound, void *partials, ThreadPool *pool,
                         LaunchOutcome &outcome) {
  const RunControl *control = currentRunControl();
  double certain = bound.nanosecondsPerPart * kCertainPartOfEstimate;
  if (control && !bound.canSplit && certain > kNanosecondsBetweenChecks &&
      control->endsBefore(certain)) {
    return {};
  }
  bool isSplit = bound.isWorthThreads && pool && pool->threadCount() > 1;
  bool isChecked =
      control && bound.canSplit &&
      bound.nanosecondsPerPart * static_cast<double>(bound.splitCount) > kNanosecondsBetweenChecks;
  if (isSplit || isChecked) {
    uint64_t slots = slotCount == 64 ? ~uint64_t(0) : (uint64_t(1) << slotCount) - 1;
    int64_t grain =
        bound.kernel->isFlat && bound.kernel->split == KernelSplit::OuterAxis ? kFlatGrain : 1;
    int64_t parts = bound.splitCount / grain + (bound.splitCount % grain != 0);
    int64_t partsPerCheck =
        partsBetweenChecks(isChecked, bound.nanosecondsPerPart * static_cast<double>(grain));
    SharedLaunch shared{
        bound,  static_cast<char *>(scratch->data()), {slots}, {false}, grain, partsPerCheck,
        control};
    if (isSplit) {
      pool->parallelFor(parts, [&](int64_t begin, int64_t end) { shared.runRange(begin, end); });
    } else {
      shared.runRange(0, parts);
    }
    outcome.isIndexError = shared.hasFailed.load(std::memory_order_relaxed);
  } else {
    KernelFrame frame = frameOf(bound, 0, bound.splitCount, scratch->data());
    outcome.isIndexError = callEntry(bound.entry, &frame) != kKernelOk;
    outcome.count = frame.count;
  }
  for (const PartialJoin &join : bound.joins) {
    bool hasValue = join.blockCount > 0 || join.reduction->empty != EmptyReduction::Error;
    if (!outcome.isIndexError && hasValue) {
      joinReductionPartials(*join.reduction, join.operand,
                            static_cast<const char *>(partials) + join.byteOffset, join.blockCount,
                            join.result.data);
    }
  }
  return {};
}

} // namespace tracert
