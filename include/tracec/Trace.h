/// Tracing: records a Python function's ops, and replays them checked against the record.
///
///   auto trace = TracedFunction::create(options);
///   CallScope scope(trace, arguments);   // begins recording or a checked replay on this thread
///   ... Python runs the body ...
///   TRACERT_TRY(scope.finish(results));  // runs the program, commits writes
///
/// Leaving a scope without finish() (an exception in the body) commits nothing and leaves the trace
/// usable. Per thread; one trace may be called from several threads, one call at a time each.
#pragma once

#include "tracec/Tensor.h"
#include "tracec/TraceGraph.h"
#include "tracert/Executor.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace tracec {

/// What TraceError carries to Python beside its message.
struct TraceMismatch {
  /// "TC0201", ...
  std::string code;
  /// "operator", "attribute", "input count", "operand identity", "external", "dtype", "device",
  /// "constant", "too many ops", "too few ops", "unrecorded read", "argument structure",
  /// "excluded region".
  std::string reason;
  uint32_t opIndex = 0;
  tracert::SourceLoc thenLoc;
  tracert::SourceLoc nowLoc;
};
/// Of the last StatusCode::TraceMismatch on this thread.
const TraceMismatch &lastTraceMismatch();

struct TraceOptions {
  std::string name = "main";
  int optLevel = 2;
};

/// The function's arguments, flattened: the tensors, and a key of everything else (structure,
/// Python values) that must not change between calls.
struct CallArguments {
  std::vector<Tensor> tensors;
  /// "x", "cfg[0].weight", ... one per tensor.
  std::vector<std::string> names;
  std::string structure;
};

/// A call of the function with other arguments, run eagerly by the caller. Tensors hold copies.
struct TestCall {
  /// For messages and the file: "test_inputs[0]".
  std::string origin;
  /// As in CallArguments: before the call, and after it (a function may write them).
  std::vector<Tensor> arguments;
  std::vector<Tensor> argumentsAfter;
  std::vector<Tensor> results;
  /// Of TracedFunction::writtenCaptures(), after the call.
  std::vector<Tensor> capturesAfter;
};

struct DumpOptions {
  std::string path;
  std::vector<std::string> inputNames;  // empty: the argument names
  std::vector<std::string> outputNames; // empty: output0, output1, ...
  std::vector<tracert::Target> targets = {tracert::kX86V3, tracert::kX86V4};
  bool keepLocs = true;
  std::string userInfo; // JSON
  std::vector<tracert::SymbolDef> symbols;
  /// (input, axis) -> symbol.
  struct DynamicDim {
    uint32_t input;
    uint32_t axis;
    uint32_t symbol;
  };
  std::vector<DynamicDim> dynamicDims;
  /// Calls whose results are known: they become the test vectors. Empty: the recorded call.
  std::vector<TestCall> testCalls;
  /// false: vectors are made and checked, and then left out of the file.
  bool keepsTestVectors = true;
  /// Looks at each complete file before it takes its place; with keepsTestVectors = false first at
  /// a trial with the vectors.
  tracert::FileCheck check = {};
};

class TracedFunction {
public:
  enum class State : uint8_t { Untraced, Traced, Compiled };
  static std::shared_ptr<TracedFunction> create(TraceOptions options);
  virtual ~TracedFunction() = default;
  virtual State state() const = 0;
  virtual int optLevel() const = 0;
  /// The recorded graph of the latest specialisation: all segments' ops as one graph.
  virtual Result<TraceGraph> graph() const = 0;
  /// Human-readable: specialisations, segments, captures, compiled kernels, why a call missed.
  virtual std::string explain() const = 0;
  /// Compiles for all targets, adds test vectors from the recorded eager call and writes the file.
  /// InvalidArgument when the trace has host reads or excluded regions, naming their lines.
  virtual Status dump(const DumpOptions &options) const = 0;
  /// Whether the latest specialisation was recorded with arguments that were one tensor, or views
  /// that the function views or writes: a file's inputs share nothing, so its program is another.
  virtual bool sharesArguments() const = 0;
  /// Copies of that call's arguments, which share nothing, to record the function again with.
  /// InvalidArgument when one is gone.
  virtual Result<std::vector<Tensor>> recordedArguments() const = 0;
  /// Captured tensors that the latest specialisation writes: a dump's session state, in order.
  virtual Result<std::vector<Tensor>> writtenCaptures() const = 0;
  struct Stats {
    size_t ops = 0;
    size_t segments = 0;
    size_t kernels = 0;
    size_t specialisations = 0;
    size_t arenaBytes = 0;
    /// Runs of segments.
    uint64_t replays = 0;
    /// Of those runs, as in tracert::Executor::Stats.
    uint64_t launches = 0;
    uint64_t launchesReplaced = 0;
    uint64_t libraryKernels = 0;
    /// `replays` by the level of the section that ran.
    std::array<uint64_t, std::size(tracert::kTargets)> runsOnTarget{};
    Stats &operator+=(const Stats &other);
  };
  virtual Stats stats() const = 0;
};

/// One call of a traced function on this thread. Nested calls (a trace inside a trace) are inlined:
/// begin() of an inner scope does nothing and the outer one records.
class CallScope {
public:
  enum class Purpose : uint8_t {
    /// Replays the record that fits, or records.
    Call,
    /// Records for dump(): nothing is committed, and calls do not see the record.
    RecordForDump,
  };
  explicit CallScope(std::shared_ptr<TracedFunction> function);
  ~CallScope(); // abandons the call unless finished
  /// Starts recording or a checked replay. TraceMismatch "argument structure"/"dtype" on a bad
  /// call.
  Status begin(const CallArguments &arguments, Purpose purpose = Purpose::Call);
  /// The body returned `results` (the tensors in what it returned; must be given, so that they are
  /// outputs). Runs what is pending and commits.
  Status finish(std::span<const Tensor> results);
  /// After finish(): the call was recorded with arguments that share memory; see
  /// TracedFunction::sharesArguments().
  bool recordedSharedArguments() const;
  /// The body ended by an exception: commits nothing. Returns the data error of an op that came
  /// before, which eager code would have met first.
  Status abandon();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

struct ExcludedRegion;

/// `with tc.exclude_from_trace()`: ops inside run eagerly; values that leave re-enter as external.
/// A region belongs to the traced call and the thread in which it began. It lasts until all of its
/// scopes are left, in any order, and at the longest until the call ends.
class ExcludeScope {
public:
  ExcludeScope() = default;
  ExcludeScope(ExcludeScope &&) = default;
  ExcludeScope &operator=(ExcludeScope &&) = default;
  /// Leaves; in another thread the region stays until its call ends.
  ~ExcludeScope();
  /// Runs what is pending, so that eager code can read it. Outside of traced calls nothing happens.
  Status enter();
  /// TraceMismatch "excluded region" when it is not entered, or entered in another thread whose
  /// call is still in progress.
  Status leave();
  bool isOfThisThread() const;

private:
  /// Null outside of traced calls.
  std::shared_ptr<ExcludedRegion> region;
  /// Of the thread that entered; none when not entered.
  std::thread::id thread;
};

} // namespace tracec
