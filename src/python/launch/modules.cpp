// Modules of compiled code, and calls that the driver has and the runtime lacks: fills of 16 and 32
// bits, address ranges, context handles, plain allocations.
#include <cxxabi.h>

#include <cstdlib>

#include "PyGPU/runtime/kernel.h"
#include "PyGPU/runtime/transfer.h"
#include "python/binders.h"
#include "python/binding/hooks.h"
#include "python/launch/packing.h"
#include "python/launch/placement.h"
#include "python/value/gpuarray.h"

namespace PyGPU::python {
namespace {

std::shared_ptr<Module> load(py::handle, const py::bytes& image, const py::list& options) {
  std::vector<JitOption> jit;
  for (const py::handle item : options) {
    const auto pair = item.cast<std::pair<int, std::size_t>>();
    jit.push_back({pair.first, pair.second});
  }
  const std::string bytes = image;
  const NoGil without = release_gil();
  return std::make_shared<Module>(bytes, jit);
}

// Blocking copy between device memory, given by its address, and a host buffer.
Status copy_buffer(py::handle device, const char* name, const CopyEnd& host, bool up) {
  void* const address = address_of(device, name);
  const DeviceGuard there = use_device_at(address);
  return call([&] {
    return up ? upload(address, host.address, host.limit)
              : download(host.address, address, host.limit);
  });
}

Status copy_in(py::handle dst, py::handle src) {
  return copy_buffer(dst, "dest", copy_end(src, "src", false), true);
}

Status copy_out(py::handle dst, py::handle src) {
  return copy_buffer(src, "src", copy_end(dst, "dest", true), false);
}

// Copy between an ndarray and an allocation or an array, the usual ends. Returns True, or the
// status of a copy that failed. Returns None, without a copy, for other ends, for arguments that
// are wrong, and while a graph is captured.
py::object copy_usual(py::handle device, py::handle host, bool up) {
  const bool is_usual = find<DeviceAllocation>(device.ptr()) || gpuarray_in(device.ptr());
  if (!is_usual || Capture::current()) return py::none();
  const auto end = end_in_ndarray(host, !up);
  if (!end || !end->limit) return py::none();
  const Status status = copy_buffer(device, up ? "dest" : "src", *end, up);
  return status.failed() ? to_python(status) : py::bool_(true);
}

// Fill `height` rows of `width` elements; a height of 1 is a linear fill.
Status fill(void* address, std::size_t itemsize, std::size_t pitch, unsigned value,
            std::size_t width, std::size_t height, cudaStream_t stream) {
  if (itemsize != 1) return fill_rows(address, pitch, value, itemsize, width, height, stream);
  return height == 1 ? cudaMemsetAsync(address, int(value), width, stream)
                     : cudaMemset2DAsync(address, pitch, int(value), width, height, stream);
}

}  // namespace

void bind_module(module_& m) {
  const py::object c =
      new_class<Module>(m, "_Module", "Compiled code, loaded on the current device.");
  constructor(c, &load, {{"image"}, {"options"}});
  method(c, "get_global",
         [](const Module& self, const std::string& name) {
           const Module::Global found = self.global(name);
           return py::make_tuple(number_of(found.address), found.nbytes);
         },
         "Return (address, bytes) of a variable in device memory.", {{"name"}});
  method(
      c, "_references", [](py::handle self) { return hook(Hook::references_of)(self); },
      "Return the object that updates the module's texture and surface references.");
  method(
      c, "_set_has_variables", [](Module& self) { self.set_has_variables(); },
      "Mark the module's variables as written by kernels.");
  property(
      c, "info_log", [](const Module& self) { return self.info_log(); },
      "Log of the load, if the options ask for one.");
  property(
      c, "device", [](const Module& self) { return self.device(); },
      "Ordinal of the device on which it is loaded.");
  property(
      c, "is_loaded", [](const Module& self) { return self.alive(); },
      "Whether no reset of the device has unloaded it.");

  def(m, "_mem_alloc",
      [](std::size_t nbytes) {
        const auto storage = Storage::take(nbytes, MemoryKind::device);
        storage->expose();
        return DeviceAllocation{storage, number_of(storage->address())};
      },
      "", {{"nbytes"}});
  def(m, "_managed_alloc",
      [](const py::type& type, std::size_t nbytes, unsigned flags) {
        void* address = nullptr;
        release_postponed();
        const auto take = [&] { return cudaMallocManaged(&address, nbytes, flags); };
        check("cudaMallocManaged",
              allocate(MemoryKind::device, nbytes, [&] { return call_in_relaxed_mode(take); }));
        const std::uintptr_t number = number_of(address);
        const auto storage = Storage::adopt(address, nbytes);
        storage->expose();
        return instance_of(reinterpret_cast<PyTypeObject*>(type.ptr()),
                           DeviceAllocation{storage, number});
      },
      "", {{"type"}, {"nbytes"}, {"flags"}});
  def(m, "_upload", &copy_in, "", {{"dst"}, {"src"}});
  def(m, "_download", &copy_out, "", {{"dst"}, {"src"}});
  def(m, "_copy_usual", &copy_usual, "", {{"device"}, {"host"}, {"up"}});
  def(m, "_fill",
      [](py::handle address, std::size_t itemsize, std::size_t pitch, unsigned value,
         std::size_t width, std::size_t height, const StreamRef& stream, bool wait) {
        void* const to = address_of(address, "dest");
        const DeviceGuard there = stream.handle ? DeviceGuard() : use_device_at(to);
        return call_on(stream, {to}, [&] {
          const Status filled = fill(to, itemsize, pitch, value, width, height, stream.handle);
          return filled.failed() || !wait ? filled : Status(cudaStreamSynchronize(stream.handle));
        });
      },
      "",
      {{"address"},
       {"itemsize"},
       {"pitch"},
       {"value"},
       {"width"},
       {"height"},
       {"stream"},
       {"wait"}});
  def(m, "_address_range",
      [](py::handle address) {
        void* base = nullptr;
        std::size_t nbytes = 0;
        void* const inside = address_of(address, "address");
        const Status status = call([&] { return address_range(&base, &nbytes, inside); });
        return with_status(status, number_of(base), nbytes);
      },
      "", {{"address"}});
  def(m, "_device_address",
      [](const py::object& memory, const std::string& name, bool writable) {
        keep_for_graph(memory);
        return number_of(address_of(memory, name.c_str(), writable));
      },
      "Return the address in an object of this name, which the captured graph keeps alive.",
      {{"memory"}, {"name"}, {"writable", false}});
  def(m, "_demangled",
      [](const std::string& name) -> py::object {
        const std::unique_ptr<char, void (*)(void*)> text(
            abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), &std::free);
        return text ? py::object(py::str(text.get())) : py::object(py::none());
      },
      "Return the demangled C++ name, or None.", {{"name"}});
  def(
      m, "_context_handle",
      [] {
        void* handle = nullptr;
        const Status status = call([&] { return context_handle(&handle); });
        return with_status(status, number_of(handle));
      },
      "");
}

}  // namespace PyGPU::python
