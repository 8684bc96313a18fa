// DLPack export: GPUArrays as capsules for other libraries.

#include "python/binders.h"
#include "python/exchange/exchange.h"
#include "python/operations/copies.h"

namespace PyGPU::python {
namespace {

using dlpack::DeviceType;

// The memory and metadata of a capsule, alive until the consumer calls the deleter.
template <class Managed>
struct Export {
  Managed managed{};
  Array memory;                         // keeps PyGPU's memory alive
  PyObject* owner = nullptr;            // keeps other memory alive
  bool synchronize_at_release = false;  // the consumer's stream does not wait for the null stream
  Axes shape, strides;                  // in elements
};

template <class Managed>
void release_export(Managed* self) {
  auto* const ended = static_cast<Export<Managed>*>(self->context);
  if (!Py_IsInitialized()) return;
  if (ended->synchronize_at_release && !forked()) {
    const int device = ended->memory.device();
    if (wait_would_invalidate_capture(device))
      return postpone(std::shared_ptr<void>(nullptr, [self](void*) { release_export(self); }));
    // The consumer's stream may no longer exist, but its work may still run: wait for the whole
    // device.
    wait_quietly(device, [] { return synchronize_device(); });
  }
  PyObject* const owner = ended->owner;
  delete ended;
  drop(owner);
}

template <class Managed>
void release_capsule(PyObject* capsule) {
  const char* const fresh = dlpack::Names<Managed>::fresh;
  if (!PyCapsule_IsValid(capsule, fresh)) return;  // a consumer has taken ownership
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, fresh));
  managed->deleter(managed);
}

// The elements to export, and the owner of their memory.
struct Source {
  Layout layout;
  void* address;
  dlpack::DataType type;
  dlpack::Device device;
  Array memory;
  py::object owner;
  bool copied, synchronize_at_release;
};

template <class Managed>
py::object capsule_of(const Source& source) {
  auto made = std::make_unique<Export<Managed>>();
  made->shape = source.layout.shape();
  made->strides = Layout(made->shape, 1).strides();
  const auto itemsize = Index(source.layout.itemsize());
  for (int axis = 0; axis < source.layout.ndim() && source.layout.size() > 0; ++axis) {
    const Index stride = source.layout.strides()[axis];
    if (made->shape[axis] == 1) continue;
    if (stride % itemsize != 0)
      refuse_exchange("__dlpack__: a stride of " + std::to_string(stride) +
                      " bytes is not a multiple of the item size of " + std::to_string(itemsize) +
                      " bytes, as DLPack requires; export a copy()");
    made->strides[axis] = stride / itemsize;
  }
  Managed& managed = made->managed;
  if constexpr (std::is_same_v<Managed, dlpack::ManagedVersioned>) {
    managed.version = {1, 1};
    managed.flags = source.copied ? dlpack::is_copied : 0;
  }
  managed.context = made.get();
  managed.deleter = &release_export<Managed>;
  managed.tensor = {source.address,
                    source.device,
                    source.layout.ndim(),
                    source.type,
                    &made->shape[0],
                    &made->strides[0],
                    0};
  made->memory = source.memory;
  made->synchronize_at_release = source.synchronize_at_release;
  auto capsule = py::reinterpret_steal<py::object>(
      PyCapsule_New(&managed, dlpack::Names<Managed>::fresh, &release_capsule<Managed>));
  if (!capsule) throw py::error_already_set();
  made->owner = py::object(source.owner).release().ptr();
  made.release();
  return capsule;
}

constexpr dlpack::Device host_memory{DeviceType::cpu, 0};

dlpack::Device device_of(const GPUArray& array) {
  if (!PYGPU_HAVE_GPU) return host_memory;
  const int number = array.core.device();
  cudaPointerAttributes attributes{};
  if (array.core.address() && cudaPointerGetAttributes(&attributes, array.core.address()))
    (void)cudaGetLastError();  // unknown to the runtime: assume memory of this device
  if (attributes.type == cudaMemoryTypeHost)
    return {capabilities.is_rocm ? DeviceType::rocm_host : DeviceType::cuda_host, 0};
  if (attributes.type == cudaMemoryTypeManaged && !capabilities.is_rocm)
    return {DeviceType::cuda_managed, number};
  return {capabilities.is_rocm ? DeviceType::rocm : DeviceType::cuda, number};
}

// Read the consumer's stream, numbered as in the array API standard. Return false if the consumer
// asks for no synchronization.
bool read_stream(const py::object& stream, StreamRef& found) {
  if (stream.is_none()) return true;
  if (PyLong_Check(stream.ptr())) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(stream.ptr(), &overflow);
    if (number == -1 && !overflow) return false;
    if (!capabilities.is_rocm && number == 0)
      throw py::value_error(
          "stream=0 is ambiguous; pass 1 for the legacy default stream, 2 for the per-thread one");
    if (capabilities.is_rocm && (number == 1 || number == 2))
      throw py::value_error("stream=" + std::to_string(number) +
                            " is not a ROCm stream of DLPack; pass 0 for the default stream");
  }
  found = stream_of(stream);
  if (found.handle == cudaStreamLegacy) found = {};
  return true;
}

