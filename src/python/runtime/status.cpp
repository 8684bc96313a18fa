// cudaError_t as an object, the error calls, and the one place where a status becomes an exception.
#include <utility>

#include "python/gil.h"
#include "python/hooks.h"

namespace PyGPU::python {
namespace {

void raise_device_error(const DeviceError& error) {
  const py::handle exception_of = hook_or_null(Hook::exception_of);
  if (!exception_of) return PyErr_SetString(PyExc_RuntimeError, error.what());
  const py::object made = exception_of(error.call, instance(error.status));
  PyErr_SetObject(py::type::of(made).ptr(), made.ptr());
}

// What went wrong while an exception was made.
void raise_or(const DeviceError& error) noexcept {
  try {
    raise_device_error(error);
  } catch (py::error_already_set& failure) {
    failure.restore();
  }
}

// What a handler of the process's signals raised while a launch was held up for it.
py::error_already_set* raised = nullptr;

int raise_now(void*) {
  if (!raised) return 0;
  raised->restore();
  delete std::exchange(raised, nullptr);
  return -1;
}

// Called by the first thread while its kernel is held up: Ctrl-C ends the launch. The exception is
// raised once the launch has returned to Python, whoever made it.
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

Status ArgumentOf<Status>::read(PyObject* value, const Place& place) {
  if (const Status* const found = find<Status>(value)) return *found;
  return Status(cudaError_t(ArgumentOf<int>::read(value, place)));
}

void wait_for(const StreamRef& stream) {
  refuse_waiting("cudaStreamSynchronize");
  const NoGil without = release_gil();
  check("cudaStreamSynchronize", cudaStreamSynchronize(stream.handle));
  if (!stream.handle) seen_current_idle(true);
}

Status call_by(Status (*make)(const void*), const void* what) {
  if (!enter_runtime()) return forked_status();
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
  }
}

void bind_status(py::module_& m) {
  const py::object c = new_class<Status>(
      m, "cudaError_t",
      "What a device call returned. True when it is an error; equal to its number.");
  constructor(c,
              [](py::handle, int code, const std::string& detail) {
                return Status(cudaError_t(code), detail);
              },
              {{"code", 0}, {"detail", ""}});
  method(c, "__repr__", status_repr);
  method(c, "__str__", status_repr);
  const auto code = [](const Status& status) { return int(status.code); };
  int_methods(c, code);
  method(c, "as_int", code);
  method(c, "__bool__", [](const Status& status) { return status.failed(); });
  method(c, "__eq__", equals);
  method(c, "__ne__",
         [](const Status& status, py::handle other) { return !equals(status, other); });
  method(c, "__hash__", code);
  method(c, "__reduce__", [](py::object self) {
    return py::make_tuple(py::type::of(self),
                          py::make_tuple(self.attr("code"), self.attr("detail")));
  });
  property(c, "code", code, "The number (int).");
  property(
      c, "name", [](const Status& status) { return cudaGetErrorName(status.code); },
      "The name in the runtime's headers (str).");
  property(
      c, "string", [](const Status& status) { return cudaGetErrorString(status.code); },
      "The runtime's description (str).");
  property(
      c, "detail", [](const Status& status) { return status.detail; },
      "What PyGPU knows besides: the argument at fault and what was expected (str, or empty).");

  def(m, "cudaGetErrorName", [](const Status& error) { return cudaGetErrorName(error.code); },
      "The error's name in the runtime's headers.", {{"error"}});
  def(m, "cudaGetErrorString", [](const Status& error) { return cudaGetErrorString(error.code); },
      "The runtime's description of the error.", {{"error"}});
  def(
      m, "cudaGetLastError",
      [] {
        const Status last = call([] { return cudaGetLastError(); });
        remember_returned(cudaSuccess);
        return last;
      },
      "The calling thread's last error, which is then forgotten.");
  def(
      m, "cudaPeekAtLastError", [] { return call([] { return cudaPeekAtLastError(); }); },
      "The calling thread's last error.");

  def(m, "_report_failed_release",
      [](const std::string& what, const Status& status) {
        report_failed_release(what.c_str(), status.code);
      },
      "What destructors do where they cannot raise: a line to stderr.", {{"what"}, {"status"}});
  on_interrupt(&is_interrupted);
  Storage::on_shortage([] {
    if (!Py_IsInitialized() || (is_finalizing() && !holds_gil())) return;
    const Gil held = take_gil();
    try {
      py::module_::import("gc").attr("collect")();  // also where it is switched off
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("PyGPU: the collection of garbage for a shortage of memory");
    }
  });
}

}  // namespace PyGPU::python
