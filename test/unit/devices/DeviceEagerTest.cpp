// Eager ops on values in a device's memory: where results lie, what is copied, and that nothing
// reads them but through copies.
#include "FakeDevice.h"

#include "../IndexItemKit.h"
#include "tracec/Devices.h"
#include "tracec/Functional.h"
#include "tracec/Tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

using namespace tracec;
using tracert::AttrValue;
using tracert::IndexItem;
using tracert::OpKind;
using tracert::StatusCode;
using tracert::test::arrayItem;
using tracert::test::FakeDevice;
using tracert::test::itemsOf;
using tracert::test::maskItem;
using tracert::test::position;
using tracert::test::RegisteredFake;
using tracert::test::slice;

namespace {

using Counts = FakeDevice::Counts;

template <class T> T take(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(result).value();
}

template <class T> Value hostValue(DType dtype, Dims shape, const std::vector<T> &elements) {
  Value value = take(allocateValue({dtype, std::move(shape)}));
  std::copy(elements.begin(), elements.end(), static_cast<T *>(value->view().data));
  return value;
}
Value floats(const std::vector<float> &elements) {
  return hostValue(DType::Float32, {static_cast<int64_t>(elements.size())}, elements);
}
Value matrix() { return hostValue<float>(DType::Float32, {2, 3}, {1, 2, 3, 4, 5, 6}); }
Value mask() { return hostValue<bool>(DType::Bool, {2, 3}, {1, 0, 1, 0, 0, 1}); }
Value index() { return hostValue<int64_t>(DType::Int64, {4}, {1, 0, -1, 1}); }
Value integer(int64_t number) { return hostValue<int64_t>(DType::Int64, {}, {number}); }

std::string bytesOf(const Value &value) {
  Value host = take(toHost(value));
  Value copy = take(allocateValue(host->type()));
  copyView({nullptr, tracert::kPortable, &tracert::processAllocator()}, host->view(), copy->view());
  return host->type().str() + ":" +
         std::string(static_cast<char *>(copy->view().data),
                     static_cast<size_t>(copy->type().byteCount()));
}

class DeviceEager : public testing::Test {
protected:
  RegisteredFake fake;

  Value placed(const Value &value) { return take(toDevice(value, *fake)); }
  const tracert::MemorySpace &spaceOf(const Value &value) { return value->buffer()->space(); }

