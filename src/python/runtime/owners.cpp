// Owners of page-locked memory, of page-locks and of other processes' memory. A destructor releases
// them, so no signal can come between the runtime's call and its owner, nor stop the release.
#include "PyGPU/runtime/graph.h"
#include "python/binders.h"
#include "python/runtime/call.h"

namespace PyGPU::python {
namespace {

enum class Owned { page_locked, registered, opened };

const char* release_call(Owned kind) {
  switch (kind) {
    case Owned::page_locked: return "cudaFreeHost";
    case Owned::registered: return "cudaHostUnregister";
    default: return "cudaIpcCloseMemHandle";
  }
}

struct OwnedMemory {
  void* address = nullptr;
  Owned kind = Owned::page_locked;
  int device = 0;
  unsigned epoch = 0;          // cudaDeviceReset has released memory of earlier epochs
  PyObject* holder = nullptr;  // owns registered memory
  bool operator==(const OwnedMemory& other) const { return address == other.address; }
};

cudaError_t release_memory(const OwnedMemory& memory) {
  if (!Py_IsInitialized() || is_finalizing()) return cudaSuccess;
  cudaError_t error = cudaSuccess;
  if (!is_gone(memory.device, memory.epoch))
    error = waiting_in_relaxed_mode([&] {
      switch (memory.kind) {
        case Owned::page_locked: return cudaFreeHost(memory.address);
        case Owned::registered: return cudaHostUnregister(memory.address);
        default: return cudaIpcCloseMemHandle(memory.address);
      }
    });
  drop(memory.holder);
  return error;
}

struct OwnedTraits {
  using Handle = OwnedMemory;
  static constexpr const char* name = "host memory";
  static cudaError_t release(const OwnedMemory& memory) {
    // Reported here, by the name of the call.
    if (const cudaError_t error = release_memory(memory))
      report_failed_release(release_call(memory.kind), error);
    return cudaSuccess;
  }
};
using MemoryOwner = UniqueHandle<OwnedTraits>;

// Return the owner of the `nbytes` of memory that `take(&address)` makes available.
template <class Take>
MemoryOwner owner_of(const char* name, Owned kind, std::size_t nbytes, const Take& take,
                     const py::object& holder = {}) {
  OwnedMemory made;
  made.kind = kind;
  release_postponed();
  const auto attempt = [&]() -> Status {
    if (const cudaError_t error = cudaGetDevice(&made.device)) return error;
    made.epoch = device_epoch(made.device);
    return take(&made.address);
  };
  check(name, allocate(MemoryKind::pinned, nbytes, [&] { return call_in_relaxed_mode(attempt); }));
  made.holder = py::object(holder).release().ptr();
  return MemoryOwner(made);
}

}  // namespace

void bind_owners(module_& m) {
  const py::object c = new_class<MemoryOwner>(
      m, "_MemoryOwner", "Owner of page-locked memory, a page-lock or another process's memory.");
  property(
      c, "address", [](const MemoryOwner& self) { return number_of(self.get().address); },
      "Address of the memory; 0 after close().");
  method(
      c, "close",
      [](MemoryOwner& self) {
        if (!self) return false;
        const OwnedMemory memory = self.give_up();
        check(release_call(memory.kind), release_memory(memory));
        return true;
      },
      "Release the memory now; return False if it was released before.");
  def(m, "_page_locked",
      [](std::size_t nbytes, unsigned flags) {
        return owner_of("cudaHostAlloc", Owned::page_locked, nbytes,
                        [&](void** address) { return cudaHostAlloc(address, nbytes, flags); });
      },
      "Return the owner of new page-locked memory.", {{"nbytes"}, {"flags"}});
  def(m, "_registered",
      [](const py::object& holder, std::uintptr_t address, std::size_t nbytes, unsigned flags) {
        void* const memory = reinterpret_cast<void*>(address);
        return owner_of(
            "cudaHostRegister", Owned::registered, nbytes,
            [&](void** registered) {
              const cudaError_t error = cudaHostRegister(memory, nbytes, flags);
              if (!error) *registered = memory;
              return error;
            },
            holder);
      },
      "Page-lock the memory of `holder`; return the owner of the page-lock.",
      {{"holder"}, {"address"}, {"nbytes"}, {"flags"}});
  def(m, "_opened",
      [](const py::bytes& handle, unsigned flags) {
        const auto known = ipc_handle_of<cudaIpcMemHandle_t>(handle);
        return owner_of("cudaIpcOpenMemHandle", Owned::opened, 0, [&](void** address) {
          return cudaIpcOpenMemHandle(address, known, flags);
        });
      },
      "Return the owner of another process's memory, opened here.", {{"handle"}, {"flags"}});
}

}  // namespace PyGPU::python
