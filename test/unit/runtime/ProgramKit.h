/// ProgramKit: programs built by hand, tensors, and a reference that runs op by op.
///
///   ProgramKit kit; auto x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
///   kit.output("y", kit.op(OpKind::add, {}, {x, x}));
///   auto program = kit.finish();                   // verified
///   EXPECT_EQ(run(program, {tensor<float>({3}, {1, 2, 3})}), ...);
///
/// The reference computes each op in fresh memory, without plans, views, arena or in-place sets.
#pragma once

#include "../IndexItemKit.h"
#include "tracert/Executor.h"

#include <gtest/gtest.h>

namespace tracert::test {

/// Memory with a type; copies share nothing.
struct HostTensor {
  TensorType type;
  std::vector<unsigned char> bytes;

  TensorView view() const {
    static unsigned char empty[64];
    return TensorView::contiguous(bytes.empty() ? empty : const_cast<unsigned char *>(bytes.data()),
                                  type);
  }
  template <class T> std::vector<T> values() const {
    std::vector<T> list(static_cast<size_t>(type.elementCount()));
    if (!list.empty()) {
      std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
    }
    return list;
  }
  friend bool operator==(const HostTensor &, const HostTensor &) = default;
};

template <class T> constexpr DType dtypeOf();
template <> constexpr DType dtypeOf<float>() { return DType::Float32; }
template <> constexpr DType dtypeOf<double>() { return DType::Float64; }
template <> constexpr DType dtypeOf<int64_t>() { return DType::Int64; }
template <> constexpr DType dtypeOf<int32_t>() { return DType::Int32; }
template <> constexpr DType dtypeOf<uint8_t>() { return DType::UInt8; }

HostTensor rawTensor(DType dtype, Dims shape, const void *data);
template <class T> HostTensor tensor(Dims shape, const std::vector<T> &values) {
  return rawTensor(dtypeOf<T>(), std::move(shape), values.data());
}
HostTensor boolTensor(Dims shape, const std::vector<uint8_t> &values);
/// 0, 1, 2, ... of a dtype (bool: every third is true).
HostTensor iota(DType dtype, Dims shape, int64_t start = 0);

std::shared_ptr<const IndexItems> index(std::vector<IndexItem> items, bool advancedFirst = false);
AttrList items(std::vector<IndexItem> list);

class ProgramKit {
public:
  ValueId input(const std::string &name, DType dtype, Dims dims,
                const std::vector<std::string> &symbols = {});
  ValueId constant(const HostTensor &tensor);
  /// Result types come from the type rules.
  ValueId op(OpKind kind, AttrList attrs, std::vector<ValueId> operands);
  ValueId setInPlace(OpKind kind, AttrList attrs, std::vector<ValueId> operands);
  void output(const std::string &name, ValueId value);
  const OpDef &lastOp() const { return program->ops.back(); }
  OpIndex lastIndex() const { return static_cast<OpIndex>(program->ops.size() - 1); }

  std::shared_ptr<Program> program = std::make_shared<Program>();
  /// Fails the test when verifyProgram does.
  std::shared_ptr<const Program> finish();

private:
  uint32_t symbol(const std::string &name);
};

using Tensors = std::vector<HostTensor>;

/// Outputs, or the failed status.
Result<Tensors> tryRun(Executor &executor, const Tensors &inputs);
/// Through a fresh executor; a failure fails the test.
Tensors run(const std::shared_ptr<const Program> &program, const Tensors &inputs,
            SectionChoice section = {SectionChoice::Portable, kPortable});
std::unique_ptr<Executor> executorOf(std::shared_ptr<const Program> program,
                                     ExecutorOptions options = {});
/// Values of the outputs by the op-by-op reference.
Result<Tensors> reference(const Program &program, const Tensors &inputs);
HostTensor copyOf(const TensorView &view);

/// A small program with every part that a file has.
std::shared_ptr<const Program> sampleProgram();
Tensors sampleInputs();

} // namespace tracert::test
