/// The wall that no exception of the C++ library passes: memory that is not there becomes a status.
///
///   return guardedCall([&]() -> Result<int> { ...; return 3; });
///
/// For every entry of the runtime that may allocate. Our own code reports by Status, so what comes
/// is std::bad_alloc or std::length_error.
#pragma once

#include "tracert/Status.h"

#include <new>
#include <stdexcept>

namespace tracert {

/// Made when the library is loaded, since there may be no memory for one when it is needed.
const Status &noMemoryStatus();
const Status &unexpectedExceptionStatus();

template <class F> auto guardedCall(F &&body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return noMemoryStatus();
  } catch (const std::length_error &) {
    // A container that could never be that long.
    return noMemoryStatus();
  } catch (...) {
    return unexpectedExceptionStatus();
  }
}

} // namespace tracert
