#include "Guard.h"

namespace tracert {
namespace {

const Status outOfMemory = Status::outOfMemory("out of memory");
const Status unexpected = Status::internal("an exception that the runtime does not know");

} // namespace

const Status &noMemoryStatus() { return outOfMemory; }
const Status &unexpectedExceptionStatus() { return unexpected; }

} // namespace tracert
