// Imports: memory of other libraries as GPUArrays, through DLPack or an address. The protocols'
// Python side is in PyGPU/_arrays/interop.py.
#include <cstring>
#include <functional>

#include "python/binders.h"
#include "python/binding/repr.h"
#include "python/exchange/exchange.h"

namespace PyGPU::python {
namespace {

// Memory of another library, imported until the last array that uses it is destroyed.
struct ImportedMemory {
  std::function<void()> release;
  void* start = nullptr;
  std::size_t nbytes = 0;
  int device = 0;
  bool wait = true;  // the owner's next work may not be ordered after the null stream
};

void release_import(ImportedMemory* memory) {
  if (Py_IsInitialized()) {
    if (memory->nbytes && !forked()) {
      try {
        order_after_all({}, memory->device);
      } catch (const DeviceError&) {  // an error of the work, reported elsewhere
      }
      if (memory->wait)
        wait_quietly(memory->device, [] { return cudaStreamSynchronize(cudaStream_t()); });
    }
    if (memory->nbytes && end_import(memory->start, memory->nbytes)) (void)cudaGetLastError();
    memory->release();
  }
  delete memory;
}

// Create an array of borrowed memory. `release` is called exactly once in any case: when the last
// array that uses the memory is destroyed.
GPUArray borrow(const Layout& layout, void* address, const py::object& dtype,
                const py::object& owner, bool wait, std::function<void()> release) {
  const std::shared_ptr<ImportedMemory> memory(
      new ImportedMemory{std::move(release), nullptr, 0, 0, wait}, &release_import);
  GPUArray array({}, dtype, py::none(), owner, py::none());
  if (layout.nbytes() == 0) {
    array.core = Array::borrow(layout, nullptr);
    return array;
  }
  if (!address)
    refuse_exchange("data: address 0 for an array of " + std::to_string(layout.size()) +
                    " elements");
  const auto [low, high] = layout.extent();
  memory->start = static_cast<char*>(address) + low;
  check("import_memory", import_memory(memory->start, std::size_t(high - low)));
  memory->nbytes = std::size_t(high - low);
  array.core = Array::borrow(layout, address, memory);
  memory->device = array.core.device();
  array.gpudata = py::int_(number_of(address));
  return array;
}

Layout layout_of(const dlpack::Tensor& tensor, std::size_t itemsize) {
  Axes shape, strides;
  if (tensor.ndim < 0 || tensor.ndim > Axes::capacity || (tensor.ndim > 0 && !tensor.shape))
    refuse_exchange("from_dlpack: " + std::to_string(tensor.ndim) + " axes; expected 0 to " +
                    std::to_string(Axes::capacity) + ", with a shape");
  for (int axis = 0; axis < tensor.ndim; ++axis) {
    shape.push_back(tensor.shape[axis]);
    Index stride = 0;
    if (!tensor.strides) continue;
    if (__builtin_mul_overflow(tensor.strides[axis], Index(itemsize), &stride))
      refuse_exchange("from_dlpack: a stride of " + std::to_string(tensor.strides[axis]) +
                      " elements exceeds the address space");
    strides.push_back(stride);
  }
  try {
    const Layout layout =
        tensor.strides ? Layout(shape, strides, itemsize) : Layout(shape, itemsize);
    layout.extent();
    return layout;
  } catch (const std::invalid_argument& error) {
    refuse_exchange(std::string("from_dlpack: ") + error.what());
  }
}

// Take ownership of a tensor. Before the capsule is renamed, an exception leaves the ownership with
// the capsule, whose destructor releases the tensor.
template <class Managed>
GPUArray import_tensor(const py::object& capsule, const py::object& owner,
                       const dlpack::Device& device_id, bool may_be_read_only) {
  const char* const fresh = dlpack::Names<Managed>::fresh;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), fresh));
  if constexpr (std::is_same_v<Managed, dlpack::ManagedVersioned>) {
    if (managed->version.major != 1)
      refuse_exchange("from_dlpack: a capsule of DLPack " + std::to_string(managed->version.major) +
                      "." + std::to_string(managed->version.minor) + "; expected 1.x");
    if ((managed->flags & dlpack::read_only) && !may_be_read_only)
      refuse_exchange(
          "from_dlpack: the tensor is read-only, and a GPUArray is writable; "
          "call from_dlpack(x, copy=True) for a writable copy");
  }
  const dlpack::Tensor& tensor = managed->tensor;
  if (!(tensor.device == device_id))
    refuse_exchange(
        "from_dlpack: the capsule is on device (" + std::to_string(int(tensor.device.type)) + ", " +
        std::to_string(tensor.device.number) + "), but __dlpack_device__() returned (" +
        std::to_string(int(device_id.type)) + ", " + std::to_string(device_id.number) + ")");
  const py::object dtype = dtype_of_tensor(tensor.type);
  const Layout layout = layout_of(tensor, itemsize_of(dtype));
  void* const address =
      tensor.data ? static_cast<char*>(tensor.data) + tensor.byte_offset : nullptr;
  if (PyCapsule_SetName(capsule.ptr(), dlpack::Names<Managed>::used)) throw py::error_already_set();
  return borrow(layout, address, dtype, owner, true, [managed] {
    if (managed->deleter) managed->deleter(managed);
  });
}

