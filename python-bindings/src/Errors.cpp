#include "Errors.h"

#include "tracec/Trace.h"
#include "tracert/RunControl.h"

#include <cstdarg>
#include <string>

namespace tracec::python {

using tracert::SourceLoc;
using tracert::Status;
using tracert::StatusCode;

namespace {

/// The exception types of this module; set once when it is made.
PyObject *axisError = nullptr;
PyObject *traceError = nullptr;
PyObject *loadError = nullptr;
PyObject *compileError = nullptr;

PyObject *exceptionFor(StatusCode code) {
  switch (code) {
  case StatusCode::InvalidArgument:
    return PyExc_ValueError;
  case StatusCode::InvalidType:
    return PyExc_TypeError;
  case StatusCode::IndexOutOfRange:
    return PyExc_IndexError;
  case StatusCode::Overflow:
    return PyExc_OverflowError;
  case StatusCode::AxisOutOfRange:
    return axisError;
  case StatusCode::CorruptFile:
  case StatusCode::Unsupported:
    return loadError;
  case StatusCode::Io:
    return PyExc_OSError;
  case StatusCode::OutOfMemory:
    return PyExc_MemoryError;
  case StatusCode::Compile:
    return compileError;
  case StatusCode::GuardFailed:
    return PyExc_ValueError;
  case StatusCode::TraceMismatch:
    return traceError;
  case StatusCode::Ok:
  case StatusCode::Internal:
    break;
  }
  if (code == tracert::kDeadlineExceeded) {
    return PyExc_TimeoutError;
  }
  return code == tracert::kResourceExhausted ? PyExc_MemoryError : PyExc_RuntimeError;
}

bool isOurFrame(PyFrameObject *frame) {
  PyObject *globals = PyFrame_GetGlobals(frame);
  PyObject *name = globals ? PyDict_GetItemString(globals, "__name__") : nullptr;
  bool ours = false;
  if (name && PyUnicode_Check(name)) {
    if (const char *text = PyUnicode_AsUTF8(name)) {
      std::string_view view(text);
      ours = view == "tracec" || view.starts_with("tracec.");
    } else {
      PyErr_Clear();
    }
  }
  Py_XDECREF(globals);
  return ours;
}

std::string lineText(const std::string &file, const std::string &line) {
  size_t slash = file.rfind('/');
  return (slash == std::string::npos ? file : file.substr(slash + 1)) + ":" + line;
}

/// Cuts the executor's " (op #3 'add' at /dir/file.py:12)" off and returns "file.py:12".
std::string cutLocation(std::string &message) {
  size_t open = message.rfind(" (op #");
  size_t at = open == std::string::npos ? open : message.find(" at ", open);
  size_t colon = at == std::string::npos ? at : message.rfind(':');
  if (colon == std::string::npos || colon < at || message.back() != ')') {
    return "";
  }
  std::string file = message.substr(at + 4, colon - at - 4);
  std::string line = message.substr(colon + 1, message.size() - colon - 2);
  message.resize(open);
  return lineText(file, line);
}

/// Code and cure of each kind of error; docs/errors.md has a section per code.
struct ErrorText {
  const char *code;
  const char *cure;
};

ErrorText textFor(StatusCode code) {
  switch (code) {
  case StatusCode::InvalidArgument:
    return {"TC0101", "check the shapes and values given to this call"};
  case StatusCode::InvalidType:
    return {"TC0102", "convert the operand, e.g. with .astype(...), or pass another type"};
  case StatusCode::IndexOutOfRange:
    return {"TC0103", "use positions from -size to size - 1, and index arrays and masks that fit "
                      "the indexed shape"};
  case StatusCode::Overflow:
    return {"TC0104", "use a wider dtype, or a number inside the range of this one"};
  case StatusCode::AxisOutOfRange:
    return {"TC0105", "use axes from -rank to rank - 1"};
  case StatusCode::CorruptFile:
    return {"TC0301", "make the file again with dump()"};
  case StatusCode::Unsupported:
    return {"TC0302", "install the tracec that made the file or a newer one, or make the file "
                      "again with this one"};
  case StatusCode::Io:
    return {"TC0303", "check the path, its permissions and the free space"};
  case StatusCode::OutOfMemory:
    return {"TC0401", "use smaller tensors, or drop some that are not needed"};
  case StatusCode::GuardFailed:
    return {"TC0106",
            "record the function with sizes like these and dump it again, or change it so "
            "that nothing is written through what may be a view or a copy"};
  case StatusCode::Compile:
    return {"TC0402", "check that libtracec-compiler.so is installed, or set "
                      "TRACEC_COMPILER_LIBRARY"};
  case StatusCode::Ok:
  case StatusCode::TraceMismatch:
  case StatusCode::Internal:
    break;
  }
  if (code == tracert::kCancelled) {
    return {"TC0403", "run it again"};
  }
  if (code == tracert::kResourceExhausted) {
    return {"TC0404", "give load() a larger load_limit or memory_limit if you trust the file"};
  }
  if (code == tracert::kDeadlineExceeded) {
    return {"TC0405", "give load() a larger time_limit, or use smaller inputs"};
  }
  return {"TC0901", "make a small program that shows it and report it: this is a bug of tracec"};
}

StatusCode codeOf(PyObject *kind) {
  for (StatusCode code : {StatusCode::InvalidArgument, StatusCode::InvalidType,
                          StatusCode::IndexOutOfRange, StatusCode::Overflow, StatusCode::Io}) {
    if (exceptionFor(code) == kind) {
      return code;
    }
  }
  return StatusCode::Internal;
}

/// First line: code, message, the user's Python line. Second line: what to do.
std::string composeMessage(StatusCode code, std::string message, const char *advice = nullptr) {
  std::string location = cutLocation(message);
  if (location.empty()) {
    SourceLoc loc = userLocation();
    location = loc.file.empty() ? "" : lineText(loc.file, std::to_string(loc.line));
  }
  ErrorText text = textFor(code);
  std::string composed = std::string(text.code) + " " + message;
  if (!location.empty()) {
    composed += " (at " + location + ")";
  }
  return composed + "\n  " + (advice ? advice : text.cure);
}

PyObject *locationText(const SourceLoc &loc) {
  return PyUnicode_FromFormat("%s:%d", loc.file.c_str(), loc.line);
}

/// Takes over `value`.
bool setAttribute(PyObject *object, const char *name, PyObject *value) {
  bool ok = value && PyObject_SetAttrString(object, name, value) == 0;
  Py_XDECREF(value);
  return ok;
}

void raiseTraceError(const std::string &message) {
  const TraceMismatch &mismatch = lastTraceMismatch();
  PyObject *error = PyObject_CallFunction(traceError, "s#", message.data(),
                                          static_cast<Py_ssize_t>(message.size()));
  if (!error) {
    return;
  }
  if (setAttribute(error, "code", PyUnicode_FromString(mismatch.code.c_str())) &&
      setAttribute(error, "reason", PyUnicode_FromString(mismatch.reason.c_str())) &&
      setAttribute(error, "op_index", PyLong_FromUnsignedLong(mismatch.opIndex)) &&
      setAttribute(error, "then_line", locationText(mismatch.thenLoc)) &&
      setAttribute(error, "now_line", locationText(mismatch.nowLoc))) {
    PyErr_SetObject(traceError, error);
  }
  Py_DECREF(error);
}

/// Null: the general one of the code.
const char *adviceOf(const Status &status) {
  return status.advice().empty() ? nullptr : status.advice().c_str();
}

/// OSError(errno, text, filename), which Python makes FileNotFoundError and so on. Python adds the
/// filename to the text, and what to do is a note.
void raiseSystemError(const Status &status) {
  std::string message = status.message();
  std::string quoted = " '" + status.path() + "'";
  if (size_t at = message.find(quoted); at != std::string::npos) {
    message.erase(at, quoted.size());
  }
  std::string composed = composeMessage(status.code(), std::move(message), adviceOf(status));
  size_t lineEnd = composed.rfind("\n  ");
  PyObject *path = PyUnicode_DecodeFSDefaultAndSize(status.path().data(),
                                                    static_cast<Py_ssize_t>(status.path().size()));
  PyObject *error =
      path ? PyObject_CallFunction(PyExc_OSError, "is#O", status.systemError(), composed.data(),
                                   static_cast<Py_ssize_t>(lineEnd), path)
           : nullptr;
  Py_XDECREF(path);
  if (!error) {
    return;
  }
  PyObject *noted = PyObject_CallMethod(error, "add_note", "s", composed.c_str() + lineEnd + 3);
  if (noted) {
    Py_DECREF(noted);
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error)), error);
  }
  Py_DECREF(error);
}

