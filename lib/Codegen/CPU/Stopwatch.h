/// Stopwatch: nanoseconds since it was made or last read.
///
///   Stopwatch watch; work(); double nanoseconds = watch.lap();
#pragma once

#include <chrono>

namespace tracec {

class Stopwatch {
public:
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double nanoseconds = std::chrono::duration<double, std::nano>(now - last).count();
    last = now;
    return nanoseconds;
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

} // namespace tracec