GPUArray import_dlpack(const py::object& capsule, const py::object& owner, const py::object& device,
                       bool may_be_read_only) {
  const dlpack::Device device_id = read_device(device);
  if (PyCapsule_IsValid(capsule.ptr(), dlpack::Names<dlpack::ManagedVersioned>::fresh))
    return import_tensor<dlpack::ManagedVersioned>(capsule, owner, device_id, may_be_read_only);
  if (PyCapsule_IsValid(capsule.ptr(), dlpack::Names<dlpack::Managed>::fresh))
    return import_tensor<dlpack::Managed>(capsule, owner, device_id, may_be_read_only);
  const char* const name =
      PyCapsule_CheckExact(capsule.ptr()) ? PyCapsule_GetName(capsule.ptr()) : nullptr;
  PyErr_Clear();
  if (name && std::strncmp(name, "used_dltensor", 13) == 0)
    refuse_exchange("from_dlpack: the capsule was consumed before; export a new one");
  refuse_exchange("from_dlpack: __dlpack__() returned no DLPack capsule but " + repr_of(capsule));
}

GPUArray borrow_memory(const py::object& owner, const py::object& address, const py::object& shape,
                       const py::object& strides, const py::object& type, bool wait) {
  const py::object dtype = dtype_of(type);
  const Axes lengths = axes_of(shape, "shape");
  const Layout layout = strides.is_none()
                            ? Layout(lengths, itemsize_of(dtype))
                            : Layout(lengths, axes_of(strides, "strides"), itemsize_of(dtype));
  layout.extent();
  void* const first = address_of(address, "data");
  cudaPointerAttributes attributes{};
  if (layout.nbytes() && (cudaPointerGetAttributes(&attributes, first) ||
                          attributes.type == cudaMemoryTypeUnregistered)) {
    (void)cudaGetLastError();
    refuse_exchange("asarray: the data at " + hex(first) + " is not in memory of the target " +
                    PYGPU_TARGET_NAME);
  }
  // The array's `base` keeps the owner alive: a reference that the garbage collector can see.
  return borrow(layout, first, dtype, owner, wait, [] {});
}

}  // namespace

void bind_imports(module_& m) {
  def(m, "_import_dlpack", &import_dlpack, "Return an array of the memory of a DLPack capsule.",
      {{"capsule"}, {"owner"}, {"device"}, {"may_be_read_only"}});
  def(m, "_interface_data", &interface_data,
      "Return the address in a CUDA array interface, and whether its memory is read-only.",
      {{"interface"}});
  def(m, "_borrow_memory", &borrow_memory, "Return an array of memory that `owner` keeps alive.",
      {{"owner"}, {"address"}, {"shape"}, {"strides"}, {"dtype"}, {"wait"}});
}

}  // namespace PyGPU::python
