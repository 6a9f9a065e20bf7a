/// One loop nest over several views of the same shape, with as few axes as their strides allow.
///
///   LoopNest nest(shape, {&x.strides, &out.strides});
///   runNest(context, nest, {x.data, out.data}, nanosecondsPerElement,
///           [&](char *const *rows, int64_t count) { ... one inner row of `count` elements ... });
///
/// Axes of size 1 are dropped and neighbours merged, so views that are contiguous together become
/// one row. Strides are in bytes. The shape must not be empty (a size of 0); rank 0 is one element.
#pragma once

#include "tracert/Kernels.h"
#include "tracert/Limits.h"
#include "tracert/RunControl.h"
#include "tracert/ThreadPool.h"

#include <algorithm>
#include <initializer_list>
#include <span>

namespace tracert::kernels {

class LoopNest {
public:
  static constexpr size_t kMaxOperands = 4;

  LoopNest(const Dims &shape, std::initializer_list<const Dims *> strides)
      : LoopNest(shape, std::span(strides.begin(), strides.size())) {}
  LoopNest(const Dims &shape, std::span<const Dims *const> strides);

  /// Makes a long axis the innermost one when the innermost is short. Changes the order of visits.
  void preferLongRows();

  size_t operandCount() const { return operands; }
  size_t rank() const { return axisSizes.size(); }
  /// Outermost first; at least one.
  const Dims &sizes() const { return axisSizes; }
  const Dims &strides(size_t operand) const { return axisStrides[operand]; }
  int64_t rowLength() const { return axisSizes.back(); }
  int64_t rowStride(size_t operand) const { return axisStrides[operand].back(); }
  int64_t rowCount() const { return rows; }
  /// True when operand's rows are all there is and lie one after the other.
  bool isOneRow() const { return rows == 1; }

  /// Removes an axis, so that the caller can loop over it itself.
  void dropAxis(size_t axis);

