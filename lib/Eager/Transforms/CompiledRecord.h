/// A record and the programs that its segments were compiled to.
#pragma once

#include "Eager/Transforms/TraceRecord.h"
#include "tracert/CacheLimits.h"
#include "tracert/Executor.h"
#include "tracert/RecentList.h"

#include <atomic>
#include <mutex>

namespace tracec {

/// A record with its compiled programs; shared by the threads that replay it.
class CompiledRecord {
public:
  CompiledRecord(TraceRecord record, TraceOptions options)
      : record(std::move(record)), options(std::move(options)),
        states(this->record.segments.size()) {}

  const TraceRecord record;

  /// Runs a segment with this thread's evaluation options, compiling it at its first run.
  Status runSegment(size_t segment, std::span<const TensorView> inputs,
                    std::vector<tracert::OwnedTensor> &outputs);
  bool isCompiled() const { return compiled; }
  void markReplayed() { compiled = true; }
  TracedFunction::Stats stats() const;

private:
  /// What a segment's program is made for: what one segment hands to the next may have size 1 in
  /// one call and not in another.
  struct InputClass {
    std::vector<TypeKey> types;
    /// Two bits per input (of the first 32): its InputStrides.
    uint64_t strides = 0;
    /// Whether the types are those of `inputs`.
    bool fits(std::span<const TensorView> inputs) const;
  };
  struct Variant {
    tracert::Target target;
    InputClass inputs;
    std::shared_ptr<const tracert::Program> program;
  };
  struct IdleExecutor {
    tracert::SectionChoice section;
    std::shared_ptr<tracert::ThreadPool> pool;
    std::unique_ptr<tracert::Executor> executor;

    bool runs(const tracert::Program *program) const { return &executor->program() == program; }
  };
  struct SegmentState {
    tracert::RecentList<Variant> variants{tracert::kMaxProgramsPerSegment};
    /// Only of programs in `variants`.
    tracert::RecentList<IdleExecutor> idle{tracert::kMaxIdleExecutorsPerSegment};
  };
  /// What left the lists under the lock, to be dropped without it.
  struct Dropped {
    std::optional<Variant> variant;
    std::vector<IdleExecutor> executors;
  };
  Result<IdleExecutor> takeExecutor(size_t segment, std::span<const TensorView> inputs);
  void giveBack(size_t segment, IdleExecutor executor);
  /// The program for such inputs; null: there is none. `strides` become the class to compile for.
  std::shared_ptr<const tracert::Program> knownProgram(size_t segment, tracert::Target target,
                                                       std::span<const TensorView> inputs,
                                                       uint64_t &strides);
  /// Compiles one, unless another thread has meanwhile.
  Result<std::shared_ptr<const tracert::Program>> newProgram(size_t segment, tracert::Target target,
                                                             std::span<const TensorView> inputs,
                                                             uint64_t strides, Dropped &dropped);
  Result<std::shared_ptr<tracert::Program>> compile(const TraceSegment &segment,
                                                    tracert::Target target,
                                                    std::span<const TensorView> inputs,
                                                    uint64_t strides) const;

  TraceOptions options;
  /// Held while a segment is compiled; awaited without the interpreter's lock, before `mutex`.
  std::mutex compiling;
  mutable std::mutex mutex;
  std::vector<SegmentState> states;
  /// What executors that are gone have run.
  TracedFunction::Stats goneRuns;
  std::atomic<bool> compiled{false};
};

} // namespace tracec
