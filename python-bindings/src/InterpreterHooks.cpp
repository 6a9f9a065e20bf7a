// What the core asks of the interpreter: its lock, and the current line.

#include "Session.h"
#include "tracec/Dispatch.h"
#include "tracec/InterpreterLock.h"

#include <cassert>

#include <unistd.h>

namespace tracec::python {

namespace {

InterpreterLock globalLock() {
  auto release = []() -> void * { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; };
  auto take = [](void *released) {
    // A thread that outlives the interpreter must not unwind through frames that release objects.
    while (_Py_IsFinalizing()) {
      pause();
    }
    PyEval_RestoreThread(static_cast<PyThreadState *>(released));
  };
  return {release, take};
}

tracert::SourceLoc locationForCore() {
  assert(!holdsScopedLock() && "the current line is asked for without a mutex");
  PyGILState_STATE gil = PyGILState_Ensure();
  tracert::SourceLoc loc = userLocation();
  PyGILState_Release(gil);
  return loc;
}

} // namespace

void installInterpreterHooks() {
  setLocationProvider(locationForCore);
  setInterpreterLock(globalLock());
}

} // namespace tracec::python
