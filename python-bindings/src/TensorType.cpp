#include "TensorObject.h"

#include <new>

namespace tracec::python {

PyTypeObject tensorType = {PyVarObject_HEAD_INIT(nullptr, 0)};

namespace {

/// Freed objects, guarded by the GIL.
constexpr int kFreeLimit = 128;
TensorObject *freeObjects[kFreeLimit];
int freeCount = 0;

void deallocate(PyObject *self) {
  auto *object = reinterpret_cast<TensorObject *>(self);
  if (object->weakReferences) {
    PyObject_ClearWeakRefs(self);
  }
  Py_XDECREF(object->name);
  object->tensor.~Tensor();
  if (freeCount < kFreeLimit) {
    freeObjects[freeCount++] = object;
    return;
  }
  PyObject_Free(object);
}

Py_hash_t failHash(PyObject *) {
  raiseAdvice(PyExc_TypeError, "key by id(x), or by a name of your own",
              "a tensor has no hash, because == compares elements");
  return -1;
}

/// Everything but the tensor is set.
TensorObject *allocateObject() {
  TensorObject *object;
  if (freeCount > 0) {
    object = freeObjects[--freeCount];
    (void)PyObject_Init(reinterpret_cast<PyObject *>(object), &tensorType);
  } else {
    object = PyObject_New(TensorObject, &tensorType);
    if (!object) {
      return nullptr;
    }
  }
  object->name = nullptr;
  object->weakReferences = nullptr;
  return object;
}

} // namespace

PyObject *wrapTensor(Tensor tensor) {
  TensorObject *object = allocateObject();
  if (object) {
    new (&object->tensor) Tensor(std::move(tensor));
  }
  return reinterpret_cast<PyObject *>(object);
}

PyObject *wrapValue(Value value) {
  TensorObject *object = allocateObject();
  if (object) {
    new (&object->tensor) Tensor(Tensor::fromValue(std::move(value)));
  }
  return reinterpret_cast<PyObject *>(object);
}

PyObject *wrapResult(Result<Value> result) {
  if (!result.ok()) [[unlikely]] {
    return raise(result.status());
  }
  return wrapValue(std::move(*result));
}

PyObject *wrapResult(Result<Tensor> result) {
  if (!result.ok()) [[unlikely]] {
    return raise(result.status());
  }
  return wrapTensor(std::move(*result));
}

bool addTensorType(PyObject *module) {
  tensorType.tp_name = "tracec.Tensor";
  tensorType.tp_doc = "A tensor; made by tc.tensor, tc.zeros, ... and by operations on tensors.";
  tensorType.tp_basicsize = sizeof(TensorObject);
  tensorType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  tensorType.tp_dealloc = deallocate;
  tensorType.tp_weaklistoffset = offsetof(TensorObject, weakReferences);
  tensorType.tp_as_number = &tensorNumber;
  tensorType.tp_as_mapping = &tensorMapping;
  tensorType.tp_as_sequence = &tensorSequence;
  tensorType.tp_as_buffer = &tensorBuffer;
  tensorType.tp_richcompare = compareTensors;
  tensorType.tp_hash = failHash;
  tensorType.tp_iter = iterateTensor;
  tensorType.tp_repr = tensorText;
  tensorType.tp_methods = tensorMethods;
  tensorType.tp_getset = tensorAttributes;
  if (PyType_Ready(&tensorType) < 0 || !addIndexTypes()) {
    return false;
  }
  // Unhashable for isinstance(x, Hashable), too; hash() still takes the slot, which says why.
  if (PyDict_SetItemString(tensorType.tp_dict, "__hash__", Py_None) < 0) {
    return false;
  }
  PyType_Modified(&tensorType);
  return PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject *>(&tensorType)) == 0;
}

} // namespace tracec::python
