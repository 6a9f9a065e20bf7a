#include "kernels/Families.h"
#include "kernels/LoopNest.h"
#include "kernels/Scratch.h"
#include "scalar/Reduction.h"

#include <atomic>
#include <cstring>

namespace tracert::kernels {
namespace {

/// How the rows and columns of one product are cut for threads.
struct Tiling {
  int64_t rowParts = 1;
  int64_t columnParts = 1;
  int64_t rowsPerPart = 0;
  int64_t columnsPerPart = 0;
  int64_t count() const { return rowParts * columnParts; }
};

int64_t roundUp(int64_t value, int64_t grain) { return (value + grain - 1) / grain * grain; }
int64_t partsOf(int64_t size, int64_t part) { return (size + part - 1) / part; }

/// One part per thread along the longer side: each part packs what it reads.
Tiling tilingOf(const MatmulArgs &args, const MatmulCores &cores, int64_t wantedParts) {
  Tiling tiling{1, 1, args.rows, args.columns};
  if (wantedParts <= 1) {
    return tiling;
  }
  if (args.rows / cores.rowGrain >= args.columns / cores.columnGrain) {
    tiling.rowsPerPart = roundUp(partsOf(args.rows, wantedParts), cores.rowGrain);
    tiling.rowParts = partsOf(args.rows, tiling.rowsPerPart);
    return tiling;
  }
  tiling.columnsPerPart = roundUp(partsOf(args.columns, wantedParts), cores.columnGrain);
  tiling.columnParts = partsOf(args.columns, tiling.columnsPerPart);
  return tiling;
}

/// Byte strides of the leading axes, broadcast onto the batch.
Dims batchStrides(const TensorView &view, const Dims &batch) {
  TensorView leading{nullptr, view.dtype, Dims(view.shape.begin(), view.shape.end() - 2),
                     Dims(view.strides.begin(), view.strides.end() - 2)};
  return broadcastView(leading, batch).strides;
}

/// A batch of products of matrices: sizes and strides of one, and where the others are.
struct Products {
  MatmulArgs args = {};
  char *a, *b, *c;
  DType dtype;
  Dims batch, aBatch, bBatch, cBatch;
  int64_t count = 1;

  MatmulArgs at(int64_t product) const {
    MatmulArgs one = args;
    one.a = a + offsetAt(product, batch, aBatch);
    one.b = b + offsetAt(product, batch, bBatch);
    one.c = c + offsetAt(product, batch, cBatch);
    return one;
  }
};

/// Rank-1 operands get the axis of size 1 that NumPy gives them; so does the result.
Products productsOf(TensorView a, TensorView b, TensorView c) {
  if (b.rank() == 1) {
    b.shape.push_back(1);
    b.strides.push_back(itemBytes(b.dtype));
    c.shape.push_back(1);
    c.strides.push_back(itemBytes(c.dtype));
  }
  if (a.rank() == 1) {
    a.shape.insert(0, 1);
    a.strides.insert(0, 0);
    c.shape.insert(c.rank() - 1, 1);
    c.strides.insert(c.strides.size() - 1, 0);
  }
  size_t rank = c.rank();
  Products products{{}, bytesOf(a), bytesOf(b), bytesOf(c), c.dtype, {}, {}, {}, {}};
  MatmulArgs &args = products.args;
  args.rows = c.shape[rank - 2];
  args.columns = c.shape[rank - 1];
  args.depth = a.shape.back();
  args.aRowStride = a.strides[a.rank() - 2];
  args.aDepthStride = a.strides.back();
  args.bDepthStride = b.strides[b.rank() - 2];
  args.bColumnStride = b.strides.back();
  args.cRowStride = c.strides[rank - 2];
  args.cColumnStride = c.strides.back();
  products.batch = Dims(c.shape.begin(), c.shape.end() - 2);
  for (int64_t size : products.batch) {
    products.count *= size;
  }
  products.aBatch = batchStrides(a, products.batch);
  products.bBatch = batchStrides(b, products.batch);
  products.cBatch = batchStrides(c, products.batch);
  return products;
}

/// How many parts are worth it for work of this many nanoseconds.
int64_t partsFor(const KernelContext &context, double nanoseconds) {
  bool isWorthThreads = context.pool && nanoseconds >= double(kMinParallelNanoseconds);
  return isWorthThreads ? context.pool->threadCount() : 1;
}

/// Batches that share one column are more rows of one product.
void mergeRows(Products &products) {
  MatmulArgs &args = products.args;
  while (!products.batch.empty() && products.bBatch.back() == 0 &&
         products.aBatch.back() == args.rows * args.aRowStride &&
         products.cBatch.back() == args.rows * args.cRowStride) {
    args.rows *= products.batch.back();
    products.count /= products.batch.back();
    for (Dims *dims : {&products.batch, &products.aBatch, &products.bBatch, &products.cBatch}) {
      dims->pop_back();
    }
  }
}

/// Few outputs of a great depth: threads share the blocks of each.
Status runDotBlocks(const KernelContext &context, const Products &products,
                    const MatrixVectorCores &cores, double nanosecondsPerTerm) {
  int64_t blockCount = scalar::ReductionOrder::blockCount(products.args.depth);
  size_t bytes = static_cast<size_t>(blockCount * cores.partialSize);
  Scratch partials(context, bytes);
  if (!partials.data()) {
    return outOfScratch(bytes);
  }
  for (int64_t output = 0; output < products.count * products.args.rows; ++output) {
    if (shouldStop()) {
      break;
    }
    int64_t row = output % products.args.rows;
    MatmulArgs args = products.at(output / products.args.rows);
    runRanges(context, blockCount, scalar::ReductionOrder::blockLength * nanosecondsPerTerm,
              [&](int64_t begin, int64_t end) {
                cores.blocks(args, row, begin, end,
                             partials.as<char>() + begin * cores.partialSize);
              });
    cores.combine(partials.data(), blockCount, static_cast<char *>(args.c) + row * args.cRowStride);
  }
  return {};
}

/// Products of one column take the inner order of sums (scalar/Numbers.md).
Status runOneColumn(const KernelContext &context, Products &products) {
  mergeRows(products);
  const MatmulArgs &args = products.args;
  const MatrixVectorCores &cores =
      kernelCores(context.target).matrixVector[dtypeNumber(products.dtype)];
  double termCost = 0.03 * static_cast<double>(dtypeSize(products.dtype));
  double rowCost = termCost * static_cast<double>(args.depth);
  int64_t outputs = products.count * args.rows;
  int64_t threads = partsFor(context, rowCost * static_cast<double>(outputs));
  if (threads > 1 && outputs < 4 * threads &&
      args.depth >= 4 * scalar::ReductionOrder::blockLength) {
    return runDotBlocks(context, products, cores, termCost);
  }
  int64_t parts = partsOf(args.rows, cores.rowGrain);
  double partCost = rowCost * static_cast<double>(std::min(args.rows, cores.rowGrain));
  runRanges(context, products.count * parts, partCost, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t first = begin % parts;
      int64_t last = std::min(parts, first + (end - begin));
      cores.rows(products.at(begin / parts), first * cores.rowGrain,
                 std::min(args.rows, last * cores.rowGrain));
      begin += last - first;
    }
  });
  return {};
}

