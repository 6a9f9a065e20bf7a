/// Stopwatch: nanoseconds of this thread's CPU time since it was made or last read. CPU time,
/// because a busy machine must not change what a compilation costs.
///
///   Stopwatch watch; work(); double nanoseconds = watch.lap();
#pragma once

#include <ctime>

namespace tracec {

class Stopwatch {
public:
  double lap() {
    double now = read(), nanoseconds = now - last;
    last = now;
    return nanoseconds;
  }

private:
  static double read() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  }
  double last = read();
};

} // namespace tracec
