// Guards that release the GIL around calls that wait, or acquire it in threads from outside Python.
#pragma once

#include "PyGPU/runtime/unique_handle.h"
#include "python/binding/objects.h"

namespace PyGPU::python {

// Return true if this thread holds the GIL. PyGILState_Check is unreliable once a sub-interpreter
// has existed.
bool holds_gil();
bool is_finalizing();

struct NoGilTraits {
  struct Handle {
    PyThreadState* state = nullptr;
    bool operator==(const Handle& other) const { return state == other.state; }
  };
  static constexpr const char* name = "the GIL";
  static cudaError_t release(Handle handle);
};
// Guard that releases the GIL while the guard exists, so that other Python threads run.
using NoGil = UniqueHandle<NoGilTraits>;
inline NoGil release_gil() { return NoGil({PyEval_SaveThread()}); }
// Like release_gil, for code that runs with or without the GIL, even after the end of the
// interpreter.
inline NoGil release_gil_if_held() { return holds_gil() ? release_gil() : NoGil(); }

struct GilTraits {
  struct Handle {
    bool taken = false;
    PyGILState_STATE before = PyGILState_LOCKED;
    bool operator==(const Handle& other) const { return taken == other.taken; }
  };
  static constexpr const char* name = "the acquired GIL";
  static cudaError_t release(Handle handle);
};
// Guard that holds the GIL while the guard exists. The thread may already hold the GIL before.
using Gil = UniqueHandle<GilTraits>;
Gil take_gil();

// Return true if the interpreter still lets this thread acquire the GIL.
bool may_take_gil();

// Release a reference to an object, with or without the GIL. If this thread can no longer acquire
// the GIL, the reference is leaked.
void drop(PyObject* object);

// Make the core release the GIL in calls that wait (see device.h).
void bind_gil();

}  // namespace PyGPU::python
