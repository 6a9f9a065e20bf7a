/// Tensor: what the user holds. A cell and an index path; a cell holds one immutable Value.
///
///   Tensor x = Tensor::fromValue(v);  Tensor row = *x.index(items, {});  row.assign(...);
///
/// A write through a view dispatches set ops along the path and puts the new Value in the cell, so
/// the base and every view of it see it. A view dispatches its path when it is created and again
/// at its first read after a write to its cell.
#pragma once

#include "tracec/Dispatch.h"

namespace tracec {

/// Shared by a tensor and its views. Not thread safe.
class Cell {
public:
  void retain() { ++count; }
  void release() {
    if (--count == 0) {
      delete this;
    }
  }
  /// The committed value; use readCell / writeCell, which let transforms see their own.
  Value value;
  /// The trace that created the cell (its serial), 0 when none: its writes need no commit.
  uint64_t createdBy = 0;
  bool isConst = false;
  /// Views with a cached value, so that a write can drop the caches and run in place.
  class Tensor *firstCachedView = nullptr;
  /// Made for the first that watches the cell; its pointer becomes null with the cell.
  std::shared_ptr<Cell *> watch;

  explicit Cell(Value initial) : value(std::move(initial)) {}
  ~Cell() {
    if (watch) {
      *watch = nullptr;
    }
  }

private:
  int64_t count = 1;
};

class CellRef {
public:
  CellRef() = default;
  explicit CellRef(Cell *adopted) : cell(adopted) {}
  CellRef(const CellRef &other) : cell(other.cell) {
    if (cell) {
      cell->retain();
    }
  }
  CellRef(CellRef &&other) noexcept : cell(other.cell) { other.cell = nullptr; }
  CellRef &operator=(CellRef other) noexcept {
    std::swap(cell, other.cell);
    return *this;
  }
  ~CellRef() {
    if (cell) {
      cell->release();
    }
  }
  Cell *operator->() const { return cell; }
  Cell *get() const { return cell; }
  explicit operator bool() const { return cell != nullptr; }

private:
  Cell *cell = nullptr;
};

/// One step of an index path: a view op (subtensor, permute, reshape, broadcast_to) and the values
/// of its size operands, which keep the bounds read when the view was made.
struct PathStep {
  OpCall call;
  Values extras;
  /// broadcast_to, and what derives from it, cannot be written through.
  bool isReadOnly = false;
};
/// Shared between a view and its own views.
struct Path {
  std::shared_ptr<const Path> parent;
  PathStep step;
};

class Tensor {
public:
  Tensor() = default;
  /// A new cell holding `value`.
  static Tensor fromValue(Value value);
  static Tensor fromCell(CellRef cell);
  Tensor(const Tensor &other);
  Tensor(Tensor &&other) noexcept;
  Tensor &operator=(const Tensor &other);
  Tensor &operator=(Tensor &&other) noexcept;
  ~Tensor();

  bool isDefined() const { return static_cast<bool>(cell); }
  bool isView() const { return path != nullptr; }
  const CellRef &cellRef() const { return cell; }
  /// Identity of the index path; null for a tensor that is no view.
  const void *pathIdentity() const { return path.get(); }
  /// Ends with the last view that derives from this one.
  std::weak_ptr<const Path> pathLifetime() const { return path; }

  /// The current value, through the transforms.
  Result<Value> read() const;
  /// Type without data. Shape dims may be kUnknownDim inside a replay.
  Result<TensorType> type() const;
  /// The value made Ready for the host (a host read).
  Result<Value> readForHost() const;

  /// A view of this tensor. `call` is a kTraitView op.
  Result<Tensor> view(const OpCall &call, std::span<const Value> extras) const;
  /// Replaces the whole tensor by `value` of exactly this type (through the path for a view).
  Status assign(Value value);
  /// x[items] = value for any index; `value` is cast and broadcast by NumPy's setitem rule.
  Status setItem(const std::shared_ptr<const tracert::IndexItems> &items, Value value,
                 std::span<const Value> extras);
  /// Becomes the result of `set`, a kTraitSet op, of itself, `value` cast to its dtype and the
  /// operands of the index; in place where nothing else sees the memory.
  Status setBy(const OpCall &set, Value value, std::span<const Value> extras);
  /// Makes this handle mean what `other` means.
  void reset(const Tensor &other);
  /// False for const tensors and views made by broadcast_to.
  bool isWritable() const;

private:
  Status checkWritable() const;
  Status writeThroughPath(Value part);
  /// The set without transforms: in place when nothing else sees the memory. `done` stays false
  /// when the general way must be taken.
  Status setInPlace(const OpCall &call, std::span<const Value> rest, bool *done);
  void remember(const ValueImpl *base, uint64_t serial, Value value) const;
  void dropCache() const;
  /// Takes the handle out of the list of `owner`, the cell that it had when it cached.
  void forgetCache(Cell *owner) const;
  friend Status writeCell(const CellRef &, Value);
  friend class WeakTensor;

  CellRef cell;
  std::shared_ptr<const Path> path;
  /// The path applied to `cachedBase`; valid while the cell's visible value is cachedBase and the
  /// same trace (or none) is active.
  mutable Value cached;
  mutable const ValueImpl *cachedBase = nullptr;
  mutable uint64_t cachedSerial = 0;
  mutable Tensor *nextCachedView = nullptr;
  mutable Tensor *previousCachedView = nullptr;
};

/// Finds a tensor again as long as somebody else holds its cell. Not thread safe, as cells are.
class WeakTensor {
public:
  WeakTensor() = default;
  explicit WeakTensor(const Tensor &tensor);
  /// The tensor that is no view of `cell`.
  explicit WeakTensor(Cell &cell);
  /// Undefined when the cell is gone.
  Tensor lock() const;

private:
  std::shared_ptr<Cell *> watch;
  std::shared_ptr<const Path> path;
};

/// Reads and writes through the active trace, if any.
Result<Value> readCell(Cell &cell);
Status writeCell(const CellRef &cell, Value value);

} // namespace tracec
