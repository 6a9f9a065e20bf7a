/// One call of a traced function: the transform in the Trace slot, as a recorder or as a replayer.
#pragma once

#include "Eager/Transforms/CompiledRecord.h"

#include <unordered_map>

namespace tracec {

class TraceSession : public Transform {
public:
  explicit TraceSession(const CallArguments &arguments);
  uint64_t serial() const { return ownSerial; }
  /// A view argument is an input of its own until its cell is written.
  Result<Value> readView(const Cell &cell, const void *path, Next next) override;
  Status writeCell(Cell &cell, Value value, Next next) override;
  /// An excluded region begins here.
  virtual Status beginExcluded() = 0;
  virtual Status finish(std::span<const Tensor> results) = 0;
  /// The call ended by an exception: what was not committed is dropped. Returns the data error that
  /// eager would have met before, if it is to be found.
  enum class FindError : uint8_t { No, Yes };
  virtual Status abandon(FindError findError) = 0;
  virtual Result<Value> onConstant(ConstantTag tag, const PythonScalar &scalar, Value value) = 0;
  Result<Value> onHostData(Value value, Next next) final;
  Result<Value> onScalar(const PythonScalar &scalar, Value value, Next next) final;
  Result<std::optional<int64_t>> fixedSize(const Value &value, size_t axis, Next next) override;
  Status expectFits(const Value &size, DType dtype, Next next) override;

protected:
  struct ViewArgument {
    const Cell *cell;
    const void *path;
    Value value;
  };
  /// The slot-visible tensors of the call, in order, and the cells behind them.
  const CallArguments &arguments;
  std::vector<ViewArgument> viewArguments;
  const uint64_t ownSerial;

  bool isOwn(const Cell &cell) const { return cell.createdBy == ownSerial; }
  virtual const TraceRecord &currentRecord() const = 0;
  virtual Status storeCell(Cell &cell, Value value, Next next) = 0;
  /// Before each write, of cells made in the call, too.
  virtual void onWrite(const Cell & /*cell*/) {}
};

/// Runs the call eagerly and writes the record.
class TraceRecorder final : public TraceSession {
public:
  /// `commits`: false for a recording that must leave no trace outside.
  TraceRecorder(const CallArguments &arguments, CallSignature signature, bool commits = true);

  Result<Values> apply(const OpCall &call, std::span<const Value> operands, Next next) override;
  Result<Value> readCell(Cell &cell, Next next) override;
  Result<Value> onHostRead(const Value &value, Next next) override;
  Result<std::optional<int64_t>> fixedSize(const Value &value, size_t axis, Next next) override;
  Result<bool> decideIsOne(const Value &value, size_t axis, Next next) override;
  Status expectSameShape(const Value &old, const Value &now, Next next) override;
  Status expectFits(const Value &size, DType dtype, Next next) override;
  void onViewOrCopy(const Value &part, const Cell &base, const Tensor &made, Next next) override;
  Result<Value> onConstant(ConstantTag tag, const PythonScalar &scalar, Value value) override;
  Status beginExcluded() override;
  Status finish(std::span<const Tensor> results) override;
  Status abandon(FindError) override { return Status(); }
  TraceRecord takeRecord() { return std::move(record); }

private:
  Status storeCell(Cell &cell, Value value, Next next) override;
  void onWrite(const Cell &cell) override;
  const TraceRecord &currentRecord() const override { return record; }
  uint32_t addGuard(OpCall call, std::vector<VarId> operands);
  void guardOnOne(const Value &value, size_t axis, bool isOne);
  /// The guard on the reshape `step` being the view or copy that it is, if it can be the other.
  std::optional<TraceGuard> viewGuard(const OpStep &step) const;
  VarId newVar(const TensorType &type, uint32_t slot, uint64_t alwaysOnes);
  VarId newSlot(TraceSlot slot, const Value &value);
  void rememberInput(const TraceSlot &slot, const Value &value);
  /// The number of `value`, which becomes a loose slot if it is not known.
  VarId varOf(const Value &value);
  void markOwn(const Value &value, VarId var);
  void endSegment(bool isExcluded);
  /// Lets the cells have what was written since the last commit.
  void commit();

