// Python class cudaError_t, the calls on errors, and the only conversion of a status to an
// exception.
#include <utility>

#include "python/binders.h"
#include "python/binding/gil.h"
#include "python/binding/hooks.h"
#include "python/runtime/call.h"
#include "python/runtime/status_docs.h"

namespace PyGPU::python {
namespace {

void raise_device_error(const DeviceError& error) {
  const py::handle exception_of = hook_or_null(Hook::exception_of);
  if (!exception_of) return PyErr_SetString(PyExc_RuntimeError, error.what());
  const py::object made = exception_of(error.call, instance(error.status));
  PyErr_SetObject(py::type::of(made).ptr(), made.ptr());
}

// Raise the error, or the exception that making it raised.
void raise_or(const DeviceError& error) noexcept {
  try {
    raise_device_error(error);
  } catch (py::error_already_set& failure) {
    failure.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception&) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

// Exception that a signal handler raised while a launch was paused for it.
py::error_already_set* raised = nullptr;

int raise_now(void*) {
  if (!raised) return 0;
  raised->restore();
  delete std::exchange(raised, nullptr);
  return -1;
}

// Return whether a signal such as Ctrl-C ends the launch. The process's first thread calls this
// while its kernel is paused. The exception is raised once the launch has returned to Python,
// whichever code made it.
bool is_interrupted() {
  if (!Py_IsInitialized() || is_finalizing()) return false;
  const Gil held = take_gil();
  const bool ends = PyErr_CheckSignals() != 0;
  if (ends) {
    delete std::exchange(raised, new py::error_already_set);
    if (Py_AddPendingCall(raise_now, nullptr) != 0) {
      raise_now(nullptr);
      PyErr_WriteUnraisable(nullptr);
    }
  }
  return ends;
}

bool equals(const Status& status, py::handle other) {
  if (const Status* const found = find<Status>(other.ptr())) return found->code == status.code;
  return PyLong_Check(other.ptr()) && py::int_(int(status.code)).equal(other);
}

std::string status_repr(const Status& status) {
  return "<cudaError: code=" + std::to_string(int(status.code)) + ">";
}

}  // namespace

Status ArgumentConverter<Status>::read(PyObject* value, const ArgumentPosition& position) {
  if (const Status* const found = find<Status>(value)) return *found;
  return Status(cudaError_t(ArgumentConverter<int>::read(value, position)));
}

void wait_for(const StreamRef& stream) {
  throw_if_capturing("cudaStreamSynchronize");
  const NoGil without = release_gil();
  check("cudaStreamSynchronize", cudaStreamSynchronize(stream.handle));
  if (!stream.handle) record_current_idle(true);
}

Status call_by(Status (*make)(const void*), const void* what) {
  if (!enter_runtime()) return refused_status();
  const NoGil without = release_gil();
  return returned_to_caller(make(what));
}

void translate_exception() noexcept {
  try {
    throw;
  } catch (const DeviceError& error) {
    raise_or(error);
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc& error) {
    PyErr_SetString(PyExc_MemoryError, error.what());
  } catch (const std::out_of_range& error) {
    PyErr_SetString(PyExc_IndexError, error.what());
  } catch (const std::invalid_argument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "an exception of unknown type left PyGPU's C++ code");
  }
}

void bind_status(module_& m) {
  const py::object c = new_class<Status>(m, "cudaError_t", docs::cudaError_t_text);
  constructor(c,
              [](py::handle, int code, const std::string& detail) {
                return Status(cudaError_t(code), detail);
              },
              {{"code", 0}, {"detail", ""}});
  method(c, "__repr__", status_repr);
  method(c, "__str__", status_repr);
  const auto code = [](const Status& status) { return int(status.code); };
  int_methods(c, code);
  method(c, "as_int", code, docs::as_int);
  method(c, "__bool__", [](const Status& status) { return status.failed(); });
  method(c, "__eq__", equals);
  method(c, "__ne__",
         [](const Status& status, py::handle other) { return !equals(status, other); });
  method(c, "__hash__", code);
  method(c, "__reduce__", [](py::object self) {
    return py::make_tuple(py::type::of(self),
                          py::make_tuple(self.attr("code"), self.attr("detail")));
  });
  property(c, "code", code, "Number of the error; 0 is success.");
  property(
      c, "name", [](const Status& status) { return cudaGetErrorName(status.code); },
      "Name in the runtime's headers.");
  property(
      c, "string", [](const Status& status) { return cudaGetErrorString(status.code); },
      "Description by the runtime.");
  property(
      c, "detail", [](const Status& status) { return status.detail; },
      "Explanation by PyGPU: the argument at fault and what was expected; empty if none.");

  on_interrupt(&is_interrupted);
  on_out_of_memory([](MemoryKind kind, int turn) {
    if (!Py_IsInitialized() || (is_finalizing() && !holds_gil())) return turn == 0;
    const Gil held = take_gil();
    try {
      if (turn == 0) module_::import("gc").attr("collect")();  // even after gc.disable()
      if (turn == 0) return true;
      const py::handle release = hook_or_null(Hook::release_held);
      const int device = kind == MemoryKind::pinned ? -1 : current_device();
      return release && release(device).cast<bool>();
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_Exception)) throw;  // KeyboardInterrupt ends the allocation
      error.discard_as_unraisable("PyGPU: the release of memory after an out-of-memory error");
      return turn == 0;
    }
  });
}

}  // namespace PyGPU::python