  /// Calls body(pointers) for rows [begin, end) in C order.
  template <class Body>
  void forRows(std::span<char *const> base, int64_t begin, int64_t end, Body &&body) const {
    if (begin >= end) {
      return;
    }
    size_t outer = axisSizes.size() - 1;
    Dims index(outer, 0);
    char *pointers[kMaxOperands];
    for (size_t i = 0; i < operands; ++i) {
      pointers[i] = base[i];
    }
    int64_t rest = begin;
    for (size_t axis = outer; axis-- > 0 && rest > 0;) {
      index[axis] = rest % axisSizes[axis];
      rest /= axisSizes[axis];
      for (size_t i = 0; i < operands; ++i) {
        pointers[i] += index[axis] * axisStrides[i][axis];
      }
    }
    for (int64_t row = begin;;) {
      body(static_cast<char *const *>(pointers));
      if (++row == end) {
        return;
      }
      for (size_t axis = outer; axis-- > 0;) {
        bool hasNext = ++index[axis] < axisSizes[axis];
        int64_t steps = hasNext ? 1 : 1 - axisSizes[axis];
        for (size_t i = 0; i < operands; ++i) {
          pointers[i] += steps * axisStrides[i][axis];
        }
        if (hasNext) {
          break;
        }
        index[axis] = 0;
      }
    }
  }

private:
  size_t operands;
  int64_t rows = 1;
  Dims axisSizes;
  Dims axisStrides[kMaxOperands];
};

/// Whether the run is to end; what the kernel has made so far is of no use then.
inline bool shouldStop() {
  const RunControl *control = currentRunControl();
  return control && control->shouldStop();
}
/// The status to return when a loop may have ended early and what follows relies on its results.
inline Status stoppedStatus() {
  const RunControl *control = currentRunControl();
  return control ? control->status() : Status();
}

/// body(begin, end) over [0, count) on the calling thread, looking at the control in between.
template <class Body>
void runChecked(int64_t begin, int64_t end, double nanosecondsPerItem, Body &&body) {
  int64_t step = std::max<int64_t>(
      1, static_cast<int64_t>(kNanosecondsBetweenChecks / std::max(nanosecondsPerItem, 1e-3)));
  while (begin < end && !shouldStop()) {
    int64_t next = end - begin > step ? begin + step : end;
    body(begin, next);
    begin = next;
  }
}

/// Runs body(begin, end) over parts of [0, count), on the pool when the work is worth it.
template <class Body>
void runRanges(const KernelContext &context, int64_t count, double nanosecondsPerItem,
               Body &&body) {
  double total = static_cast<double>(count) * nanosecondsPerItem;
  bool isShared =
      context.pool && count > 1 && total >= static_cast<double>(kMinParallelNanoseconds);
  if (total > kNanosecondsBetweenChecks && currentRunControl()) {
    auto checked = [&](int64_t begin, int64_t end) {
      runChecked(begin, end, nanosecondsPerItem, body);
    };
    if (isShared) {
      context.pool->parallelFor(count, checked);
    } else {
      checked(0, count);
    }
    return;
  }
  if (isShared) {
    context.pool->parallelFor(count, body);
    return;
  }
  if (count > 0) {
    body(int64_t(0), count);
  }
}

/// Byte offset of the element at a flat C-order position.
inline int64_t offsetAt(int64_t position, const Dims &shape, const Dims &strides) {
  int64_t offset = 0;
  for (size_t axis = shape.size(); axis-- > 0;) {
    offset += position % shape[axis] * strides[axis];
    position /= shape[axis];
  }
  return offset;
}

/// Rows longer than this are cut, so that one long row can be shared by threads.
inline constexpr int64_t kRowPiece = 16384;

/// Calls body(pointers, count) for pieces of rows; each element is visited once. `data` has a first
/// element for each operand of the nest (more are ignored).
template <class Body>
void runNest(const KernelContext &context, const LoopNest &nest, std::initializer_list<void *> data,
             double nanosecondsPerElement, Body &&body) {
  char *base[LoopNest::kMaxOperands];
  size_t operands = nest.operandCount();
  for (size_t i = 0; i < operands; ++i) {
    base[i] = static_cast<char *>(data.begin()[i]);
  }
  std::span<char *const> bases(base, operands);
  int64_t length = nest.rowLength();
  double total =
      static_cast<double>(nest.rowCount()) * static_cast<double>(length) * nanosecondsPerElement;
  bool isChecked = total > kNanosecondsBetweenChecks && currentRunControl();
  bool isShared = context.pool && total >= static_cast<double>(kMinParallelNanoseconds);
  if (!isShared && !isChecked) {
    nest.forRows(bases, 0, nest.rowCount(), [&](char *const *rows) { body(rows, length); });
    return;
  }
  int64_t pieces = length / kRowPiece + (length % kRowPiece != 0);
  double pieceCost = static_cast<double>(std::min(length, kRowPiece)) * nanosecondsPerElement;
  runRanges(context, nest.rowCount() * pieces, pieceCost, [&](int64_t begin, int64_t end) {
    // Whole rows in the middle of a range are taken piece by piece too: the cost is small.
    for (int64_t item = begin; item < end;) {
      int64_t row = item / pieces;
      int64_t rowEnd = pieces == 1 ? end : row + 1;
      int64_t firstPiece = pieces == 1 ? 0 : item % pieces;
      int64_t lastPiece = pieces == 1 ? 1 : std::min(pieces, firstPiece + (end - item));
      nest.forRows(bases, row, rowEnd, [&](char *const *rows) {
        char *shifted[LoopNest::kMaxOperands];
        int64_t from = firstPiece * kRowPiece;
        for (size_t i = 0; i < operands; ++i) {
          shifted[i] = rows[i] + from * nest.rowStride(i);
        }
        body(static_cast<char *const *>(shifted), std::min(length, lastPiece * kRowPiece) - from);
      });
      item = pieces == 1 ? end : item + (lastPiece - firstPiece);
    }
  });
}

} // namespace tracert::kernels