  using Body = std::function<Result<Value>(std::span<const Value>)>;
  /// `body` gives on the device what it gives on the host, there, with these copies in and out.
  void expectSame(const Values &operands, const Body &body, uint64_t in, uint64_t out) {
    Value want = take(body(operands));
    Values there;
    for (const Value &operand : operands) {
      there.push_back(placed(operand));
    }
    Counts before = fake->counts();
    Value got = take(body(there));
    Counts after = fake->counts();
    EXPECT_EQ(after.copiesIn - before.copiesIn, in);
    EXPECT_EQ(after.copiesOut - before.copiesOut, out);
    EXPECT_EQ(&spaceOf(got), &fake->space());
    EXPECT_EQ(bytesOf(got), bytesOf(want));
  }
};

Result<Value> add(const Value &x, const Value &y) {
  Operand both[] = {Operand::of(x), Operand::of(y)};
  return pointwise(OpKind::add, both);
}

TEST_F(DeviceEager, ElementwiseOpsGiveTheirResultThere) {
  expectSame({matrix(), matrix()}, [](auto xs) { return add(xs[0], xs[1]); }, 1, 2);
  expectSame(
      {matrix()},
      [](auto xs) {
        Operand both[] = {Operand::of(xs[0]),
                          Operand::of(PythonScalar{PythonScalar::Kind::Float, 0, 2.5, false})};
        return pointwise(OpKind::mul, both);
      },
      1, 1);
  // A cast, then the sum.
  expectSame({index(), floats({1, 2, 3, 4})}, [](auto xs) { return add(xs[0], xs[1]); }, 2, 3);
  expectSame({floats({}), floats({})}, [](auto xs) { return add(xs[0], xs[1]); }, 0, 0);
}

TEST_F(DeviceEager, ReductionsMatmulAndCompositesToo) {
  expectSame(
      {matrix()}, [](auto xs) { return reduce(OpKind::sum, xs[0], Dims{1}, false, std::nullopt); },
      1, 1);
  Value x = placed(matrix());
  Value mean = take(reduce(OpKind::mean, x, std::nullopt, false, std::nullopt));
  EXPECT_EQ(bytesOf(mean),
            bytesOf(take(reduce(OpKind::mean, matrix(), std::nullopt, false, std::nullopt))));
  EXPECT_EQ(&spaceOf(mean), &fake->space());
  expectSame(
      {matrix(), hostValue<float>(DType::Float32, {3}, {1, 2, 3})},
      [](auto xs) { return matmul(Operand::of(xs[0]), Operand::of(xs[1])); }, 1, 2);
}

TEST_F(DeviceEager, ViewsCopyNothing) {
  expectSame(
      {matrix()},
      [](auto xs) { return getItem(xs[0], itemsOf({slice(1, {}), slice({}, {}, -2)}), {}); }, 0, 0);
  Value x = placed(matrix());
  Value row = take(getItem(x, itemsOf({position(1), slice({}, {})}), {}));
  EXPECT_EQ(row->buffer().get(), x->buffer().get());
  // An element is a copy, so that holding it does not keep the base from being written in place.
  Counts before = fake->counts();
  Value element = take(getItem(x, itemsOf({position(1), position(2)}), {}));
  EXPECT_EQ(fake->counts().copiesWithin - before.copiesWithin, 1u);
  EXPECT_EQ(&spaceOf(element), &fake->space());
  EXPECT_EQ(*static_cast<float *>(take(toHost(element))->view().data), 6);
}

TEST_F(DeviceEager, BoundsOfViewsMayLieAnywhere) {
  IndexItem from = slice(0, {});
  from.beginIsOperand = true;
  auto items = itemsOf({from});
  std::string want = bytesOf(take(getItem(floats({1, 2, 3, 4}), items, Values{integer(2)})));
  Value x = placed(floats({1, 2, 3, 4}));
  Counts before = fake->counts();
  EXPECT_EQ(bytesOf(take(getItem(x, items, Values{integer(2)}))), want);
  EXPECT_EQ(fake->counts().copiesOut - before.copiesOut, 1u); // by bytesOf
  Value begin = placed(integer(2));
  before = fake->counts();
  EXPECT_EQ(bytesOf(take(getItem(x, items, Values{begin}))), want);
  EXPECT_EQ(fake->counts().copiesOut - before.copiesOut, 2u);
}

TEST_F(DeviceEager, MasksAreCountedOnCopies) {
  expectSame(
      {matrix(), mask()},
      [](auto xs) { return getItem(xs[0], itemsOf({maskItem(2)}), xs.subspan(1)); }, 1, 3);
  Value none = hostValue<bool>(DType::Bool, {2, 3}, {0, 0, 0, 0, 0, 0});
  expectSame(
      {matrix(), none},
      [](auto xs) { return getItem(xs[0], itemsOf({maskItem(2)}), xs.subspan(1)); }, 0, 3);
  Values kept = take(condTake(placed(mask()), placed(matrix())));
  Values want = take(condTake(mask(), matrix()));
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(bytesOf(kept[i]), bytesOf(want[i]));
    EXPECT_EQ(&spaceOf(kept[i]), &fake->space());
  }
}

TEST_F(DeviceEager, IndexArraysAreCheckedOnCopies) {
  auto body = [](std::span<const Value> xs) {
    return getItem(xs[0], itemsOf({arrayItem(), slice({}, {})}), xs.subspan(1));
  };
  expectSame({matrix(), index()}, body, 1, 2);
  Values bad{placed(matrix()), placed(hostValue<int64_t>(DType::Int64, {1}, {2}))};
  Result<Value> got = body(bad);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().code(), StatusCode::IndexOutOfRange);
  EXPECT_EQ(got.status().message(), "index 2 is out of range for axis 0 of size 2");
}