/// Takes over `text`; null when formatting it failed.
void raiseText(PyObject *kind, const char *advice, PyObject *text) {
  const char *utf8 = text ? PyUnicode_AsUTF8(text) : nullptr;
  if (text && !utf8) {
    // Lone surrogates, from a name or a repr.
    PyErr_Clear();
    Py_SETREF(text, PyUnicode_FromFormat("%A", text));
    utf8 = text ? PyUnicode_AsUTF8(text) : nullptr;
  }
  if (utf8) {
    PyErr_SetString(kind, composeMessage(codeOf(kind), utf8, advice).c_str());
  }
  Py_XDECREF(text);
}

} // namespace

SourceLoc userLocation() {
  SourceLoc loc;
  PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame) {
    if (!isOurFrame(frame)) {
      PyCodeObject *code = PyFrame_GetCode(frame);
      if (const char *file = PyUnicode_AsUTF8(code->co_filename)) {
        loc.file = file;
      } else {
        PyErr_Clear(); // no UTF-8: an unknown file
      }
      loc.line = PyFrame_GetLineNumber(frame);
      Py_DECREF(code);
      Py_DECREF(frame);
      break;
    }
    PyFrameObject *back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return loc;
}

PyObject *raise(const Status &status) {
  if (status.code() == StatusCode::TraceMismatch) {
    raiseTraceError(status.message());
    return nullptr;
  }
  // An error of a Python callback that ran inside wins: it says more.
  if (PyErr_Occurred()) {
    return nullptr;
  }
  if (status.systemError() != 0) {
    raiseSystemError(status);
    return nullptr;
  }
  std::string message = composeMessage(status.code(), status.message(), adviceOf(status));
  PyObject *text = PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()),
                                        "backslashreplace");
  if (text) {
    PyErr_SetObject(exceptionFor(status.code()), text);
    Py_DECREF(text);
  }
  return nullptr;
}

