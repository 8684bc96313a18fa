// The class DeviceAllocation: memory that PyGPU allocated, as Python's gpudata.
#include "python/binders.h"
#include "python/binding/repr.h"
#include "python/value/gpuarray.h"

namespace PyGPU::python {
namespace {

py::object as_buffer(const py::object& memory, py::ssize_t size, py::ssize_t offset) {
  if (size < 0)
    throw py::value_error("size=" + std::to_string(size) +
                          ": expected a number of bytes, 0 or more");
  char* const start = static_cast<char*>(address_of(memory, "memory")) + offset;
  const np::array bytes(np::dtype("uint8"), {size}, {1}, start, memory);
  return py::reinterpret_steal<py::object>(PyMemoryView_FromObject(bytes.ptr()));
}

std::string allocation_text(const DeviceAllocation& self) {
  const std::string at = "at " + hex(reinterpret_cast<void*>(self.address));
  if (forked()) return at + " of the parent process";
  if (!self.storage->alive()) return at + ", freed";
  return "of " + std::to_string(self.storage->nbytes()) + " bytes " + at + " on device " +
         std::to_string(self.storage->device());
}

}  // namespace

void bind_allocation(module_& m) {
  const auto number = [](const DeviceAllocation& self) { return self.address; };
  const py::object allocation = new_class<DeviceAllocation>(
      m, "DeviceAllocation", R"doc(Device memory that PyGPU allocated: an int-like address.

Allocators return it, and it is the ``gpudata`` of arrays that own their memory. ``int(allocation)``
is the address. The memory is freed when no object refers to it any more, or by ``free()``.

Examples
--------
>>> import PyGPU.gpuarray as gpuarray
>>> a = gpuarray.zeros(4, "float32")
>>> int(a.gpudata) == a.ptr
True
>>> a.gpudata.free()
)doc");
  method(allocation, "__int__", number);
  method(allocation, "__index__", [](const DeviceAllocation& self) {
    return number_of(address_in(self, "DeviceAllocation"));
  });
  ctypes_parameter(allocation);
  method(
      allocation, "free",
      [](DeviceAllocation& self) {
        if (!self.storage->alive())
          throw DeviceError("DeviceAllocation.free",
                            {cudaErrorInvalidValue, "the memory was freed before"});
        check("cudaFree", self.storage->free());
      },
      R"doc(Free the memory now. Arrays that use it must not be used again.

Raises PyGPU.errors.LogicError: If the memory was already freed.
)doc");
  method(allocation, "as_buffer", &as_buffer,
         R"doc(Return the bytes at the address as a memoryview, which keeps the memory alive.

The host can read the bytes of managed memory. The bytes of other memory are for libraries that
accept device addresses, such as a GPU-aware MPI.

size: Length of the view in bytes.
offset: [int, optional] Bytes from the address to the start of the view.
-> [memoryview] View of ``size`` bytes, dtype uint8.
Raises ValueError: If ``size`` is negative.
)doc",
         {{"size"}, {"offset", 0}});
  def(m, "_as_buffer", &as_buffer, "", {{"memory"}, {"size"}, {"offset"}});
  method(allocation, "__repr__", [](const py::object& self) {
    return described<DeviceAllocation>(self, &allocation_text);
  });
}

}  // namespace PyGPU::python