TEST_F(DeviceEager, WritesReachTheDevice) {
  auto write = [&](const Value &start, bool isThere) {
    auto at = [&](const Value &value) { return isThere ? placed(value) : value; };
    Tensor x = Tensor::fromValue(start);
    EXPECT_TRUE(x.setItem(itemsOf({position(0), slice({}, {})}), at(floats({7, 8, 9})), {}).ok());
    Tensor row = take(
        x.view({OpKind::subtensor, {AttrValue::index(itemsOf({position(1), slice({}, {})}))}}, {}));
    EXPECT_TRUE(row.setItem(itemsOf({slice(1, {})}), at(floats({-1, -2})), {}).ok());
    // A number goes along.
    EXPECT_TRUE(
        row.setItem(itemsOf({slice({}, 1)}), hostValue<float>(DType::Float32, {}, {0.5f}), {})
            .ok());
    EXPECT_TRUE(x.setItem(itemsOf({maskItem(2)}), hostValue<float>(DType::Float32, {}, {3}),
                          Values{at(mask())})
                    .ok());
    Tensor turned = take(x.view({OpKind::permute, {AttrValue::ints({1, 0})}}, {}));
    EXPECT_TRUE(
        turned.setItem(itemsOf({position(2), slice({}, {})}), at(floats({40, 50})), {}).ok());
    EXPECT_TRUE(inPlace(OpKind::add, x, Operand::of(at(matrix()))).ok());
    EXPECT_TRUE(updateInPlace(OpKind::incr_subtensor, x, itemsOf({arrayItem(), slice({}, {})}),
                              Operand::of(at(floats({1, 2, 3}))), Values{at(index())})
                    .ok());
    return x;
  };
  std::string want = bytesOf(take(write(matrix(), false).read()));
  Tensor x = write(placed(matrix()), true);
  EXPECT_EQ(&spaceOf(take(x.read())), &fake->space());
  EXPECT_EQ(bytesOf(take(x.read())), want);
}

TEST_F(DeviceEager, ReadsOfTheHostAreOneCopy) {
  Tensor x = Tensor::fromValue(placed(matrix()));
  Counts before = fake->counts();
  Value host = take(x.readForHost());
  EXPECT_TRUE(spaceOf(host).isHost());
  EXPECT_EQ(static_cast<float *>(host->view().data)[5], 6);
  EXPECT_EQ(fake->counts().copiesOut - before.copiesOut, 1u);
  EXPECT_EQ(&spaceOf(take(x.read())), &fake->space());
  before = fake->counts();
  EXPECT_EQ(take(hostInt(placed(integer(-5)))), -5);
  EXPECT_EQ(fake->counts().copiesOut - before.copiesOut, 1u);
  // Sizes come from the type.
  before = fake->counts();
  EXPECT_EQ(take(hostInt(take(axisSize(take(x.read()), {0, 1})))), 6);
  EXPECT_EQ(fake->counts(), before);
  EXPECT_EQ(take(sizeAs(placed(integer(300)), DType::Int32))->dtype(), DType::Int32);
  EXPECT_EQ(sizeAs(placed(integer(300)), DType::Int8).status().code(), StatusCode::Overflow);
}

TEST_F(DeviceEager, OperandsMustBeTogether) {
  RegisteredFake other("fake1");
  Value here = placed(matrix());
  Value elsewhere = take(toDevice(matrix(), *other));
  Status status = add(here, elsewhere).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "'add' expects its operands on one device, got fake0 and fake1; copy "
                              "one of them with toDevice() or toHost()");
  EXPECT_EQ(add(matrix(), here).status().message(),
            "'add' expects its operands on one device, got fake0 and cpu0; copy one of them with "
            "toDevice() or toHost()");
  Tensor written = Tensor::fromValue(matrix());
  status = written.setItem(itemsOf({position(0), slice({}, {})}), placed(floats({7, 8, 9})), {});
  EXPECT_EQ(status.message(), "'set_subtensor' expects its operands on one device, got fake0 and "
                              "cpu0; copy one of them with toDevice() or toHost()");
  EXPECT_EQ(getItem(here, itemsOf({arrayItem(), slice({}, {})}), Values{index()}).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(bytesOf(take(add(here, take(toDevice(elsewhere, *fake))))),
            bytesOf(take(add(matrix(), matrix()))));
  EXPECT_EQ(bytesOf(take(toDevice(here, tracert::hostDevice()))), bytesOf(matrix()));
}

TEST_F(DeviceEager, FailuresOfTheDeviceAreErrorsOfTheOp) {
  Value x = placed(matrix());
  for (int64_t after : {0, 1, 2}) {
    fake->failCopiesAfter(after);
    Status status = add(x, x).status();
    EXPECT_EQ(status.code(), StatusCode::Io);
    EXPECT_EQ(status.message(), "fake0 was told to fail this copy");
  }
  fake->failCopiesAfter(0);
  EXPECT_EQ(toHost(x).status().code(), StatusCode::Io);
  EXPECT_EQ(toDevice(matrix(), *fake).status().code(), StatusCode::Io);
  Tensor written = Tensor::fromValue(x);
  EXPECT_EQ(written
                .setItem(itemsOf({position(0), slice({}, {})}),
                         hostValue<float>(DType::Float32, {}, {0}), {})
                .code(),
            StatusCode::Io);
  fake->failCopiesAfter(-1);
  EXPECT_EQ(bytesOf(take(written.read())), bytesOf(matrix()));
}

} // namespace
