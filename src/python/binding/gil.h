// Guards of the GIL: released around calls that wait, and acquired by threads from outside Python.
#pragma once

#include "PyGPU/runtime/unique_handle.h"
#include "python/binding/objects.h"

namespace PyGPU::python {

// Return whether this thread holds the GIL. PyGILState_Check is unreliable once a sub-interpreter
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
// Guard: while it lives, the GIL is released and other Python threads run.
using NoGil = UniqueHandle<NoGilTraits>;
inline NoGil release_gil() { return NoGil({PyEval_SaveThread()}); }
// Like release_gil, for code that may run with or without the GIL, even after the interpreter has
// ended.
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
// Guard: while it lives, this thread holds the GIL, whether it held it before or not.
using Gil = UniqueHandle<GilTraits>;
Gil take_gil();

// Return whether the interpreter still lets this thread in.
bool may_take_gil();

// Drop a reference, with or without the GIL. The reference is leaked if the interpreter no longer
// lets this thread in.
void drop(PyObject* object);

// Make the core release the GIL in calls that wait (see device.h).
void bind_gil();

}  // namespace PyGPU::python
