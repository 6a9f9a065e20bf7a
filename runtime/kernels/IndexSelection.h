/// An advanced index made ready for a kernel: masks turned into positions, indices checked, and one
/// byte offset per position of the broadcast index arrays.
///
///   IndexSelection selection(context, items, operand, extras);
///   TRACERT_TRY(selection.prepare());      // shapes, counts
///   TRACERT_TRY(selection.computeOffsets(/*isWrite=*/false));
///
/// The selected element for result position (before, j, after) lies at base + before * strides +
/// offsets[j] + after * strides, j the flat position in the axes that index arrays span.
#pragma once

#include "kernels/Families.h"
#include "kernels/Scratch.h"

#include <memory>
#include <vector>

namespace tracert::kernels {

/// An element of an index array; an unsigned one beyond int64 is beyond every axis, too.
template <class T> int64_t toIndex(T element) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return static_cast<int64_t>(std::min(element, uint64_t(INT64_MAX)));
  } else {
    return element;
  }
}

class IndexSelection {
public:
  /// An element that an unchecked write drops.
  static constexpr int64_t kDropped = kDroppedOffset;

  /// `extras` are the item operands, masks as bool views. All must outlive the selection.
  IndexSelection(const KernelContext &context, const IndexItems &items, const TensorView &operand,
                 Views extras)
      : context(context), items(items), operand(operand), extras(extras) {}

  /// Turns masks into position arrays and finds the access.
  Status prepare();
  /// Checks every index (or, in unchecked mode, clamps or drops) and computes the offsets.
  Status computeOffsets(bool isWrite);
  /// IndexOutOfRange for the first bad index in C order, if there is one.
  Status findOutOfRange() const;

  const IndexAccess &access() const { return found; }
  /// How many positions the index arrays span together.
  int64_t positionCount() const { return positions; }
  const int64_t *offsets() const { return offsetMemory; }

private:
  /// `first` is the first axis of the operand that the mask covers.
  Status addMask(const IndexItem &item, const TensorView &mask, size_t first);
  bool mergesAxes(size_t first, size_t last) const;
  int64_t *allocate(int64_t count);
  Status addOffsets(const IndexAccess::IndexedAxis &indexed, bool isFirst, bool isWrite,
                    bool &hasBad);
  Status findOutOfRangeOfEmpty() const;

  const KernelContext &context;
  const IndexItems &items;
  TensorView operand;
  Views extras;
  /// The items after masks have become arrays; merged axes make the operand's rank smaller.
  IndexItems resolved;
  TensorView merged;
  std::vector<TensorView> resolvedExtras;
  std::vector<int64_t> rank0Counts;
  /// For each axis of `merged`, the (first) axis of the operand.
  Dims originalAxes;
  IndexAccess found;
  int64_t positions = 1;
  int64_t *offsetMemory = nullptr;
  std::vector<std::unique_ptr<Scratch>> memory;
};

} // namespace tracert::kernels
