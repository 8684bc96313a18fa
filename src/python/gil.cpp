// Letting the GIL go and taking it again. See gil.h.
#include "python/gil.h"

#include <cxxabi.h>

#include "PyGPU/device.h"

namespace PyGPU::python {

bool holds_gil() {
  if (!Py_IsInitialized()) return false;
#if PY_VERSION_HEX >= 0x030d0000
  return PyThreadState_GetUnchecked() != nullptr;
#elif PY_VERSION_HEX >= 0x030c0000
  return _PyThreadState_UncheckedGet() != nullptr;
#else  // the state of the thread that holds it, whichever that is
  PyThreadState* const holder = _PyThreadState_UncheckedGet();
  return holder && holder == PyGILState_GetThisThreadState();
#endif
}

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

cudaError_t NoGilTraits::release(Handle handle) {
  try {
    PyEval_RestoreThread(handle.state);
  } catch (abi::__forced_unwind&) {
    sleep_until_the_end();
  }
  return cudaSuccess;
}

cudaError_t GilTraits::release(Handle handle) {
  PyGILState_Release(handle.before);
  return cudaSuccess;
}

Gil take_gil() {
  try {
    return Gil({true, PyGILState_Ensure()});
  } catch (abi::__forced_unwind&) {
    sleep_until_the_end();
  }
}

void drop(PyObject* object) {
  if (!object || !Py_IsInitialized() || (is_finalizing() && !holds_gil())) return;
  const Gil held = take_gil();
  Py_DECREF(object);
}

void bind_gil() {
  around_waits([](const Wait& call) {
    const NoGil without = release_gil_if_held();
    return call();
  });
}

}  // namespace PyGPU::python
