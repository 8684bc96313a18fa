// Context manager of a thread's current device. Its destructor restores the previous device if an
// exception such as KeyboardInterrupt comes between the end of a ``with`` block and __exit__.
#include <thread>

#include "PyGPU/runtime/capture.h"
#include "PyGPU/runtime/device.h"
#include "python/binders.h"
#include "python/runtime/call.h"

namespace PyGPU::python {
namespace {

constexpr char device_text[] = R"(Makes a device current in a ``with`` block.

At the end of the block, the device that was current before it is current again. Only the calling
thread is affected. An object can be used for several blocks, one after another.

Parameters
----------
device : int or Device
    Ordinal of the device.

Raises
------
LogicError
    If there is no such device, when the block is entered.
RuntimeError
    If the object's block has not ended, when a second one is entered.

Examples
--------
>>> import numpy as np
>>> import PyGPU
>>> from PyGPU import gpuarray
>>> with PyGPU.device(0):
...     a = gpuarray.to_gpu(np.arange(3))
>>> a.device
0
)";

struct RestoreInThread {
  struct Handle {
    int device = -1;
    std::thread::id thread;
    bool operator==(const Handle& other) const { return device == other.device; }
  };
  static constexpr const char* name = "the current device";
  static cudaError_t release(Handle before) {
    // Another thread, which may destroy a scope that was dropped, keeps its own device.
    return before.thread == std::this_thread::get_id() ? set_device(before.device) : cudaSuccess;
  }
};

struct DeviceScope {
  int device;
  UniqueHandle<RestoreInThread> before;

  Status select() const {
    const cudaError_t error = set_device(device);
    int count = 0;
    if (error != cudaErrorInvalidDevice || cudaGetDeviceCount(&count)) return error;
    return {error, "device(" + std::to_string(device) + "): the number of visible devices is " +
                       std::to_string(count)};
  }
};

// Scopes change with the GIL alone: another thread may enter or leave the same object.
void enter_scope(DeviceScope& self) {
  if (self.before)
    throw std::runtime_error("device: the `with` block of this object has not ended");
  const int current = current_device();
  self.before = UniqueHandle<RestoreInThread>({current, std::this_thread::get_id()});
  if (current == self.device) return;
  const Status status = call([&] { return self.select(); });
  if (status.failed()) (void)self.before.give_up();
  check("cudaSetDevice", status);
}

void leave_scope(DeviceScope& self, const py::object& type, const py::object&, const py::object&) {
  if (!self.before) return;
  const int device_before = self.before.give_up().device;
  try {
    const NoGil without = release_gil();
    if (device_before != current_device()) check("cudaSetDevice", set_device(device_before));
  } catch (const DeviceError&) {
    if (type.is_none()) throw;
    (void)cudaGetLastError();  // the exception of the block is the one to raise
  }
}

// Make a device current and replace the entries of a thread's stack of contexts, in one call that
// no KeyboardInterrupt can divide. The stack is left as it is if the device cannot be made current.
Status set_contexts(const py::list& stack, const py::list& contexts, int device) {
  if (device >= 0) {
    const Status status = call([device] { return set_device(device); });
    if (status.failed()) return status;
  }
  if (PyList_SetSlice(stack.ptr(), 0, PyList_GET_SIZE(stack.ptr()), contexts.ptr()) < 0)
    throw py::error_already_set();
  return cudaSuccess;
}

}  // namespace

void bind_device_scope(module_& m) {
  const py::object c = new_class<DeviceScope>(m, "device", device_text);
  constructor(c, [](py::handle, int device) { return DeviceScope{device, {}}; }, {{"device"}});
  method(c, "__enter__", &enter_scope);
  method(c, "__exit__", &leave_scope, "", {{"type"}, {"value"}, {"traceback"}});
  def(m, "_set_contexts", &set_contexts,
      "Make a device current, unless it is -1, and replace the entries of a stack of contexts.",
      {{"stack"}, {"contexts"}, {"device"}});
}

}  // namespace PyGPU::python
