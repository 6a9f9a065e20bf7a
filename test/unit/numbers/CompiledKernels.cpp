#include "CompiledKernels.h"

#include "unit/codegen/KernelHarness.h"

namespace numbers {

using tracec::test::KernelCall;
using tracec::test::RunnableKernel;
using tracec::test::typeText;
using tracert::DType;

std::string Expression::text() const {
  std::string text;
  for (size_t i = 0; i < steps.size(); ++i) {
    text += "%" + std::to_string(operands.size() + i) + " = " + steps[i].op + "(";
    for (int operand : steps[i].operands) {
      text += "%" + std::to_string(operand) + " " + std::string(dtypeName(dtypeOf(operand))) + ", ";
    }
    text += ") " + std::string(dtypeName(steps[i].result)) + "; ";
  }
  return text;
}

namespace {

std::string access(const char *kind, DType dtype, const char *stride) {
  return std::string("!kernel.access<") + kind + " " + typeText(dtype) + " " + stride + ">";
}

std::string stepText(const Expression &expression, size_t index) {
  const Step &step = expression.steps[index];
  std::string names, types;
  for (int operand : step.operands) {
    names += (names.empty() ? "%v" : ", %v") + std::to_string(operand);
    types += (types.empty() ? "" : ", ") + typeText(expression.dtypeOf(operand));
  }
  std::string result = "%v" + std::to_string(expression.operands.size() + index);
  if (step.op == "cast") {
    return result + " = kernel.cast " + names + " : " + types + " to " + typeText(step.result) +
           "\n";
  }
  return result + " = kernel.apply \"" + step.op + "\"(" + names + ") : (" + types + ") -> " +
         typeText(step.result) + "\n";
}

std::string kernelText(const Expression &expression, int rank) {
  const char *stride = rank == 0 ? "zero" : "contiguous";
  std::string arguments, body;
  for (size_t i = 0; i < expression.operands.size(); ++i) {
    std::string n = std::to_string(i), type = access("load", expression.operands[i], stride);
    arguments += "%a" + n + ": " + type + ", ";
    body += "%v" + n + " = kernel.load %a" + n + " : " + type + "\n";
  }
  for (size_t i = 0; i < expression.steps.size(); ++i) {
    body += stepText(expression, i);
  }
  std::string store = access("store", expression.result(), stride);
  std::string last = std::to_string(expression.operands.size() + expression.steps.size() - 1);
  return "kernel.func @k domain " + std::to_string(rank) + " (" + arguments + "%o: " + store +
         ") {\n" + body + "kernel.store %v" + last + " to %o : " + store + "\n}";
}

} // namespace

struct CompiledExpression::Kernels {
  Expression expression;
  RunnableKernel rows, single;

  Kernels(const Expression &expression, tracert::Target target)
      : expression(expression), rows(kernelText(expression, 2), target),
        single(kernelText(expression, 0), target) {}

  KernelCall callFor(const std::vector<const void *> &operands, void *result,
                     std::vector<int64_t> domain) const {
    KernelCall call{.domain = std::move(domain)};
    auto add = [&](void *data, DType dtype) {
      auto size = int64_t(dtypeSize(dtype));
      call.add(data, call.domain.empty() ? std::vector<int64_t>()
                                         : std::vector<int64_t>{call.domain[1] * size, size});
    };
    for (size_t i = 0; i < expression.operands.size(); ++i) {
      add(const_cast<void *>(operands[i]), expression.operands[i]);
    }
    add(result, expression.result());
    return call;
  }
};

CompiledExpression::CompiledExpression(const Expression &expression, tracert::Target target)
    : kernels(std::make_unique<Kernels>(expression, target)) {}
CompiledExpression::~CompiledExpression() = default;

void CompiledExpression::runRows(const std::vector<const void *> &operands, void *result,
                                 int64_t rows, int64_t inner) const {
  KernelCall call = kernels->callFor(operands, result, {rows, inner});
  EXPECT_EQ(kernels->rows.run(call), tracert::kKernelOk);
}

void CompiledExpression::runSingly(const std::vector<const void *> &operands, void *result,
                                   int64_t count) const {
  KernelCall call = kernels->callFor(operands, result, {});
  std::vector<size_t> steps;
  for (DType dtype : kernels->expression.operands) {
    steps.push_back(dtypeSize(dtype));
  }
  steps.push_back(dtypeSize(kernels->expression.result()));
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_EQ(kernels->single.run(call), tracert::kKernelOk);
    for (size_t k = 0; k < steps.size(); ++k) {
      call.pointers[k] = static_cast<char *>(call.pointers[k]) + steps[k];
    }
  }
}

std::vector<tracert::Target> compiledTargets() {
  std::vector<tracert::Target> targets;
  for (tracert::Target target : {tracert::kX86V3, tracert::kX86V4}) {
    if (tracert::supports(target)) {
      targets.push_back(target);
    }
  }
  return targets;
}

void compareCompiled(const Expression &expression, const std::vector<const void *> &operands,
                     uint8_t *result, int64_t count,
                     const std::function<void(const std::string &)> &check) {
  constexpr int64_t shortRow = 7;
  size_t bytes = size_t(count) * dtypeSize(expression.result());
  for (tracert::Target target : compiledTargets()) {
    CompiledExpression compiled(expression, target);
    std::string name = "compiled for " + std::string(tracert::targetName(target));
    std::fill(result, result + bytes, 0x5A);
    compiled.runRows(operands, result, 1, count);
    check(name + ", one row");
    std::fill(result, result + bytes, 0x5A);
    ASSERT_EQ(count % shortRow, 0);
    compiled.runRows(operands, result, count / shortRow, shortRow);
    check(name + ", tails");
    std::fill(result, result + bytes, 0x5A);
    compiled.runSingly(operands, result, count);
    check(name + ", single lanes");
  }
}

} // namespace numbers
