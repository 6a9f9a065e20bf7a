#include "tracec/InterpreterLock.h"

#include <cassert>

namespace tracec {

namespace {
InterpreterLock interpreter;
thread_local bool isLocked = false;
} // namespace

void setInterpreterLock(InterpreterLock lock) { interpreter = lock; }

WithoutInterpreter::WithoutInterpreter() {
  assert(!isLocked && "the interpreter's lock is not taken back while a mutex is held");
  if (interpreter.release) {
    released = interpreter.release();
  }
}

WithoutInterpreter::~WithoutInterpreter() {
  assert(!isLocked && "a mutex outlives a pause of the interpreter's lock");
  if (released) {
    interpreter.take(released);
  }
}

ScopedLock::ScopedLock(std::mutex &mutex) : mutex(mutex) {
  assert(!isLocked && "a second mutex could be awaited with the first one held");
  while (!mutex.try_lock()) {
    // Until it is free, then again: the lock is not kept while the interpreter's is awaited.
    WithoutInterpreter pause;
    std::lock_guard wait(mutex);
  }
  isLocked = true;
}

ScopedLock::~ScopedLock() {
  isLocked = false;
  mutex.unlock();
}

bool holdsScopedLock() { return isLocked; }

} // namespace tracec
