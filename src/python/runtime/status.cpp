// cudaError_t as an object, the error calls, and the one place where a status becomes an exception.
#include "python/hooks.h"

namespace PyGPU::python {
namespace {

void translate(std::exception_ptr failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const DeviceError& error) {
    const py::handle exception_of = hook_or_null(Hook::exception_of);
    if (!exception_of) return PyErr_SetString(PyExc_RuntimeError, error.what());
    const py::object made = exception_of(error.call, py::cast(error.status));
    PyErr_SetObject(py::type::of(made).ptr(), made.ptr());
  }
}

bool equals(const Status& status, py::handle other) {
  if (py::isinstance<Status>(other)) return other.cast<const Status&>().code == status.code;
  return PyLong_Check(other.ptr()) && py::int_(int(status.code)).equal(other);
}

std::string status_repr(const Status& status) {
  return "<cudaError: code=" + std::to_string(int(status.code)) + ">";
}

}  // namespace

void translate_exception(std::exception_ptr failure) noexcept {
  try {
    translate(failure);
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
  py::class_<Status> c(
      m, "cudaError_t",
      "What a device call returned. True when it is an error; equal to its number.");
  c.def(py::init(
            [](int code, const std::string& detail) { return Status(cudaError_t(code), detail); }),
        py::arg("code") = 0, py::arg("detail") = "");
  method(c, "__repr__", status_repr);
  method(c, "__str__", status_repr);
  method(c, "__int__", [](const Status& status) { return int(status.code); });
  method(c, "__index__", [](const Status& status) { return int(status.code); });
  method(c, "as_int", [](const Status& status) { return int(status.code); });
  method(c, "__bool__", [](const Status& status) { return status.failed(); });
  method(c, "__eq__", equals);
  method(c, "__ne__",
         [](const Status& status, py::handle other) { return !equals(status, other); });
  method(c, "__hash__", [](const Status& status) { return int(status.code); });
  method(c, "__reduce__", [](py::object self) {
    return py::make_tuple(py::type::of(self),
                          py::make_tuple(self.attr("code"), self.attr("detail")));
  });
  property(
      c, "code", [](const Status& status) { return int(status.code); }, "The number (int).");
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
      m, "cudaGetLastError", [] { return call([] { return cudaGetLastError(); }); },
      "The calling thread's last error, which is then forgotten.");
  def(
      m, "cudaPeekAtLastError", [] { return call([] { return cudaPeekAtLastError(); }); },
      "The calling thread's last error.");

  py::register_local_exception_translator(&translate);
  Storage::on_shortage([] {
    py::gil_scoped_acquire hold;
    py::module_::import("gc").attr("collect")();
  });
  py::implicitly_convertible<int, Status>();
}

}  // namespace PyGPU::python