int raiseInt(const Status &status) {
  raise(status);
  return -1;
}

PyObject *raiseFormat(PyObject *kind, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  raiseText(kind, nullptr, PyUnicode_FromFormatV(format, arguments));
  va_end(arguments);
  return nullptr;
}

PyObject *raiseAdvice(PyObject *kind, const char *advice, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  raiseText(kind, advice, PyUnicode_FromFormatV(format, arguments));
  va_end(arguments);
  return nullptr;
}

bool addErrors(PyObject *module) {
  PyObject *bases = PyTuple_Pack(2, PyExc_ValueError, PyExc_IndexError);
  axisError = PyErr_NewExceptionWithDoc("tracec.AxisError", "An axis is out of range for the rank.",
                                        bases, nullptr);
  Py_XDECREF(bases);
  traceError = PyErr_NewExceptionWithDoc(
      "tracec.TraceError",
      "A call of a traced function is not the recorded program.\n\nAttributes: code, reason, "
      "op_index, then_line, now_line.",
      nullptr, nullptr);
  loadError = PyErr_NewExceptionWithDoc(
      "tracec.LoadError", "A file is damaged, or needs what this machine or version lacks.",
      nullptr, nullptr);
  compileError = PyErr_NewExceptionWithDoc(
      "tracec.CompileError", "The compiler library is missing or refused the program.", nullptr,
      nullptr);
  return axisError && traceError && loadError && compileError &&
         PyModule_AddObjectRef(module, "AxisError", axisError) == 0 &&
         PyModule_AddObjectRef(module, "TraceError", traceError) == 0 &&
         PyModule_AddObjectRef(module, "LoadError", loadError) == 0 &&
         PyModule_AddObjectRef(module, "CompileError", compileError) == 0;
}

} // namespace tracec::python
