/// Classes and functions bound by nanobind: those that no loop of the user calls. Hot ones use the
/// C API; Rationale.md says why.
///
///   module.def("explain", [](const Trace &trace) { return take(trace.function->text()); });
///
/// A C++ exception lives between nanobind and such a function only: nothing below throws, and
/// nothing that a slot of the C API calls may. Needs the GIL.
#pragma once

#include "TensorObject.h"

#include <nanobind/nanobind.h>

#include <utility>

namespace tracec::python {

namespace nb = nanobind;

/// Throws what a function of the C API has set before it returned false.
inline void check(bool ok) {
  if (!ok) {
    throw nb::python_error();
  }
}

inline void check(const Status &status) {
  if (!status.ok()) {
    raise(status);
    throw nb::python_error();
  }
}

template <class T> T take(Result<T> result) {
  check(result.status());
  return std::move(*result);
}

/// Takes over a new reference; null is an exception that is set.
inline nb::object owned(PyObject *object) {
  check(object != nullptr);
  return nb::steal(object);
}

} // namespace tracec::python

/// A tensor is its own object; this also lets containers of tensors be arguments and results.
template <> struct nanobind::detail::type_caster<tracec::Tensor> {
  NB_TYPE_CASTER(tracec::Tensor, const_name("tracec.Tensor"))

  bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
    bool ok = tracec::python::isTensor(source.ptr());
    if (ok) {
      value = tracec::python::tensorOf(source.ptr());
    }
    return ok;
  }
  static handle from_cpp(const tracec::Tensor &tensor, rv_policy, cleanup_list *) noexcept {
    return tracec::python::wrapTensor(tensor);
  }
};