  static constexpr int64_t kNoStep = -1;
  const bool commits;
  TraceRecord record;
  /// By var: the op's step; kNoStep for constants and slots.
  std::vector<int64_t> madeAtStep;
  /// By var: keeps results alive so that the ones Python still holds are seen at a segment's end.
  Values held;
  /// Bytes of the values in record.recordedInputs.
  size_t keptBytes = 0;
  /// Values from outside, which live as long as the call: another must not get the address.
  struct External {
    VarId var;
    Value value;
  };
  std::unordered_map<const ValueImpl *, External> externals;
  std::unordered_map<const Cell *, uint32_t> slotOfCell;
  /// The last value written, and the one that waits for a commit.
  std::unordered_map<const Cell *, Value> written;
  /// The op of each var; ~0 for slots and constants.
  std::vector<uint32_t> producerOf;
  /// By var: a number that a replay has as soon as the op is called; a shape that it has not.
  std::vector<bool> isKnownSize;
  std::vector<bool> hangsOnData;
  void noteSizes(const OpStep &step, VarId result);
  /// By cell, guards on a view or copy that matter once the cell is written: of the base while a
  /// view of it lives, or of either after a copy.
  struct WatchedView {
    uint32_t guard;
    bool isView;
    std::weak_ptr<const Path> view;
  };
  std::unordered_multimap<const Cell *, WatchedView> watched;
  std::unordered_map<Cell *, Value> pending;
  /// Keeps the written cells alive.
  std::vector<CellRef> writtenOrder;
};

/// Compares the call with the record and runs the segments' programs.
class TraceReplayer final : public TraceSession, public PlaceholderSource {
public:
  TraceReplayer(const CallArguments &arguments, std::shared_ptr<CompiledRecord> compiled);

  Result<Values> apply(const OpCall &call, std::span<const Value> operands, Next next) override;
  Result<Value> readCell(Cell &cell, Next next) override;
  Result<Value> onHostRead(const Value &value, Next next) override;
  Result<bool> decideIsOne(const Value &value, size_t axis, Next next) override;
  Status expectFits(const Value &size, DType dtype, Next next) override;
  Result<Value> onConstant(ConstantTag tag, const PythonScalar &scalar, Value value) override;
  Status beginExcluded() override;
  Status finish(std::span<const Tensor> results) override;
  Status abandon(FindError findError) override;

  Status fill(ValueImpl &value) override;
  void retain() override { ++references; }
  void release() override {
    if (--references == 0) {
      delete this;
    }
  }

private:
  ~TraceReplayer() override = default;
  const TraceRecord &currentRecord() const override { return record; }
  Status storeCell(Cell &cell, Value value, Next next) override;
  bool isInternal(VarId var) const { return record.slotOfVar[var] == ~0u; }
  Status checkOp(const OpStep &expected, uint32_t number, const OpCall &call,
                 std::span<const Value> operands);
  Status checkOperand(const OpStep &expected, uint32_t number, size_t position,
                      const Value &operand);
  /// Remembers a reshape that is a copy now and was a view, or the other way round: the likely
  /// reason of a later mismatch.
  void noteOtherWay(const OpStep &expected, bool isAlias);
  Status checkConstants();
  /// The call ends here: all that was recorded has come.
  Status checkEnd();
  /// Where a result lies: logical strides without data.
  struct Placement {
    TensorView logical;
    bool isAlias;
  };
  bool isSizeNow(const OpCall &call, std::span<const Value> operands) const;
  Result<Placement> placeView(const OpStep &expected, const OpCall &call,
                              std::span<const Value> operands, const TensorType &type);
  /// Makes `value` the current one of `var`.
  Value adopt(Value value, VarId var);
  Result<Values> makeResults(const OpStep &expected, const OpCall &call,
                             std::span<const Value> operands);
  Status fail(const char *code, const char *reason, uint32_t op, const tracert::SourceLoc &then,
              const std::string &detail, const std::string &advice);
  /// Ends the call with the error that came first.
  Status failed(Status status);
  Status end(Status status);
  Status wordFailure(uint32_t step, const Status &status);
  /// The first op at or after the current step; the number of ops when there is none.
  uint32_t nextOp() const;
  /// Runs the segments that end at or before the current step.
  Status runSegments();
  /// Eager's error: the ops of the current segment before step `end` run one by one on the
  /// segment's immutable inputs. Ok when none fails; `failedStep` is the step that does.
  Status firstError(uint32_t end, uint32_t *failedStep = nullptr);
  /// A decision on a size that no guard of the segments covers.
  Status unguarded(const std::string &what);
  /// After an excluded region, which may have written cells that the trace has not read yet.
  Status rereadCaptures();
  void commit();
  void dropPlaceholders(const Status &why);

  std::shared_ptr<CompiledRecord> compiled;
  const TraceRecord &record;
  /// The current value of each var of the record.
  Values values;
  std::unordered_map<const Cell *, std::pair<CellRef, Value>> overlay;
  uint32_t position = 0;
  size_t segmentsRun = 0;
  bool sawUnexpectedConstant = false;
  /// A constant that is not the recorded one; reported unless the next op differs.
  struct WrongConstant {
    tracert::SourceLoc then;
    std::string difference;
    bool isOfOtherType;
  };
  std::optional<WrongConstant> wrongConstant;
  std::string otherWay;
  bool mustRereadCaptures = false;
  bool isOver = false;
  Status failure;
  std::atomic<int64_t> references{1};
};

/// Counts calls; never 0.
uint64_t nextTraceSerial();

} // namespace tracec
