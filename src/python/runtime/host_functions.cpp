// Python functions that streams call (cudaLaunchHostFunc), in threads of the runtime.
#include <atomic>
#include <chrono>
#include <thread>

#include "PyGPU/runtime/capture.h"
#include "PyGPU/runtime/host_function.h"
#include "python/binders.h"
#include "python/runtime/call.h"
#include "python/runtime/stream_docs.h"

namespace PyGPU::python {

// Parameter: a function that a stream calls without arguments.
struct HostCallable {
  py::handle value;
};
template <>
inline constexpr const char* annotation_of<HostCallable> = "Callable[[], object]";
template <>
struct ArgumentConverter<HostCallable> {
  static HostCallable read(PyObject* value, const ArgumentPosition& position) {
    if (!PyCallable_Check(value)) wrong_argument(position, "a callable", value);
    return {value};
  }
};

namespace {

// Calls that have begun, and whether the interpreter is about to end: no call begins then, because
// a thread that waits for the GIL would wait forever, and its stream with it.
std::atomic<int> calls_in_progress{0};
std::atomic<bool> is_ending{false};

// Release in the main thread what was postponed in a call.
int release_in_main_thread(void*) {
  if (!in_host_function && !Capture::is_any_active()) release_postponed();
  return 0;
}

// Report the exception of a function. Ctrl-C interrupts the main thread, as it does elsewhere.
void report_exception(PyObject* function) {
  if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) return PyErr_WriteUnraisable(function);
  PyErr_Clear();
  PyErr_SetInterrupt();
}

void run(std::shared_ptr<HostFunction> self) {
  ++calls_in_progress;
  if (!is_ending) {
    const Gil held = take_gil();
    auto* const function = static_cast<PyObject*>(self->data());
    PyObject* const result = PyObject_CallNoArgs(function);
    if (!result) report_exception(function);
    Py_XDECREF(result);
    self.reset();  // with the GIL, which Python's reference needs
    if (has_postponed()) (void)Py_AddPendingCall(&release_in_main_thread, nullptr);
  }
  --calls_in_progress;
}

// A function that is never called stays alive, as a thread that ends with the process may own it.
void drop_function(PyObject* function) {
  if (!is_ending) drop(function);
}

void end_calls() {
  is_ending = true;
  while (calls_in_progress > 0 && !forked()) {
    {
      const NoGil without = release_gil();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (PyErr_CheckSignals()) throw py::error_already_set();  // Ctrl-C ends the wait
  }
}

// Have `_end_host_functions` called before the interpreter ends.
void register_end(PyObject* function) {
  static bool is_registered = false;
  if (std::exchange(is_registered, true)) return;
  module_::import("atexit").attr("register")(py::handle(function));
}

}  // namespace

void bind_host_functions(module_& m) {
  static PyObject* end = nullptr;
  def(m, "_end_host_functions", &end_calls,
      "Wait for the functions that streams are calling; streams call no other one from now on.");
  end = py::object(m.attr("_end_host_functions")).release().ptr();
  def(m, "cudaLaunchHostFunc",
      [](const StreamRef& stream, const HostCallable& function) {
        register_end(end);
        const std::shared_ptr<void> owner(
            py::reinterpret_borrow<py::object>(function.value).release().ptr(),
            [](void* object) { drop_function(static_cast<PyObject*>(object)); });
        const auto called = std::make_shared<HostFunction>(&run, owner);
        return call([&] { return launch_host_function(stream, called); });
      },
      docs::cudaLaunchHostFunc_text, {{"stream"}, {"function"}});
}

}  // namespace PyGPU::python