Source copy_on_host(const GPUArray& array, const dlpack::DataType& type) {
  const np::array host = get_to_host(array, py::none(), false, nullptr);
  Axes strides;
  for (py::ssize_t axis = 0; axis < host.ndim(); ++axis) strides.push_back(host.strides(axis));
  const Layout layout(array.layout().shape(), strides, array.layout().itemsize());
  return {layout, const_cast<void*>(host.data()), type, host_memory, {}, host, true, false};
}

py::object dlpack_capsule(const GPUArray& array, const py::object& stream,
                          const py::object& max_version, const py::object& dl_device,
                          const py::object& copy) {
  array.core.require_alive();
  const dlpack::DataType type = data_type_of(array.dtype);
  const dlpack::Device device = device_of(array);
  const dlpack::Device asked = dl_device.is_none() ? device : read_device(dl_device);
  const bool to_host = asked == host_memory && !(device == host_memory);
  const bool must_copy = !copy.is_none() && is_true(copy);
  StreamRef consumer;
  const bool ordered = read_stream(stream, consumer);
  if (!(asked == device) && !to_host)
    refuse_exchange("__dlpack__: dl_device=" + text_of(dl_device) +
                    ": expected the array's device, (" + std::to_string(int(device.type)) + ", " +
                    std::to_string(device.number) + "), or the host, (1, 0)");
  if (to_host && !copy.is_none() && !must_copy)
    refuse_exchange("__dlpack__: copy=False: an export of device memory to the host needs a copy");
  if (to_host && !stream.is_none())
    throw py::value_error("stream: expected None for a copy to the host, got " + text_of(stream));
  const int number = array.core.device();
  const bool has_elements = array.layout().size() > 0;
  const DeviceGuard here = use_device(number);
  if (has_elements && (to_host || must_copy)) order_after_all({}, number);
  Source source;
  if (to_host) {
    source = copy_on_host(array, type);
  } else {
    const GPUArray exported = must_copy ? copy_of(array) : array;
    source = {exported.layout(),
              exported.core.exposed_address(),
              type,
              device,
              exported.core,
              {},
              must_copy,
              false};
    if (exported.gpudata || !exported.base.is_none()) {
      const py::object memory = exported.gpudata ? exported.gpudata : py::object(py::none());
      source.owner = py::make_tuple(exported.base, memory);
    }
  }
  if (has_elements && ordered && !to_host) {
    order_after_all(consumer, number);
    source.synchronize_at_release =
        is_non_blocking(consumer, number) && !is_captured(consumer.handle);
    const std::shared_ptr<Storage> storage = source.memory.storage();
    const auto ours = source.synchronize_at_release ? remembered_stream(consumer.handle) : nullptr;
    if (ours && storage) {  // freeing the memory then waits for the stream
      storage->join_at_end(ours->uses());
      source.synchronize_at_release = false;
    }
    // A consumer of memory that the host can access may not use streams: wait for the work here.
    const bool on_host = device.type != DeviceType::cuda && device.type != DeviceType::rocm;
    if (on_host && stream.is_none()) {
      const NoGil without = release_gil();
      check("cudaStreamSynchronize", cudaStreamSynchronize(cudaStream_t()));
    }
  }
  const bool versioned =
      !max_version.is_none() && py::int_(py::tuple(max_version)[0]).cast<int>() >= 1;
  return versioned ? capsule_of<dlpack::ManagedVersioned>(source)
                   : capsule_of<dlpack::Managed>(source);
}

}  // namespace

void bind_exports(const py::object& c) {
  const py::object none = py::none();
  method(c, "__dlpack__", &dlpack_capsule,
         R"doc(Export the array as a DLPack capsule, normally without a copy.

stream: [int or None, optional]
    Stream of the consumer, numbered as in the array API standard. The consumer's later work on it
    runs after the array's pending work. -1 asks for no synchronization.
max_version: [tuple of int, optional]
    Highest DLPack version that the consumer supports; from (1, 0) on, the capsule is versioned.
dl_device: [tuple of int, optional]
    DLPack device type and number of the result: the array's own device, or (1, 0) for a copy on the
    host.
copy: [bool, optional] True always copies, False never does, None only if needed.
-> [capsule] Capsule named "dltensor" or "dltensor_versioned".
Raises BufferError: If DLPack cannot describe the array, or the request needs a copy that ``copy``
    forbids.
Raises ValueError: If ``stream`` is invalid for the target.
)doc",
         {{"*"}, {"stream", none}, {"max_version", none}, {"dl_device", none}, {"copy", none}});
  method(
      c, "__dlpack_device__",
      [](const GPUArray& array) {
        const dlpack::Device device = device_of(array);
        return py::make_tuple(int(device.type), device.number);
      },
      R"doc(Return the DLPack device of the array's memory.

-> [tuple of int] Device type and device number.
)doc");
}

}  // namespace PyGPU::python