/// Each output is one chain over the depth (scalar/Numbers.md).
Status runTiles(const KernelContext &context, const Products &products) {
  const MatmulArgs &args = products.args;
  const MatmulCores &cores = kernelCores(context.target).matmul[dtypeNumber(products.dtype)];
  double cost = 0.02 * static_cast<double>(args.rows) * static_cast<double>(args.columns) *
                static_cast<double>(args.depth);
  int64_t threads = partsFor(context, cost * static_cast<double>(products.count));
  Tiling tiling = tilingOf(args, cores, products.count >= threads ? 1 : threads);
  size_t scratchBytes =
      static_cast<size_t>(cores.scratchBytes(args.rows, args.columns, args.depth));
  std::atomic<bool> hasScratch{true};
  runRanges(context, products.count * tiling.count(), cost / static_cast<double>(tiling.count()),
            [&](int64_t begin, int64_t end) {
              Scratch scratch(context, scratchBytes);
              if (!scratch.data()) {
                hasScratch = false;
                return;
              }
              for (int64_t item = begin; item < end; ++item) {
                int64_t row = item % tiling.count() / tiling.columnParts * tiling.rowsPerPart;
                int64_t column = item % tiling.count() % tiling.columnParts * tiling.columnsPerPart;
                cores.tile(products.at(item / tiling.count()), row,
                           std::min(args.rows, row + tiling.rowsPerPart), column,
                           std::min(args.columns, column + tiling.columnsPerPart), scratch.data());
              }
            });
  return hasScratch ? Status() : outOfScratch(scratchBytes);
}

} // namespace

Status runMatmul(const KernelContext &context, const OpCall &call, Views operands, Views results) {
  (void)call;
  const TensorView &c = results[0];
  if (c.elementCount() == 0) {
    return {};
  }
  Products products = productsOf(operands[0], operands[1], c);
  products.args.control = currentRunControl();
  if (products.args.depth == 0) {
    // A product without terms is +0.0 or 0: no bit is set in either.
    std::memset(c.data, 0, static_cast<size_t>(c.elementCount() * itemBytes(c.dtype)));
    return {};
  }
  return products.args.columns == 1 ? runOneColumn(context, products) : runTiles(context, products);
}

} // namespace tracert::kernels
