// The GIL: let go around what waits, and taken by threads that come from outside.
#pragma once

#include "PyGPU/unique_handle.h"
#include "python/objects.h"

namespace PyGPU::python {

// Does this thread hold the GIL? PyGILState_Check does not say so once there was a sub-interpreter.
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
// While it lives, other Python threads run.
using NoGil = UniqueHandle<NoGilTraits>;
inline NoGil release_gil() { return NoGil({PyEval_SaveThread()}); }
// The same for code that may run with or without the GIL, even after the interpreter.
inline NoGil release_gil_if_held() { return holds_gil() ? release_gil() : NoGil(); }

struct GilTraits {
  struct Handle {
    bool taken = false;
    PyGILState_STATE before = PyGILState_LOCKED;
    bool operator==(const Handle& other) const { return taken == other.taken; }
  };
  static constexpr const char* name = "the GIL, taken";
  static cudaError_t release(Handle handle);
};
// While it lives, this thread has the GIL, whether it had it before or not.
using Gil = UniqueHandle<GilTraits>;
Gil take_gil();

// Let a reference go, with or without the GIL. It is leaked where the interpreter no longer lets
// this thread in.
void drop(PyObject* object);

// From now on, what waits in the core lets the GIL go.
void bind_gil();

}  // namespace PyGPU::python
