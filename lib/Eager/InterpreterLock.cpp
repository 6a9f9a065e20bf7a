#include "tracec/InterpreterLock.h"

#include <cassert>
#include <new>
#include <shared_mutex>

#include <pthread.h>

namespace tracec {

namespace {
InterpreterLock interpreter;
thread_local bool isLocked = false;

/// Held shared by threads that do without the interpreter's lock: a fork between their steps would
/// leave the child their mutexes, held for ever.
std::shared_mutex &forkGate() {
  // Never destroyed: threads may compile while the process ends.
  static auto *gate = new std::shared_mutex;
  return *gate;
}

/// The forking thread may have the interpreter's lock, which those that it waits for take after the
/// gate only. In the child the gate is new: the old one may count threads of the parent that wait.
void guardForks() {
  static const int registered =
      pthread_atfork([] { forkGate().lock(); }, [] { forkGate().unlock(); },
                     [] { new (&forkGate()) std::shared_mutex; });
  (void)registered;
}
} // namespace

void setInterpreterLock(InterpreterLock lock) {
  guardForks();
  interpreter = lock;
}

WithoutInterpreter::WithoutInterpreter() {
  assert(!isLocked && "the interpreter's lock is not taken back while a mutex is held");
  if (interpreter.release) {
    released = interpreter.release();
  }
  if (released) {
    forkGate().lock_shared();
  }
}

WithoutInterpreter::~WithoutInterpreter() {
  assert(!isLocked && "a mutex outlives a pause of the interpreter's lock");
  if (released) {
    forkGate().unlock_shared();
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
