/// Status and Result: how the runtime and the eager core report errors without exceptions.
///
///   Status check(int64_t axis) { return axis < 4 ? Status() : Status::axisOutOfRange("axis 7
///   ..."); } Result<Dims> shape = inferShape(...); if (!shape.ok()) { return shape.status(); }
///
/// An Ok status is one null pointer, so passing it around costs nothing. Messages are lower case,
/// without a final period, and say op, expected, got, where.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tracert {

enum class StatusCode : int {
  Ok = 0,
  /// A value is of the right type but not acceptable (Python: ValueError).
  InvalidArgument = 1,
  /// A dtype or a kind of value is not acceptable (TypeError).
  InvalidType = 2,
  /// An index or a mask shape is out of range (IndexError).
  IndexOutOfRange = 3,
  /// A number does not fit the dtype it must be stored in (OverflowError).
  Overflow = 4,
  /// An axis is out of range for the rank (AxisError: ValueError and IndexError).
  AxisOutOfRange = 5,
  /// A file is damaged or is not a tracec file (LoadError, exit code 3).
  CorruptFile = 6,
  /// A file or request is well formed but needs what this machine or version lacks (exit code 4).
  Unsupported = 7,
  /// The operating system refused (OSError): open, read, write, map.
  Io = 8,
  /// An allocation failed (MemoryError).
  OutOfMemory = 9,
  /// The compiler library is missing or refused the program (CompileError).
  Compile = 10,
  /// A replay is not the recorded program (TraceError).
  TraceMismatch = 11,
  /// A bug of ours; the message asks for a report.
  Internal = 12,
  /// Sizes or strides of a call make eager code take another way than the recorded program (a
  /// ValueError from a file, a TraceError in a replay).
  GuardFailed = 13,
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : rep(code == StatusCode::Ok ? nullptr
                                   : std::make_shared<const Rep>(Rep{code, std::move(message)})) {}

  bool ok() const { return rep == nullptr; }
  StatusCode code() const { return rep ? rep->code : StatusCode::Ok; }
  /// Empty when ok.
  const std::string &message() const { return rep ? rep->message : empty(); }
  /// Io: errno of the failed call, 0 when there is none.
  int systemError() const { return rep ? rep->systemError : 0; }
  /// Io: the file, as the user named it; empty when there is none.
  const std::string &path() const { return rep ? rep->path : empty(); }
  /// What to do, when the general advice for the code does not fit; else empty.
  const std::string &advice() const { return rep ? rep->advice : empty(); }

  static Status invalidArgument(std::string m) {
    return {StatusCode::InvalidArgument, std::move(m)};
  }
  static Status invalidType(std::string m) { return {StatusCode::InvalidType, std::move(m)}; }
  static Status indexOutOfRange(std::string m) {
    return {StatusCode::IndexOutOfRange, std::move(m)};
  }
  static Status overflow(std::string m) { return {StatusCode::Overflow, std::move(m)}; }
  static Status axisOutOfRange(std::string m) { return {StatusCode::AxisOutOfRange, std::move(m)}; }
  static Status corruptFile(std::string m) { return {StatusCode::CorruptFile, std::move(m)}; }
  static Status unsupported(std::string m) { return {StatusCode::Unsupported, std::move(m)}; }
  static Status io(std::string m) { return {StatusCode::Io, std::move(m)}; }
  /// `error`: errno of the call that failed; `path`: the user's name of the file.
  static Status io(std::string m, int error, std::string path) {
    Rep rep{StatusCode::Io, std::move(m)};
    rep.systemError = error;
    rep.path = std::move(path);
    return Status(std::make_shared<const Rep>(std::move(rep)));
  }
  static Status outOfMemory(std::string m) { return {StatusCode::OutOfMemory, std::move(m)}; }
  static Status compile(std::string m) { return {StatusCode::Compile, std::move(m)}; }
  static Status internal(std::string m) { return {StatusCode::Internal, std::move(m)}; }
  static Status guardFailed(std::string m) { return {StatusCode::GuardFailed, std::move(m)}; }

  /// The same error with another text.
  Status withMessage(std::string m) const {
    if (!rep) {
      return {};
    }
    Rep copy = *rep;
    copy.message = std::move(m);
    return Status(std::make_shared<const Rep>(std::move(copy)));
  }
  /// The same error with what the user should do, where the general advice for the code would
  /// mislead.
  Status withAdvice(std::string text) const {
    if (!rep) {
      return {};
    }
    Rep copy = *rep;
    copy.advice = std::move(text);
    return Status(std::make_shared<const Rep>(std::move(copy)));
  }

private:
  struct Rep {
    StatusCode code;
    std::string message;
    int systemError = 0;
    std::string path = {};
    std::string advice = {};
  };
  explicit Status(std::shared_ptr<const Rep> rep) : rep(std::move(rep)) {}
  static const std::string &empty() {
    static const std::string text;
    return text;
  }
  std::shared_ptr<const Rep> rep;
};

/// A value or a status that is not Ok.
template <class T> class [[nodiscard]] Result {
public:
  Result(T v) : held(std::move(v)) {}
  Result(Status s) : state(std::move(s)) {}

  bool ok() const { return held.has_value(); }
  const Status &status() const { return state; }
  T &value() & { return *held; }
  const T &value() const & { return *held; }
  T &&value() && { return std::move(*held); }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }
  T &operator*() { return *held; }
  const T &operator*() const { return *held; }

private:
  std::optional<T> held;
  Status state;
};

} // namespace tracert

/// Returns the status from the enclosing function when it is not Ok.
#define TRACERT_TRY(expression)                                                                    \
  do {                                                                                             \
    if (::tracert::Status tryStatus_ = (expression); !tryStatus_.ok()) {                           \
      return tryStatus_;                                                                           \
    }                                                                                              \
  } while (false)

#define TRACERT_CONCAT_(a, b) a##b
#define TRACERT_CONCAT(a, b) TRACERT_CONCAT_(a, b)
/// `TRACERT_ASSIGN(auto type, inferType(...));` declares `type` or returns the error.
#define TRACERT_ASSIGN(declaration, expression)                                                    \
  auto TRACERT_CONCAT(tryResult_, __LINE__) = (expression);                                        \
  if (!TRACERT_CONCAT(tryResult_, __LINE__).ok()) {                                                \
    return TRACERT_CONCAT(tryResult_, __LINE__).status();                                          \
  }                                                                                                \
  declaration = std::move(TRACERT_CONCAT(tryResult_, __LINE__)).value()
