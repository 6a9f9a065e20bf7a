/// LaunchPrograms: programs with one compiled kernel, in a section for any target that runs the
/// host's code.
#pragma once

#include "LaunchKit.h"

namespace tracert::test {

/// total = sum of x[m], int64.
std::shared_ptr<const Program> maskedSumProgram(Target target);
/// selected = x[m & m], and twice = selected + selected without a kernel. The mask is computed by
/// an op that only the kernel runs, so the count comes from the kernel.
std::shared_ptr<const Program> compactProgram(Target target);
/// sum of int64 x, by blocks.
std::shared_ptr<const Program> blockSumProgram(Target target);
/// y = x[i].
std::shared_ptr<const Program> gatherProgram(Target target);

} // namespace tracert::test
