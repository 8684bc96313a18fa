// Release and acquisition of the GIL. See gil.h.
#include "python/binding/gil.h"

#include <unistd.h>
#include <unwind.h>

#include "PyGPU/gpu.h"
#include "PyGPU/runtime/device.h"

// Personality routine of every frame of this module; the linker puts it in front of the C++
// library's (setup.py). During finalization, Pythons before 3.14 end a thread that waits for the
// GIL by unwinding its stack. That would unwind destructors, which must not throw, and drop
// references without the GIL. Instead the thread sleeps until the process is gone, as with newer
// Pythons. Before, pthread_exit in a user's library ends its thread without the destructors of this
// module's frames: they would acquire the GIL, which nobody would then release.
extern "C" {
_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context);

_Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context) {
  if (actions & _UA_FORCE_UNWIND) {
    while (!PyGPU::python::may_take_gil()) pause();
    return _URC_CONTINUE_UNWIND;
  }
  return __real___gxx_personality_v0(version, actions, kind, exception, context);
}
}

namespace PyGPU::python {

bool holds_gil() {
  if (!Py_IsInitialized()) return false;
#if PY_VERSION_HEX >= 0x030d0000
  return PyThreadState_GetUnchecked() != nullptr;
#elif PY_VERSION_HEX >= 0x030c0000
  return _PyThreadState_UncheckedGet() != nullptr;
#else  // returns the state of whichever thread holds the GIL
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
  PyEval_RestoreThread(handle.state);
  return cudaSuccess;
}

cudaError_t GilTraits::release(Handle handle) {
  PyGILState_Release(handle.before);
  return cudaSuccess;
}

Gil take_gil() { return Gil({true, PyGILState_Ensure()}); }

bool may_take_gil() { return Py_IsInitialized() && (!is_finalizing() || holds_gil()); }

void drop(PyObject* object) {
  if (!object || !may_take_gil()) return;
  const Gil held = take_gil();
  Py_DECREF(object);
}

void bind_gil() {
  wrap_waits([](const Wait& call) {
    const NoGil without = release_gil_if_held();
    return call();
  });
  around_stream_waits([](void (*wait)(void*), void* data) {
    const NoGil without = release_gil_if_held();
    wait(data);
  });
}

}  // namespace PyGPU::python
