// DLPack: GPUArrays as capsules for other libraries.
#include <cstring>

#include "python/exchange/exchange.h"

namespace PyGPU::python {
namespace {

using dlpack::DeviceType;

// What stands behind a capsule, until the consumer calls the deleter.
template <class Managed>
struct Export {
  Managed managed{};
  Array memory;               // kept, if it is ours
  PyObject* owner = nullptr;  // what keeps it, if it is not
  bool apart = false;         // the consumer may use it beside the null stream, on some stream
  Axes shape, strides;        // in elements
};

template <class Managed>
void end_export(Managed* self) {
  auto* const ended = static_cast<Export<Managed>*>(self->context);
  if (!Py_IsInitialized()) return;
  if (ended->apart && !forked()) {
    const int device = ended->memory.device();
    if (wait_meets_capture(device))
      return postpone(std::shared_ptr<void>(nullptr, [self](void*) { end_export(self); }));
    // Nobody promises that the consumer's stream still exists, but its work may.
    wait_quietly(device, [] { return synchronize_device(); });
  }
  PyObject* const owner = ended->owner;
  delete ended;
  drop(owner);
}

template <class Managed>
void end_capsule(PyObject* capsule) {
  const char* const fresh = dlpack::Names<Managed>::fresh;
  if (!PyCapsule_IsValid(capsule, fresh)) return;  // a consumer has taken it
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, fresh));
  managed->deleter(managed);
}

// The elements to be exported, and who keeps them.
struct Source {
  Layout layout;
  void* address;
  dlpack::DataType type;
  dlpack::Device device;
  Array memory;
  py::object owner;
  bool copied, apart;
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
                      " bytes is no whole number of elements of " + std::to_string(itemsize) +
                      " bytes, in which DLPack counts; export a copy()");
    made->strides[axis] = stride / itemsize;
  }
  Managed& managed = made->managed;
  if constexpr (std::is_same_v<Managed, dlpack::ManagedVersioned>) {
    managed.version = {1, 1};
    managed.flags = source.copied ? dlpack::is_copied : 0;
  }
  managed.context = made.get();
  managed.deleter = &end_export<Managed>;
  managed.tensor = {source.address,
                    source.device,
                    source.layout.ndim(),
                    source.type,
                    &made->shape[0],
                    &made->strides[0],
                    0};
  made->memory = source.memory;
  made->apart = source.apart;
  auto capsule = py::reinterpret_steal<py::object>(
      PyCapsule_New(&managed, dlpack::Names<Managed>::fresh, &end_capsule<Managed>));
  if (!capsule) throw py::error_already_set();
  made->owner = py::object(source.owner).release().ptr();
  made.release();
  return capsule;
}

constexpr dlpack::Device host_memory{DeviceType::cpu, 0};

const bool is_rocm = std::strcmp(PYGPU_TARGET_NAME, "hip") == 0;

dlpack::Device device_of(const GPUArray& array) {
  if (!PYGPU_HAVE_GPU) return host_memory;
  const int number = array.core.device();
  cudaPointerAttributes attributes{};
  if (array.core.address() && cudaPointerGetAttributes(&attributes, array.core.address()))
    (void)cudaGetLastError();  // not known to the runtime: taken for what it should be
  if (attributes.type == cudaMemoryTypeHost)
    return {is_rocm ? DeviceType::rocm_host : DeviceType::cuda_host, 0};
  if (attributes.type == cudaMemoryTypeManaged && !is_rocm)
    return {DeviceType::cuda_managed, number};
  return {is_rocm ? DeviceType::rocm : DeviceType::cuda, number};
}

// The consumer's stream, in the numbers of the array API standard. False: no order is asked for.
bool read_stream(const py::object& stream, StreamRef& found) {
  if (stream.is_none()) return true;
  if (PyLong_Check(stream.ptr())) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(stream.ptr(), &overflow);
    if (number == -1 && !overflow) return false;
    if (!is_rocm && number == 0)
      throw py::value_error(
          "stream: 0 could mean two streams; 1 is the legacy default stream, 2 the per-thread one");
    if (is_rocm && (number == 1 || number == 2))
      throw py::value_error("stream: " + std::to_string(number) +
                            " is no stream of ROCm's in DLPack; 0 is the default stream");
  }
  found = stream_of(stream);
  if (found.handle == cudaStreamLegacy) found = {};
  return true;
}

Source copy_on_host(const GPUArray& array, const dlpack::DataType& type) {
  const py::array host = get_to_host(array, py::none(), false, nullptr);
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
  const bool must_copy = !copy.is_none() && copy.cast<bool>();
  StreamRef consumer;
  const bool ordered = read_stream(stream, consumer);
  if (!(asked == device) && !to_host)
    refuse_exchange("__dlpack__: dl_device=" + text_of(dl_device) +
                    ": the array can be exported where it is, on " +
                    std::to_string(int(device.type)) + ", " + std::to_string(device.number) +
                    ", or copied to the host, 1, 0");
  if (to_host && !copy.is_none() && !must_copy)
    refuse_exchange(
        "__dlpack__: copy=False: an array in device memory reaches the host only as a copy");
  if (to_host && !stream.is_none())
    throw py::value_error("stream: expected None for a copy on the host, got " + text_of(stream));
  const int number = array.core.device();
  const bool some = array.layout().size() > 0;
  const DeviceGuard here = use_device(number);
  if (some && (to_host || must_copy)) order_after_all({}, number);
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
  if (some && ordered && !to_host) {
    order_after_all(consumer, number);
    source.apart = is_non_blocking(consumer, number) && !is_captured(consumer.handle);
    const std::shared_ptr<Storage> storage = source.memory.storage();
    const auto ours = source.apart ? remembered_stream(consumer.handle) : nullptr;
    if (ours && storage) {  // which freeing joins
      storage->join_at_end(ours->uses());
      source.apart = false;
    }
    // Memory that the host reaches may be for a consumer that knows no streams.
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

void bind_dlpack(py::module_& m, const py::object& c) {
  const py::object none = py::none();
  method(
      c, "__dlpack__", &dlpack_capsule,
      "The array as a DLPack capsule: the memory itself, in the order of the consumer's stream.\n"
      "BufferError for what DLPack cannot say.",
      {{"*"}, {"stream", none}, {"max_version", none}, {"dl_device", none}, {"copy", none}});
  method(c, "__dlpack_device__", [](const GPUArray& array) {
    const dlpack::Device device = device_of(array);
    return py::make_tuple(int(device.type), device.number);
  });
  bind_imports(m);
}

}  // namespace PyGPU::python
