// Python class of a device's properties, and private calls on devices.
#include <cstdio>

#include "PyGPU/runtime/memory_stats.h"
#include "python/binders.h"
#include "python/runtime/call.h"
#include "python/runtime/device_docs.h"

namespace PyGPU::python {
namespace {

// Value of cudaDeviceProp: a device's properties, its UUID and PCI bus id, and the status of the
// calls that read them.
struct Properties {
  cudaDeviceProp values{};
  char id[16] = {};
  std::string bus_id;
  Status status;

  explicit Properties(int device) {
    status = call([&] { return cudaGetDeviceProperties(&values, device); });
    char text[64] = "";
    if (!status.failed()) status = call([&] { return device_uuid(id, device); });
    if (!status.failed())
      status = call([&] { return cudaDeviceGetPCIBusId(text, sizeof text, device); });
    bus_id = text;
  }

  std::string uuid() const {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
      char pair[4];
      std::snprintf(pair, sizeof pair, "%02x", unsigned(static_cast<unsigned char>(id[i])));
      text += pair;
      if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
    }
    return text;
  }
};

void bind_properties(module_& m) {
  const py::object c = new_class<Properties>(m, "cudaDeviceProp", docs::cudaDeviceProp_text);
  constructor(c, [](py::handle, int device) { return Properties(device); }, {{"device"}});
  method(
      c, "get", [](py::object self) { return self; }, R"doc(Return the object itself.

-> [cudaDeviceProp] The object itself.
)doc");
  method(
      c, "last_status", [](const Properties& self) { return self.status; },
      R"doc(Return the status of the calls that read the properties.

-> First error of these calls, or success.
)doc");
  method(
      c, "name", [](const Properties& self) { return std::string(self.values.name); },
      R"doc(Return the name of the device.

-> The vendor's name of the device model.
)doc");
  method(
      c, "uuid", [](const Properties& self) { return self.uuid(); },
      R"doc(Return the unique identifier of the device, 'GPU-...'.

-> Identifier that NVIDIA_VISIBLE_DEVICES and the vendor's tools accept.
)doc");
  method(
      c, "totalGlobalMem", [](const Properties& self) { return self.values.totalGlobalMem; },
      R"doc(Return the total memory in bytes.

-> Size of the device memory in bytes.
)doc");
  method(
      c, "major", [](const Properties& self) { return self.values.major; },
      R"doc(Return the major number of the compute capability.

-> Major number, such as 9 for sm_90.
)doc");
  method(
      c, "minor", [](const Properties& self) { return self.values.minor; },
      R"doc(Return the minor number of the compute capability.

-> Minor number, such as 0 for sm_90.
)doc");
  method(
      c, "warpSize", [](const Properties& self) { return self.values.warpSize; },
      R"doc(Return the number of threads per warp.

-> Number of threads: 32, or 64 on AMD's CDNA devices.
)doc");
  method(
      c, "multiProcessorCount",
      [](const Properties& self) { return self.values.multiProcessorCount; },
      R"doc(Return the number of multiprocessors.

-> Number of multiprocessors; on AMD devices, of compute units.
)doc");
  method(
      c, "pciBusID", [](const Properties& self) { return self.values.pciBusID; },
      R"doc(Return the number of the PCI bus.

-> Number of the device's bus.
)doc");
  method(
      c, "pciDeviceID", [](const Properties& self) { return self.values.pciDeviceID; },
      R"doc(Return the number of the device on its PCI bus.

-> Number of the device.
)doc");
  method(
      c, "pciDomainID", [](const Properties& self) { return self.values.pciDomainID; },
      R"doc(Return the number of the PCI domain.

-> Number of the domain of the device's bus.
)doc");
  method(
      c, "architecture", [](const Properties& self) { return architecture_name(self.values); },
      R"doc(Return the name of the device's architecture: 'sm_90', 'gfx90a', 'host'.

-> Name that the run-time compiler accepts.
)doc");
  method(
      c, "features", [](const Properties& self) { return architecture_features(self.values); },
      R"doc(Return the features of an AMD device for which images are compiled.

-> Features, such as 'sramecc+:xnack-'. Empty on other devices.
)doc");
  method(c, "__repr__", [](const Properties& self) {
    return "<cudaDeviceProp: " + std::string(self.values.name) + " at " + self.bus_id + ">";
  });
}

}  // namespace

void bind_device(module_& m) {
  bind_properties(m);

  def(
      m, "_current_device_key",
      [] {
        const int device = current_device();
        return std::uint64_t(device_epoch(device)) << 8 | unsigned(device);
      },
      "Return a number for the current device and its epoch, a key for caches per device.");
  def(
      m, "_is_forked_child", [] { return forked(); },
      "Return True in a child process that was forked after the first use of the device.");
  def(m, "_device_epoch", [](int device) { return device_epoch(device); },
      "Return the number of the device's epoch; a reset of the device begins a new epoch.",
      {{"device"}});
  def(m, "_memory_stats",
      [](int device, bool reset_peaks) {
        MemoryStats stats;
        const Status status = call([&] { return memory_stats(device, reset_peaks, stats); });
        return with_status(
            status, py::make_tuple(stats.free, stats.total, stats.pool_used, stats.pool_peak,
                                   stats.pool_reserved, stats.pool_reserved_peak, stats.cached,
                                   stats.plain_used, stats.plain_peak));
      },
      "Return the members of MemoryStats, in their order.", {{"device"}, {"reset_peaks"}});
}

}  // namespace PyGPU::python
