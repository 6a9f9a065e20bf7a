// Targets: their order, their names, and what this machine supports.
#include "tracert/Target.h"

#include <gtest/gtest.h>

#include <set>

using namespace tracert;

TEST(Target, LevelsAreOrderedWithinAKindOnly) {
  EXPECT_LT(kX86V3, kX86V4);
  EXPECT_LE(kX86V3, kX86V3);
  EXPECT_FALSE(kX86V3 < kAarch64Neon);
  EXPECT_FALSE(kX86V3 > kAarch64Neon);
  EXPECT_FALSE(kX86V3 == kAarch64Neon);
  Target oldGpu{TargetKind::Nvptx, 80}, newGpu{TargetKind::Nvptx, 100};
  EXPECT_LT(oldGpu, newGpu);
  EXPECT_FALSE(kX86V4 < newGpu);
}

TEST(Target, NamesAreUniqueAndReadBack) {
  std::set<std::string_view> names;
  for (const NamedTarget &known : kTargets) {
    EXPECT_TRUE(names.insert(known.name).second) << known.name;
    EXPECT_EQ(targetFromName(known.name), known.target) << known.name;
    EXPECT_EQ(targetName(known.target), known.name);
    EXPECT_EQ(kTargets[targetIndex(known.target)].target, known.target);
  }
  EXPECT_EQ(targetFromName("x86-64-v5"), std::nullopt);
  EXPECT_EQ(targetFromName(""), std::nullopt);
  // One portable section serves all processors.
  EXPECT_EQ(targetName({TargetKind::X86, 0}), "portable");
  EXPECT_EQ(targetName({TargetKind::Aarch64, 0}), "portable");
}

TEST(Target, ThisMachineSupportsItsOwnKindOnly) {
  EXPECT_TRUE(supports(kPortable));
  EXPECT_TRUE(supports(bestTarget()));
  for (const NamedTarget &known : kTargets) {
    if (known.target.kind != kHostKind) {
      EXPECT_FALSE(supports(known.target)) << known.name;
    }
  }
}
