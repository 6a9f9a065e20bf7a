/// Waiting beside an interpreter with one big lock (Python's GIL).
///
///   std::mutex mutex;
///   ScopedLock lock(mutex);          // waits without the interpreter's lock
///   WithoutInterpreter pause;        // something that takes long: others go on
///
/// The rule: no thread waits for a mutex while it holds the interpreter's lock, nor waits for the
/// interpreter's lock while it holds a mutex. Then the two cannot wait for each other. So what may
/// run the user's code (a destructor, a callback, the question for the current line) is called
/// without a mutex. Exempt are leaf locks: held for a few instructions that call nothing, as those
/// of the allocator and of a transform's list of wrappers.
#pragma once

#include <mutex>

namespace tracec {

/// How a thread gives up the interpreter's lock; installed by the bindings.
struct InterpreterLock {
  /// Gives up the lock. Null when this thread does not hold it.
  void *(*release)() = nullptr;
  /// Waits for it; takes what `release` gave.
  void (*take)(void *released) = nullptr;
};
void setInterpreterLock(InterpreterLock lock);

/// While this lives its thread does without the interpreter's lock, and touches no tensor, cell or
/// other object that only that lock guards. Nests. Must not begin while a ScopedLock is held. A
/// fork waits for the end.
class WithoutInterpreter {
public:
  WithoutInterpreter();
  ~WithoutInterpreter();
  WithoutInterpreter(const WithoutInterpreter &) = delete;
  WithoutInterpreter &operator=(const WithoutInterpreter &) = delete;

private:
  void *released = nullptr;
};

/// Holds a mutex; a thread holds one at a time. What runs meanwhile has the interpreter's lock if
/// the thread had it, and must not give it up.
class ScopedLock {
public:
  explicit ScopedLock(std::mutex &mutex);
  ~ScopedLock();
  ScopedLock(const ScopedLock &) = delete;
  ScopedLock &operator=(const ScopedLock &) = delete;

private:
  std::mutex &mutex;
};

/// Whether this thread holds a ScopedLock, for assertions in what waits for the interpreter.
bool holdsScopedLock();

} // namespace tracec
