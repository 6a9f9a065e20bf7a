/// Executor: runs a Program. Replay and deployment both go through it.
///
///   TRACERT_ASSIGN(auto executor, Executor::create(program, options));
///   ExecutorInputs: one TensorView per Program::inputs entry (state inputs may be left out)
///   TRACERT_TRY(executor->run(inputs, outputs));
///
/// One executor per thread; any number may share a Program. A plan (types, arena offsets, bound
/// kernel arguments) is made for each new set of input shapes and kept; a new size never compiles.
/// Inputs may have any strides. Outputs are owned by the caller: fresh buffers from the allocator,
/// contiguous, never aliasing inputs, arena or each other.
///
/// On a device (ExecutorOptions::device) constants, intermediate values and outputs lie in its
/// memory; an input may lie there or on the host, from where each run copies it. Sizes, counts and
/// indices that decide about a plan are copied out, and an op without a kernel in the section is
/// done by the host on copies. Stats count all of it.
#pragma once

#include "tracert/Allocator.h"
#include "tracert/Export.h"
#include "tracert/Program.h"

#include <functional>

namespace tracert {

struct SectionChoice {
  enum Kind : uint8_t { Best, Portable, Native } kind = Best;
  Target target = kX86V4; // for Native
};

struct ExecutorOptions {
  SectionChoice section = {};
  /// Null: processThreadPool() / processAllocator().
  ThreadPool *pool = nullptr;
  Allocator *allocator = nullptr;
  /// Bytes that the executor may hold: state, intermediate values, temporaries of kernels, plans,
  /// the outputs being made. ResourceExhausted before more is allocated. 0: no limit.
  uint64_t memoryLimit = 0;
  /// Null: the host. Else a registered device, on which `allocator` must allocate. The memory limit
  /// then holds for its memory and for copies on the host, each by itself.
  Device *device = nullptr;
};

/// An output: type and owned memory.
struct OwnedTensor {
  BufferRef buffer;
  TensorView view;
};

/// A failed run: the op it failed in, for locations.
struct RunFailure {
  Status status;
  OpIndex op = kNoIndex;
};

class TRACERT_API Executor {
public:
  /// Unsupported when the section asked for is absent or the device cannot run it.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<const Program> program,
                                                  const ExecutorOptions &options);
  virtual ~Executor() = default;
  /// One view per Program::inputs entry, aligned to its element size. State inputs with an initial
  /// value may be left out (all of them, or one by giving null data): the executor then uses and
  /// updates its own copy. `outputs` is resized, state outputs included. On error nothing visible
  /// has changed (state keeps its old values) and the message ends with the op and its source line,
  /// e.g. "index 7 is out of range for axis 0 of size 5 (op #3 'indexing_multi_axis_vec' at
  /// model.py:12)".
  Status run(std::span<const TensorView> inputs, std::vector<OwnedTensor> &outputs) {
    TRACERT_TRY(compute(inputs, outputs));
    commit(outputs);
    return {};
  }
  /// The two halves of run(): results without new state, so that the caller may still refuse ...
  virtual Status compute(std::span<const TensorView> inputs, std::vector<OwnedTensor> &outputs) = 0;
  /// ... and the state outputs of the last compute() made the state. Cannot fail.
  virtual void commit(std::span<const OwnedTensor> outputs) = 0;
  /// The op that the last failed run stopped at, or kNoIndex.
  virtual OpIndex failedOp() const = 0;
  /// Runs op by op with library kernels and gives copies of all values, indexed by ValueId, for
  /// bisecting. Slow; leaves session state alone.
  virtual Status runKeepingValues(std::span<const TensorView> inputs,
                                  std::vector<OwnedTensor> &values) = 0;
  struct Stats {
    /// Runs that succeeded.
    uint64_t runs = 0;
    uint64_t plans = 0;
    /// Compiled kernels called; launches whose ops ran with library kernels instead; library
    /// kernels called, those of replaced launches included (views and sizes call none).
    uint64_t launchesRun = 0;
    uint64_t launchesReplacedByOps = 0;
    uint64_t libraryKernelsRun = 0;
    /// Calls that copied to a device, from it, and within it; 0 on the host.
    uint64_t copiesIn = 0;
    uint64_t copiesOut = 0;
    uint64_t copiesWithin = 0;
    /// Level of the section that runs.
    Target section = kPortable;
    size_t arenaBytes = 0;
  };
  virtual Stats stats() const = 0;
  virtual const Program &program() const = 0;
  /// What the executor allocates from, for memory that counts as the run's.
  virtual Allocator &allocator() = 0;
};

/// Looks at a complete file under its temporary name; an error keeps it from its place.
using FileCheck = std::function<Status(const std::string &temporaryPath)>;

/// File output and input (schema/program.fbs). Written to a temporary name, synced, checked,
/// renamed.
struct WriteOptions {
  bool keepLocs = true;
  bool keepTestVectors = true;
  FileCheck check = {};
  /// Write and check only; nothing stays.
  bool isTrial = false;
};
/// "1.0": the container version of the files that this build writes.
TRACERT_API std::string writtenFormatVersion();
TRACERT_API Status writeProgram(const Program &program, const std::string &path,
                                const WriteOptions &options);
TRACERT_API Result<std::string> serializeProgram(const Program &program,
                                                 const WriteOptions &options);

struct LoadOptions {
  bool portableOnly = false;
  /// Also hash the weights (TRT_VERIFY_ALL).
  bool verifyAll = false;
  /// Work on a copy of the file or the bytes (TRT_LOAD_COPY).
  bool copy = false;
  /// Bytes that the load may allocate; ResourceExhausted beyond. 0: no limit of its own.
  uint64_t memoryLimit = 0;
};
/// The file is mapped: it must not be changed in place while the program lives, unless copied.
TRACERT_API Result<std::shared_ptr<const Program>> loadProgram(const std::string &path,
                                                               const LoadOptions &o);
/// The bytes must outlive the program; pass `owner` to keep them alive.
TRACERT_API Result<std::shared_ptr<const Program>> loadProgram(std::span<const uint8_t> bytes,
                                                               std::shared_ptr<const void> owner,
                                                               const LoadOptions &options);

} // namespace tracert
