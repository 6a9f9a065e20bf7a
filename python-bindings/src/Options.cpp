// Options of this thread's evaluation, as tc.options sets and restores them.

#include "Arguments.h"
#include "Session.h"

#include "tracec/Compiler.h"
#include "tracec/InterpreterLock.h"
#include "tracert/CacheLimits.h"
#include "tracert/Device.h"
#include "tracert/Executor.h"
#include "tracert/RecentList.h"
#include "tracert/ThreadPool.h"

#include <memory>

namespace tracec::python {

using tracert::SectionChoice;
using tracert::Target;

bool readSection(PyObject *name, Section &section) {
  struct Named {
    const char *name;
    SectionChoice::Kind kind;
    Target target;
  };
  const Named all[] = {
      {"best", SectionChoice::Best, tracert::bestTarget()},
      {"portable", SectionChoice::Portable, tracert::kPortable},
      {"v3", SectionChoice::Native, tracert::kX86V3},
      {"x86-64-v3", SectionChoice::Native, tracert::kX86V3},
      {"avx512", SectionChoice::Native, tracert::kX86V4},
      {"x86-64-v4", SectionChoice::Native, tracert::kX86V4},
      {"aarch64", SectionChoice::Native, tracert::kAarch64Neon},
      {"aarch64-neon", SectionChoice::Native, tracert::kAarch64Neon},
  };
  for (const Named &known : all) {
    if (!PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, known.name) != 0) {
      continue;
    }
    if (!tracert::hostDevice().supports(known.target)) {
      raiseFormat(PyExc_ValueError, "section '%s' needs a processor with %s", known.name,
                  tracert::targetName(known.target).data());
      return false;
    }
    section = {static_cast<uint8_t>(known.kind), known.target};
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

constexpr char kCapsuleName[] = "tracec.EvalOptions";

void deleteOptions(PyObject *capsule) {
  delete static_cast<EvalOptions *>(PyCapsule_GetPointer(capsule, kCapsuleName));
}

/// (section or None, threads or None) -> the options that were active.
PyObject *swapOptions(PyObject *, PyObject *const *args, Py_ssize_t nargs) {
  if (nargs != 2) {
    return raiseAdvice(PyExc_TypeError, "use tc.options", "swap_options() takes 2 arguments");
  }
  EvalOptions next = evalOptions();
  if (args[0] != Py_None) {
    Section section;
    if (!readSection(args[0], section)) {
      return nullptr;
    }
    next.sectionKind = section.kind;
    next.target = section.target;
  }
  if (args[1] != Py_None) {
    int64_t threads;
    if (!readInt(args[1], "threads", threads)) {
      return nullptr;
    }
    if (threads < 1 || threads > 1024) {
      return raiseFormat(PyExc_ValueError, "threads must be from 1 to 1024, got %lld",
                         static_cast<long long>(threads));
    }
    next.pool = poolOf(static_cast<int>(threads));
  }
  PyObject *previous = PyCapsule_New(new EvalOptions(evalOptions()), kCapsuleName, deleteOptions);
  if (previous) {
    evalOptions() = next;
  }
  return previous;
}

PyObject *restoreOptions(PyObject *, PyObject *capsule) {
  auto *options = static_cast<EvalOptions *>(PyCapsule_GetPointer(capsule, kCapsuleName));
  if (!options) {
    return nullptr;
  }
  evalOptions() = *options;
  Py_RETURN_NONE;
}

PyObject *compileCount(PyObject *, PyObject *) {
  const CompilerApi *api = loadedCompiler();
  uint64_t count = 0;
  if (api) {
    WithoutInterpreter pause;
    count = api->kernelsCompiled();
  }
  return PyLong_FromUnsignedLongLong(count);
}

/// Loops that were shared among the threads of the pool in use.
PyObject *sharedLoops(PyObject *, PyObject *) {
  tracert::ThreadPool *pool = evalOptions().pool.get();
  return PyLong_FromUnsignedLongLong(pool ? pool->sharedLoops() : 0);
}

/// Names of the sections that this processor can run.
PyObject *runnableSections(PyObject *, PyObject *) {
  PyObject *names = PyList_New(0);
  for (const tracert::NamedTarget &known : tracert::kTargets) {
    if (!names || !tracert::hostDevice().supports(known.target)) {
      continue;
    }
    PyObject *name = PyUnicode_FromString(known.target == tracert::kX86V3   ? "v3"
                                          : known.target == tracert::kX86V4 ? "avx512"
                                                                            : known.name.data());
    if (!name || PyList_Append(names, name) < 0) {
      Py_CLEAR(names);
    }
    Py_XDECREF(name);
  }
  return names;
}

} // namespace

PyMethodDef optionFunctions[] = {
    {"swap_options", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(swapOptions)),
     METH_FASTCALL, nullptr},
    {"restore_options", restoreOptions, METH_O, nullptr},
    {"compile_count", compileCount, METH_NOARGS, nullptr},
    {"shared_loops", sharedLoops, METH_NOARGS, nullptr},
    {"runnable_sections", runnableSections, METH_NOARGS, nullptr},
    {},
};

} // namespace tracec::python
