/// Random calls of any op, with symbols for some sizes: attributes and operands follow from the
/// op's record, so an op that is added is called too.
///
///   RandomCall random(seed); random.make(kind);
///   familyTypes(random.math(), random.call, random.operands);       // symbols
///   inferTypes(random.call, random.numbersFor(values));             // numbers
#pragma once

#include "tracert/OpRules.h"

#include "trace/Transforms/SymbolicMath.h"

#include <random>

namespace tracec::trace::test {

/// Values of symbols, by number.
using Values = std::vector<int64_t>;

class RandomCall {
public:
  explicit RandomCall(uint32_t seed) : engine(seed) {}

  /// A call that most likely is no error for some values of the symbols.
  void make(tracert::OpKind kind);
  SymbolicMath math() { return SymbolicMath(table, findings); }

  /// A value for every symbol that the call was made with.
  Values randomValues();
  std::vector<tracert::OperandInfo> numbersFor(const Values &values) const;
  /// Counts of the masks, in order.
  std::vector<int64_t> countsFor(const Values &values) const;
  /// Nullopt when the expression hangs on what the rule could not know.
  static std::optional<int64_t> evaluate(DimExpr dim, const Values &values);

  DimTable table;
  RuleFindings findings;
  tracert::OpCall call{};
  std::vector<SymbolicOperand> operands;

private:
  int64_t below(int64_t limit) { return static_cast<int64_t>(engine() % uint64_t(limit)); }
  bool chance(int percent) { return below(100) < percent; }
  DimExpr someDim();
  DimShape someShape(size_t rank);
  DimShape relatedShape(const DimShape &shape);
  tracert::DType someDType(const tracert::OpInfo &info);
  tracert::AttrValue someAttr(const tracert::AttrSpec &spec, tracert::DType dtype);
  tracert::Dims someInts(bool isShape);
  tracert::AttrValue someIndex();
  DimExpr someSize();
  void addOperand(tracert::DType dtype, DimShape shape);
  void addNumber(DimExpr value);
  void addExtras();

  std::mt19937 engine;
  std::vector<DimExpr> symbols;
  size_t symbolCount = 0;
};

} // namespace tracec::trace::test
