#include "ReservedTables.h"

#include "TextCheck.h"
#include "tracert/Program.h"

#include <cmath>

namespace tracert {
namespace {

namespace fb = flatbuffers;
template <class T> using Tables = fb::Vector<fb::Offset<T>>;

Status corrupt(std::string message) { return Status::corruptFile(std::move(message)); }

template <class T> size_t countOf(const fb::Vector<T> *list) { return list ? list->size() : 0; }

constexpr uint8_t kConstantDim = 0, kSymbolDim = 1, kLastDimKind = 9;
constexpr uint8_t kLastGuardKind = 3;

/// Kinds of a newer version are not looked into.
Status checkDimExprs(const Tables<schema::DimExprDef> *exprs, size_t symbolCount) {
  for (size_t i = 0; i < countOf(exprs); ++i) {
    const schema::DimExprDef &expr = *exprs->Get(static_cast<fb::uoffset_t>(i));
    if (expr.kind() > kLastDimKind) {
      continue;
    }
    size_t wanted = expr.kind() == kConstantDim || expr.kind() == kSymbolDim ? 0 : 2;
    bool isGood = countOf(expr.operands()) == wanted;
    if (expr.kind() == kSymbolDim) {
      isGood = isGood && expr.value() >= 0 && static_cast<uint64_t>(expr.value()) < symbolCount;
    }
    for (size_t operand = 0; isGood && operand < wanted; ++operand) {
      isGood = expr.operands()->Get(static_cast<fb::uoffset_t>(operand)) < i;
    }
    if (!isGood) {
      return corrupt("size expression #" + std::to_string(i) + " is malformed");
    }
  }
  return {};
}

Status checkGuards(const Tables<schema::GuardDef> *guards, size_t exprCount) {
  for (size_t i = 0; i < countOf(guards); ++i) {
    const schema::GuardDef &guard = *guards->Get(static_cast<fb::uoffset_t>(i));
    bool isKnown = guard.kind() <= kLastGuardKind;
    if (isKnown && (guard.left() >= exprCount || guard.right() >= exprCount)) {
      return corrupt("guard #" + std::to_string(i) + " compares sizes that do not exist");
    }
  }
  return {};
}

Status checkFunction(const schema::FunctionDef &function, size_t constantCount) {
  std::string_view name(function.name()->c_str(), function.name()->size());
  auto bad = [&](const char *what) { return corrupt(std::string("a further function ") + what); };
  if (!isName(name)) {
    return bad("has a name that is no UTF-8 text");
  }
  size_t valueCount = countOf(function.values());
  for (size_t i = 0; i < countOf(function.constants()); ++i) {
    const auto &shared = *function.constants()->Get(static_cast<fb::uoffset_t>(i));
    if (shared.value() >= valueCount || shared.constant() >= constantCount) {
      return bad("shares a constant that does not exist");
    }
  }
  TRACERT_TRY(checkDimExprs(function.dim_exprs(), countOf(function.symbols())));
  return checkGuards(function.guards(), countOf(function.dim_exprs()));
}

} // namespace

Status checkReserved(const schema::ProgramDef &root) {
  TRACERT_TRY(checkDimExprs(root.dim_exprs(), countOf(root.symbols())));
  TRACERT_TRY(checkGuards(root.guards(), countOf(root.dim_exprs())));
  for (size_t i = 0; i < countOf(root.functions()); ++i) {
    TRACERT_TRY(checkFunction(*root.functions()->Get(static_cast<fb::uoffset_t>(i)),
                              countOf(root.constants())));
  }
  return {};
}

Status checkTolerances(const schema::TestVectorDef &vector, size_t outputCount) {
  size_t count = countOf(vector.tolerances());
  if (count != 0 && count != outputCount) {
    return corrupt("a test vector has " + std::to_string(count) + " tolerances for " +
                   std::to_string(outputCount) + " outputs");
  }
  for (size_t i = 0; i < count; ++i) {
    const auto &tolerance = *vector.tolerances()->Get(static_cast<fb::uoffset_t>(i));
    for (double part : {tolerance.relative(), tolerance.absolute()}) {
      if (!(part >= 0) || std::isinf(part)) {
        return corrupt("a test vector has a tolerance that is negative or not finite");
      }
    }
  }
  return {};
}

bool isRunnable(const schema::SectionDef &section) {
  if (countOf(section.blocks()) > 1) {
    return false;
  }
  for (size_t b = 0; b < countOf(section.blocks()); ++b) {
    const auto *instructions = section.blocks()->Get(static_cast<fb::uoffset_t>(b))->instructions();
    for (size_t i = 0; i < countOf(instructions); ++i) {
      uint8_t kind = instructions->Get(static_cast<fb::uoffset_t>(i))->kind();
      if (kind > static_cast<uint8_t>(InstructionKind::Launch)) {
        return false;
      }
    }
  }
  for (size_t k = 0; k < countOf(section.kernels()); ++k) {
    if (countOf(section.kernels()->Get(static_cast<fb::uoffset_t>(k))->nests()) > 0) {
      return false;
    }
  }
  return true;
}

} // namespace tracert
