// Devices: the registry, and the fake device itself.
#include "FakeDevice.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

using namespace tracert;
using namespace tracert::test;

namespace {

TEST(Device, TheHostIsOne) {
  Device &host = hostDevice();
  EXPECT_TRUE(host.space().isHost());
  EXPECT_EQ(&host.allocator(), &processAllocator());
  EXPECT_TRUE(host.supports(bestTarget()));
  EXPECT_FALSE(host.supports(kFakeTarget));
  int from[2] = {1, 2}, to[2] = {};
  ASSERT_TRUE(host.copyIn(to, from, sizeof to).ok());
  EXPECT_EQ(to[1], 2);
}

TEST(Device, RegisteredDevicesAreFoundByNameAndMemory) {
  EXPECT_FALSE(hasDevices());
  EXPECT_FALSE(supports(kFakeTarget));
  {
    RegisteredFake first("fake0"), second("fake1");
    EXPECT_TRUE(hasDevices());
    EXPECT_EQ(findDevice("fake0"), &*first);
    EXPECT_EQ(findDevice("fake1"), &*second);
    EXPECT_EQ(findDevice("fake2"), nullptr);
    EXPECT_EQ(findDevice("cpu0"), nullptr);
    EXPECT_TRUE(supports(kFakeTarget));
    BufferRef buffer(Buffer::allocate(second->allocator(), 10));
    EXPECT_EQ(deviceOf(buffer->data()), &*second);
    EXPECT_EQ(deviceOf(&first), nullptr);
    EXPECT_EQ(buffer->space().device, &*second);
    EXPECT_EQ(buffer->space().name, "fake1");
  }
  EXPECT_FALSE(hasDevices());
  EXPECT_EQ(findDevice("fake0"), nullptr);
}

TEST(Device, NamesAreUniqueAndThereAreFew) {
  RegisteredFake first("fake0");
  FakeDevice again("fake0", 4096), host("cpu0", 4096);
  Status status = registerDevice(again);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "there is a device 'fake0' already");
  EXPECT_EQ(registerDevice(host).message(), "there is a device 'cpu0' already");
  EXPECT_EQ(unregisterDevice(again).message(), "device 'fake0' is not registered");
  std::vector<std::unique_ptr<RegisteredFake>> others;
  for (size_t i = 1; i < kMaxDevices; ++i) {
    others.push_back(std::make_unique<RegisteredFake>("fake" + std::to_string(i), 4096));
  }
  FakeDevice ninth("fake8", 4096);
  EXPECT_EQ(registerDevice(ninth).message(),
            "device 'fake8' is one more than the 8 that can be registered");
}

TEST(Device, StaysWhileItIsInUse) {
  RegisteredFake fake;
  {
    BufferRef buffer(Buffer::allocate(fake->allocator(), 10));
    Status status = unregisterDevice(*fake);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_EQ(status.message(), "device 'fake0' is in use: 0 executors, 10 bytes");
  }
  Result<DeviceUse> use = DeviceUse::of(*fake);
  ASSERT_TRUE(use.ok());
  EXPECT_EQ(unregisterDevice(*fake).message(), "device 'fake0' is in use: 1 executors, 0 bytes");
  *use = DeviceUse();
  FakeDevice unknown("fake1", 4096);
  EXPECT_EQ(DeviceUse::of(unknown).status().message(), "device 'fake1' is not registered");
}

TEST(Device, CopiesAreTheOnlyWayIn) {
  RegisteredFake fake;
  BufferRef a(Buffer::allocate(fake->allocator(), 8)), b(Buffer::allocate(fake->allocator(), 8));
  int64_t value = 42, back = 0;
  ASSERT_TRUE(fake->copyIn(a->data(), &value, 8).ok());
  ASSERT_TRUE(fake->copyWithin(b->data(), a->data(), 8).ok());
  ASSERT_TRUE(fake->copyOut(&back, b->data(), 8).ok());
  EXPECT_EQ(back, 42);
  EXPECT_EQ(fake->counts(), (FakeDevice::Counts{1, 1, 1, 0, 0}));
}

TEST(DeviceDeathTest, TheHostCannotTouchItsMemory) {
  RegisteredFake fake;
  BufferRef buffer(Buffer::allocate(fake->allocator(), 8));
  auto *data = static_cast<volatile int64_t *>(buffer->data());
  EXPECT_DEATH({ [[maybe_unused]] int64_t read = *data; }, "");
  EXPECT_DEATH(*data = 1, "");
}

} // namespace
