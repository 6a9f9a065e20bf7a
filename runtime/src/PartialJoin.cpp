#include "LaunchBinding.h"

#include "tracert/scalar/Elementwise.h"
#include "tracert/scalar/Reduction.h"

namespace tracert {
namespace {

template <class T> T partialAt(const unsigned char *partials, int64_t block) {
  T value;
  std::memcpy(&value, partials + block * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T> T joinSums(const unsigned char *partials, int64_t blockCount) {
  scalar::BlockTree<T> tree;
  for (int64_t block = 0; block < blockCount; ++block) {
    tree.push(partialAt<T>(partials, block));
  }
  return tree.finish();
}

template <class T> void store(const TensorView &result, T value) {
  std::memcpy(result.data, &value, sizeof(T));
}

void joinSum(const PartialJoin &join, const unsigned char *partials) {
  switch (join.partialDType) {
  case DType::Float64:
    return store(join.result, joinSums<double>(partials, join.blockCount));
  case DType::Float32: {
    float sum = joinSums<float>(partials, join.blockCount);
    if (join.result.dtype == DType::Float16) {
      return store(join.result, scalar::storeLanes<scalar::dtype::f16, 1>(sum));
    }
    return store(join.result, sum);
  }
  default:
    return store(join.result, joinSums<int64_t>(partials, join.blockCount));
  }
}

/// Any order gives the same bits.
template <class D> void joinMax(const PartialJoin &join, const unsigned char *partials) {
  using Storage = typename D::Storage;
  auto best = partialAt<Storage>(partials, 0);
  for (int64_t block = 1; block < join.blockCount; ++block) {
    best = scalar::apply<scalar::op::maximum, D, 1>(best, partialAt<Storage>(partials, block));
  }
  store(join.result, best);
}

void joinMaxOf(const PartialJoin &join, const unsigned char *partials) {
  namespace dtype = scalar::dtype;
  switch (join.partialDType) {
  case DType::Bool:
    return joinMax<dtype::b1>(join, partials);
  case DType::UInt8:
    return joinMax<dtype::u8>(join, partials);
  case DType::Int32:
    return joinMax<dtype::i32>(join, partials);
  case DType::Int64:
    return joinMax<dtype::i64>(join, partials);
  case DType::Float16:
    return joinMax<dtype::f16>(join, partials);
  case DType::Float32:
    return joinMax<dtype::f32>(join, partials);
  case DType::Float64:
    return joinMax<dtype::f64>(join, partials);
  }
}

} // namespace

void joinBlockPartials(const BoundLaunch &bound, const unsigned char *partials) {
  for (const PartialJoin &join : bound.joins) {
    const unsigned char *blocks = partials + join.byteOffset;
    if (!join.isMax) {
      joinSum(join, blocks);
    } else if (join.blockCount > 0) {
      joinMaxOf(join, blocks);
    }
  }
}

} // namespace tracert
