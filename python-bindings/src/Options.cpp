// Options of this thread's evaluation, as tc.options sets and restores them, and tc.stats.

#include "Arguments.h"
#include "Session.h"

#include "tracec/Compiler.h"
#include "tracec/InterpreterLock.h"
#include "tracert/CacheLimits.h"
#include "tracert/Device.h"
#include "tracert/RecentList.h"
#include "tracert/ThreadPool.h"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string_view>
#include <vector>

namespace tracec::python {

using tracert::SectionChoice;

bool readSection(PyObject *name, SectionChoice &section) {
  struct Named {
    const char *name;
    SectionChoice choice;
  };
  const Named all[] = {
      {"best", {SectionChoice::Best, tracert::bestTarget()}},
      {"portable", {SectionChoice::Portable, tracert::kPortable}},
      {"v3", {SectionChoice::Native, tracert::kX86V3}},
      {"x86-64-v3", {SectionChoice::Native, tracert::kX86V3}},
      {"avx512", {SectionChoice::Native, tracert::kX86V4}},
      {"x86-64-v4", {SectionChoice::Native, tracert::kX86V4}},
      {"aarch64", {SectionChoice::Native, tracert::kAarch64Neon}},
      {"aarch64-neon", {SectionChoice::Native, tracert::kAarch64Neon}},
  };
  for (const Named &known : all) {
    if (!PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, known.name) != 0) {
      continue;
    }
    if (!tracert::hostDevice().supports(known.choice.target)) {
      raiseFormat(PyExc_ValueError, "section '%s' needs a processor with %s", known.name,
                  tracert::targetName(known.choice.target).data());
      return false;
    }
    section = known.choice;
    return true;
  }
  raiseFormat(PyExc_ValueError, "unknown section %R; use best, portable, v3 or avx512", name);
  return false;
}

namespace {

/// Pools are kept: making one per use would start threads each time. Guarded by the GIL.
std::shared_ptr<tracert::ThreadPool> poolOf(int threads) {
  using PoolRef = std::shared_ptr<tracert::ThreadPool>;
  static tracert::RecentList<PoolRef> pools{tracert::kMaxThreadPools};
  if (PoolRef *known =
          pools.find([&](const PoolRef &pool) { return pool->threadCount() == threads; })) {
    return *known;
  }
  // Also for one thread: an executor without a pool takes that of the process.
  pools.add(std::make_shared<tracert::ThreadPool>(threads));
  return pools.latest();
}

/// None leaves an option. Returns the options that were active.
EvalOptions swapOptions(nb::handle section, nb::handle threads) {
  EvalOptions next = evalOptions();
  if (!section.is_none()) {
    SectionChoice choice;
    check(readSection(section.ptr(), choice));
    next.sectionKind = choice.kind;
    next.target = choice.target;
  }
  if (!threads.is_none()) {
    int64_t count;
    check(readInt(threads.ptr(), "threads", count));
    if (count < 1 || count > 1024) {
      raiseFormat(PyExc_ValueError, "threads must be from 1 to 1024, got %lld",
                  static_cast<long long>(count));
      throw nb::python_error();
    }
    next.pool = poolOf(static_cast<int>(count));
  }
  return std::exchange(evalOptions(), std::move(next));
}

uint64_t compileCount() {
  const CompilerApi *api = loadedCompiler();
  if (!api) {
    return 0;
  }
  WithoutInterpreter pause;
  return api->kernelsCompiled();
}

uint64_t sharedLoops() {
  const tracert::ThreadPool *pool = evalOptions().pool.get();
  return pool ? pool->sharedLoops() : 0;
}

std::vector<std::string_view> runnableSections() {
  std::vector<std::string_view> names;
  for (const tracert::NamedTarget &known : tracert::kTargets) {
    if (tracert::hostDevice().supports(known.target)) {
      names.push_back(known.target == tracert::kX86V3   ? "v3"
                      : known.target == tracert::kX86V4 ? "avx512"
                                                        : known.name);
    }
  }
  return names;
}

} // namespace

void addOptions(nb::module_ &module) {
  nb::class_<EvalOptions> optionsType(module, "EvalOptions");
  module.def("swap_options", swapOptions, nb::arg().none(), nb::arg().none());
  module.def("restore_options", [](const EvalOptions &previous) { evalOptions() = previous; });
  module.def("compile_count", compileCount);
  module.def("shared_loops", sharedLoops);
  module.def("runnable_sections", runnableSections);
}

} // namespace tracec::python
