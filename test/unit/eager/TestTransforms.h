/// Transforms for tests: one that writes down what it sees, one that doubles results, one that adds
/// one, one that differentiates forward.
#pragma once

#include "../IndexItemKit.h"
#include "tracec/Functional.h"
#include "tracec/Transform.h"

#include <gtest/gtest.h>

#include <string>

namespace tracec::test {

using Events = std::vector<std::string>;

/// Writes "name.hook" for each hook and changes nothing.
class Spy final : public Transform {
public:
  Spy(std::string name, Events &events) : name(std::move(name)), events(events) {}

  Result<Values> apply(const OpCall &call, std::span<const Value> operands, Next next) override {
    note(std::string(call.info().name));
    return next.apply(call, operands);
  }
  Result<Value> readCell(Cell &cell, Next next) override {
    note("readCell");
    return next.readCell(cell);
  }
  Status writeCell(Cell &cell, Value value, Next next) override {
    note("writeCell");
    return next.writeCell(cell, std::move(value));
  }
  Result<Value> readView(const Cell &cell, const void *path, Next next) override {
    note("readView");
    return next.readView(cell, path);
  }
  Result<Value> onHostData(Value value, Next next) override {
    note("hostData");
    return next.onHostData(std::move(value));
  }
  Result<Value> onScalar(const PythonScalar &scalar, Value value, Next next) override {
    note("scalar");
    return next.onScalar(scalar, std::move(value));
  }
  Result<Value> onHostRead(const Value &value, Next next) override {
    note("hostRead");
    return next.onHostRead(value);
  }
  Result<std::optional<int64_t>> fixedSize(const Value &value, size_t axis, Next next) override {
    note("fixedSize");
    return next.fixedSize(value, axis);
  }
  Result<bool> decideIsOne(const Value &value, size_t axis, Next next) override {
    note("decideIsOne");
    return next.decideIsOne(value, axis);
  }
  Status expectSameShape(const Value &old, const Value &now, Next next) override {
    note("sameShape");
    return next.expectSameShape(old, now);
  }
  Status expectFits(const Value &size, DType dtype, Next next) override {
    note("fits");
    return next.expectFits(size, dtype);
  }
  void onViewOrCopy(const Value &part, const Cell &base, const Tensor &made, Next next) override {
    note(part->isAlias ? "view" : "copy");
    next.onViewOrCopy(part, base, made);
  }
  void onName(const Value &value, std::string_view given, Next next) override {
    note("name:" + std::string(given));
    next.onName(value, given);
  }

private:
  void note(const std::string &hook) { events.push_back(name + "." + hook); }
  std::string name;
  Events &events;
};

/// Wraps what ops give, having let `change` see it; views are only wrapped.
class Changing : public WrappingTransform {
public:
  Result<Values> apply(const OpCall &call, std::span<const Value> operands, Next next) override {
    TRACERT_ASSIGN(Values results, next.apply(call, wrappers.unwrap(operands)));
    for (Value &result : results) {
      if (!call.info().has(tracert::kTraitView) && isFloat(result->dtype())) {
        TRACERT_ASSIGN(result, change(std::move(result), next));
      }
      result = wrappers.wrap(std::move(result));
    }
    return results;
  }

protected:
  virtual Result<Value> change(Value result, Next next) = 0;
  static Result<Value> sum(const Value &a, const Value &b, Next next) {
    Value operands[] = {a, b};
    TRACERT_ASSIGN(Values results, next.apply({tracert::OpKind::add, {}}, operands));
    return std::move(results.front());
  }
};

class Doubling final : public Changing {
public:
  std::string traceKey() const override { return "doubling"; }

private:
  Result<Value> change(Value result, Next next) override { return sum(result, result, next); }
};

class AddingOne final : public Changing {
public:
  std::string traceKey() const override { return "adding one"; }

private:
  Result<Value> change(Value result, Next next) override {
    TRACERT_ASSIGN(Value one, allocateValue({result->dtype(), {}}));
    *static_cast<float *>(one->view().data) = 1;
    TRACERT_ASSIGN(one, next.onScalar({PythonScalar::Kind::Float, 0, 1.0, false}, std::move(one)));
    return sum(result, one, next);
  }
};

/// Derivatives of add and mul along the way: a wrapper keeps its tangent.
class Forward final : public WrappingTransform {
public:
  struct Tangent : WrapperData {
    Value tangent;
  };

  Value variable(Value value, Value tangent) {
    auto data = std::make_unique<Tangent>();
    data->tangent = std::move(tangent);
    return wrappers.wrap(std::move(value), std::move(data));
  }
  /// Null: nothing that it hangs on was a variable.
  Value tangentOf(const Value &value) const {
    auto *data = static_cast<Tangent *>(wrappers.dataOf(value));
    return data ? data->tangent : Value();
  }

  Result<Values> apply(const OpCall &call, std::span<const Value> operands, Next next) override {
    Values inner = wrappers.unwrap(operands);
    TRACERT_ASSIGN(Values results, next.apply(call, inner));
    Value tangent;
    for (size_t i = 0; i < operands.size(); ++i) {
      Value part = tangentOf(operands[i]);
      if (part && call.info().name == "mul") {
        Value factors[] = {part, inner[1 - i]};
        TRACERT_ASSIGN(Values product, next.apply(call, factors));
        part = product.front();
      }
      if (part && tangent) {
        Value terms[] = {tangent, part};
        TRACERT_ASSIGN(Values sum, next.apply({tracert::OpKind::add, {}}, terms));
        part = sum.front();
      }
      tangent = part ? part : tangent;
    }
    if (tangent) {
      results.front() = variable(results.front(), tangent);
    }
    return results;
  }
};

template <class T> T take(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(result).value();
}

inline Value vectorOf(const std::vector<float> &elements) {
  Value value = take(allocateValue({DType::Float32, {static_cast<int64_t>(elements.size())}}));
  std::copy(elements.begin(), elements.end(), static_cast<float *>(value->view().data));
  return value;
}

/// Of a value of rank 1, by a host read.
inline std::vector<float> elementsOf(const Value &value) {
  Value host = take(stack().onHostRead(value));
  std::vector<float> elements;
  for (int64_t i = 0; i < host->view().shape[0]; ++i) {
    const char *data = static_cast<const char *>(host->view().data);
    elements.push_back(*reinterpret_cast<const float *>(data + i * host->view().strides[0]));
  }
  return elements;
}

inline std::vector<float> elementsOf(const Tensor &tensor) {
  return elementsOf(take(tensor.read()));
}

inline Result<Value> binary(tracert::OpKind kind, const Value &a, const Value &b) {
  Operand operands[] = {Operand::of(a), Operand::of(b)};
  return pointwise(kind, operands);
}
inline Value add(const Value &a, const Value &b) {
  return take(binary(tracert::OpKind::add, a, b));
}
inline Value mul(const Value &a, const Value &b) {
  return take(binary(tracert::OpKind::mul, a, b));
}

inline std::shared_ptr<const tracert::IndexItems> slice(std::optional<int64_t> begin,
                                                        std::optional<int64_t> end) {
  return tracert::test::itemsOf({tracert::test::slice(begin, end)});
}

inline OpCall subtensorCall(std::shared_ptr<const tracert::IndexItems> items) {
  return {tracert::OpKind::subtensor, {tracert::AttrValue::index(std::move(items))}};
}

} // namespace tracec::test
