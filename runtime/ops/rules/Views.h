/// View rules as far as strides go: how the result of a view lies in the memory of its operand.
///
///   std::optional<Dims> strides = reshapedStrides(math, {from.shape, from.strides}, shape, bytes);
///
/// Strides are bytes. With symbols they are expressions too, and those that hang on a comparison
/// which symbols cannot decide are unknown.
#pragma once

#include "generated/OpAttrs.h"
#include "ops/rules/DimMath.h"

namespace tracert::rules {

template <class M> struct Lie {
  const typename M::Shape &shape;
  const typename M::Shape &strides;
};

template <class M>
typename M::Shape orderedStrides(const M &math, const typename M::Shape &shape,
                                 int64_t elementBytes) {
  typename M::Shape strides(shape.size(), math.number(0));
  typename M::Dim step = math.number(elementBytes);
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    // An empty tensor's strides lead nowhere, but they are never 0.
    bool isEmpty = math.equal(shape[i], math.number(0)) == Truth::Yes;
    step = isEmpty ? step : math.times(step, shape[i]);
  }
  return strides;
}

/// Strides of `from` repeated to `shape`, which it broadcasts to.
template <class M>
typename M::Shape repeatedStrides(const M &math, const Lie<M> &from,
                                  const typename M::Shape &shape) {
  typename M::Shape strides(shape.size(), math.number(0));
  size_t added = shape.size() - from.shape.size();
  for (size_t axis = 0; axis < from.shape.size(); ++axis) {
    Truth isKept = math.equal(from.shape[axis], shape[axis + added]);
    if (isKept != Truth::No) {
      strides[axis + added] = isKept == Truth::Yes ? from.strides[axis] : math.unknown();
    }
  }
  return strides;
}

/// Strides of a view whose axes are steps along axes of its operand: pairs of an operand's axis (or
/// -1 for a new one) and a step.
template <class M>
typename M::Shape steppedStrides(const M &math, const typename M::Shape &strides,
                                 std::span<const int64_t> axesAndSteps) {
  typename M::Shape result;
  for (size_t i = 0; i < axesAndSteps.size(); i += 2) {
    int64_t axis = axesAndSteps[i];
    result.push_back(axis < 0
                         ? math.number(0)
                         : math.stepped(strides[static_cast<size_t>(axis)], axesAndSteps[i + 1]));
  }
  return result;
}

/// Matches runs of old axes with the runs of new ones that hold as many elements; each must be
/// walkable with one stride.
template <class M> class ReshapeWalk {
public:
  ReshapeWalk(const M &math, const Lie<M> &from, const typename M::Shape &shape)
      : math(math), shape(shape), strides(shape.size(), math.unknown()) {
    for (size_t axis = 0; axis < from.shape.size(); ++axis) {
      if (math.equal(from.shape[axis], math.number(1)) != Truth::Yes) {
        oldShape.push_back(from.shape[axis]);
        oldStrides.push_back(from.strides[axis]);
      }
    }
  }

  std::optional<typename M::Shape> run(int64_t elementBytes) {
    while (oldFirst < oldShape.size() && newFirst < shape.size()) {
      Truth isMatched = matchRun();
      if (isMatched == Truth::Undecided) {
        return typename M::Shape(shape.size(), math.unknown());
      }
      if (isMatched == Truth::No) {
        return std::nullopt;
      }
    }
    typename M::Dim last = newFirst > 0 ? strides[newFirst - 1] : math.number(elementBytes);
    for (size_t axis = newFirst; axis < shape.size(); ++axis) {
      strides[axis] = last;
    }
    return std::move(strides);
  }

private:
  Truth matchRun() {
    size_t oldLast = oldFirst;
    size_t newLast = newFirst;
    typename M::Dim oldCount = oldShape[oldLast];
    typename M::Dim newCount = shape[newLast];
    while (math.equal(oldCount, newCount) != Truth::Yes) {
      Truth isNewBelow = math.isBelow(newCount, oldCount);
      bool isNewNext = isNewBelow == Truth::Yes;
      bool atEnd = isNewNext ? newLast + 1 == shape.size() : oldLast + 1 == oldShape.size();
      if (isNewBelow == Truth::Undecided || atEnd) {
        return Truth::Undecided;
      }
      if (isNewNext) {
        newCount = math.times(newCount, shape[++newLast]);
      } else {
        oldCount = math.times(oldCount, oldShape[++oldLast]);
      }
    }
    Truth isOneRun = Truth::Yes;
    for (size_t axis = oldFirst; axis < oldLast; ++axis) {
      typename M::Dim inner = math.times(oldShape[axis + 1], oldStrides[axis + 1]);
      isOneRun = both(isOneRun, math.isSameStride(oldStrides[axis], inner));
    }
    strides[newLast] = oldStrides[oldLast];
    for (size_t axis = newLast; axis > newFirst; --axis) {
      strides[axis - 1] = math.times(strides[axis], shape[axis]);
    }
    oldFirst = oldLast + 1;
    newFirst = newLast + 1;
    return isOneRun;
  }

  const M &math;
  const typename M::Shape &shape;
  typename M::Shape oldShape, oldStrides, strides;
  size_t oldFirst = 0, newFirst = 0;
};

/// NumPy's rule: the strides with which `from` can be seen under `shape`, of as many elements;
/// nullopt when one stride per axis is not enough and a reshape must copy.
template <class M>
std::optional<typename M::Shape> reshapedStrides(const M &math, const Lie<M> &from,
                                                 const typename M::Shape &shape,
                                                 int64_t elementBytes) {
  bool isEmpty = false;
  for (typename M::Dim dim : from.shape) {
    isEmpty = isEmpty || math.equal(dim, math.number(0)) == Truth::Yes;
  }
  if (isEmpty || from.strides == orderedStrides(math, from.shape, elementBytes)) {
    return orderedStrides(math, shape, elementBytes);
  }
  return ReshapeWalk<M>(math, from, shape).run(elementBytes);
}

/// The strides of a view op's result, of shape `shape`; nullopt when the op must copy.
template <class M>
std::optional<typename M::Shape> viewStrides(const M &math, const OpCall &call, const Lie<M> &from,
                                             const typename M::Shape &shape, int64_t elementBytes) {
  switch (call.kind) {
  case OpKind::reshape:
    return reshapedStrides(math, from, shape, elementBytes);
  case OpKind::broadcast_to:
    return repeatedStrides(math, from, shape);
  case OpKind::permute: {
    typename M::Shape strides;
    for (int64_t axis : attrs::axes(call)) {
      strides.push_back(from.strides[static_cast<size_t>(axis)]);
    }
    return strides;
  }
  default: {
    Dims layout;
    appendViewLayout(call, from.shape.size(), layout);
    return steppedStrides(math, from.strides, std::span<const int64_t>(layout).subspan(1));
  }
  }
}

} // namespace tracert::rules
