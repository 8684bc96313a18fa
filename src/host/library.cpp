// Libraries of compiled kernels: loading, lookup of kernels and globals, attributes, launches.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "PyGPU/host/module.h"
#include "PyGPU/vendor/host_modules.h"
#include "check_access.h"
#include "children.h"
#include "loaded.h"
#include "machine.h"
#include "order.h"

struct PyGPUHostLibrary {
  void* handle = nullptr;                 // result of dlopen
  const PyGPUHostKernel* rows = nullptr;  // ends with a row whose name is null
  std::set<std::uintptr_t> globals;       // addresses that are in the machine's memory table
  int descriptor = -1;                    // of an image with debug information, open for debuggers
};

namespace PyGPU::host {
namespace {

// Dynamic shared memory limits set with cudaHostSetKernelAttribute, in bytes. Guarded by the
// machine's lock.
std::map<const PyGPUHostKernel*, int>& shared_limits() {
  static auto& limits = *new std::map<const PyGPUHostKernel*, int>;
  return limits;
}

int shared_limit(const PyGPUHostKernel* kernel) {
  Machine& machine = Machine::get();
  std::lock_guard<std::mutex> hold(machine.lock);
  const auto found = shared_limits().find(kernel);
  return found == shared_limits().end() ? int(Machine::max_shared_bytes) : found->second;
}

std::atomic<std::size_t> loaded_modules{0};

bool is_file_of(const std::string& path, int descriptor) {
  struct stat named, open;
  return stat(path.c_str(), &named) == 0 && fstat(descriptor, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

// Return a new path to the file behind `descriptor`. The dynamic loader treats equal paths as the
// same library, so every call needs another spelling: "./" and ".//" encode the bits of a counter.
// A debugger opens the path too, to read symbols: "self" would be the debugger, and the file one of
// its own, perhaps a pipe that it reads forever.
std::string fresh_path(int descriptor) {
  static std::atomic<unsigned> counter{0};
  const std::string name = std::to_string(descriptor);
  std::string path = "/proc/" + std::to_string(getpid()) + "/fd/";
  // /proc may belong to another pid namespace, in which this number is another process's.
  if (!is_file_of(path + name, descriptor)) path = "/proc/self/fd/";
  for (unsigned bits = ++counter; bits; bits >>= 1) path += bits & 1 ? ".//" : "./";
  return path + name;
}

std::size_t image_bytes(const char* image) {
  ElfW(Ehdr) header;
  std::memcpy(&header, image, sizeof header);
  return header.e_shoff + std::size_t(header.e_shnum) * header.e_shentsize;
}

// Load an image into `library`. Its handle is null if that failed.
void open_image(PyGPUHostLibrary& library, const char* image) {
  const int descriptor = memfd_create("PyGPU kernels", MFD_CLOEXEC);
  if (descriptor < 0) return;
  const std::size_t nbytes = image_bytes(image);
  std::size_t done = 0;
  while (done < nbytes) {
    const ssize_t written = write(descriptor, image + done, nbytes - done);
    if (written <= 0) break;
    done += std::size_t(written);
  }
  if (done == nbytes)
    library.handle = dlopen(fresh_path(descriptor).c_str(), RTLD_NOW | RTLD_LOCAL);
  // A debugger opens the file when it needs more of the debug information.
  constexpr char section[] = ".debug_info";
  if (library.handle && memmem(image, nbytes, section, sizeof section))
    library.descriptor = descriptor;
  else
    close(descriptor);
}

void close_image(const PyGPUHostLibrary& library) {
  if (library.handle) dlclose(library.handle);
  if (library.descriptor >= 0) close(library.descriptor);
}

// Registers per thread that are reported. Programs divide by this number. 32 allows the largest
// blocks on all GPUs.
constexpr int registers = 32;

// Read a kernel attribute. `number` is the value of the driver's CUfunction_attribute.
cudaError_t attribute(int* value, const PyGPUHostKernel* kernel, int number) {
  switch (number) {
    case 0: *value = Machine::max_threads_per_block; break;
    case 5:
    case 6: *value = 90; break;  // compute capability 9.0
    case 8: *value = shared_limit(kernel); break;
    // Static shared memory: variables are thread-local data, counted for all kernels of the
    // library.
    case 1: {
      const auto threads = reinterpret_cast<std::uintptr_t>(kernel->threads);
      *value = int(library_of(threads).thread_local_bytes);
      break;
    }
    case 4: *value = registers; break;
    case 2:
    case 3:
    case 7: *value = 0; break;
    case 9: *value = -1; break;
    default: return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

// Return the row with a name, of a kernel or of a variable; null if there is none.
const PyGPUHostKernel* row_of(const PyGPUHostLibrary& library, const char* name, bool is_kernel) {
  for (auto row = library.rows; row->name; ++row) {
    if ((row->threads != nullptr) == is_kernel && std::strcmp(row->name, name) == 0) return row;
  }
  return nullptr;
}

bool find_variable(void** address, std::size_t* nbytes, const PyGPUHostLibrary& library,
                   const char* name) {
  if (const PyGPUHostKernel* const row = row_of(library, name, false)) {
    *address = const_cast<void*>(row->object);
    *nbytes = row->nbytes;
    return true;
  }
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  // A variable with a name of the C library has a prefix (_compile/source/library_names.py).
  void* const own = dlsym(library.handle, (std::string("PyGPU_own_") + name).c_str());
  void* const found = own ? own : dlsym(library.handle, name);
  if (!found || !dladdr1(found, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
                         RTLD_DL_SYMENT))
    return false;
  if (!symbol || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT) return false;
  *address = found;
  *nbytes = symbol->st_size;
  return true;
}

}  // namespace

std::size_t live_modules() { return loaded_modules; }

}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaHostLoadModule(gpu_module* module, const void* image, char* log,
                               std::size_t log_bytes) {
  return call([&] {
    if (!module || !image) return cudaErrorInvalidValue;
    const auto* bytes = static_cast<const char*>(image);
    if (std::strncmp(bytes, ELFMAG, SELFMAG) != 0) {
      if (log)
        std::snprintf(log, log_bytes,
                      "the image is not a shared library compiled for the host target");
      return cudaErrorInvalidKernelImage;
    }
    auto library = std::make_unique<PyGPUHostLibrary>();
    open_image(*library, bytes);
    if (library->handle)
      library->rows =
          static_cast<const PyGPUHostKernel*>(dlsym(library->handle, "PyGPU_host_names"));
    if (!library->rows) {
      const char* why = dlerror();
      if (log) std::snprintf(log, log_bytes, "%s", why ? why : "the image is damaged");
      close_image(*library);
      return cudaErrorInvalidKernelImage;
    }
    *module = library.release();
    ++loaded_modules;
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnloadModule(gpu_module module) {
  return call([&] {
    if (!module) return cudaErrorInvalidResourceHandle;
    {
      Machine& machine = Machine::get();
      std::lock_guard<std::mutex> hold(machine.lock);
      for (const std::uintptr_t address : module->globals) machine.table.erase(address);
      for (auto row = module->rows; row->name; ++row) shared_limits().erase(row);
    }
    // Other threads may run kernels of the module, on any device.
    return release_after(Item::Scope::everything, 0, [module] {
      close_image(*module);
      delete module;
      --loaded_modules;
    });
  });
}

cudaError_t cudaHostGetKernel(gpu_kernel* kernel, gpu_module module, const char* name) {
  return call([&] {
    if (!kernel || !module || !name) return cudaErrorInvalidValue;
    *kernel = row_of(*module, name, true);
    if (*kernel) return cudaSuccess;
    const void* const function = dlsym(module->handle, name);  // a mangled name
    for (auto row = module->rows; function && row->name; ++row) {
      if (row->threads && *static_cast<void* const volatile*>(row->object) == function) {
        *kernel = row;
        return cudaSuccess;
      }
    }
    return cudaErrorSymbolNotFound;
  });
}

cudaError_t cudaHostGetGlobal(void** address, std::size_t* nbytes, gpu_module module,
                              const char* name) {
  return call([&] {
    if (!address || !nbytes || !module || !name) return cudaErrorInvalidValue;
    if (!find_variable(address, nbytes, *module, name)) return cudaErrorSymbolNotFound;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const auto first = reinterpret_cast<std::uintptr_t>(*address);
    machine.table[first] = {*nbytes, 0, Space::variable, current_device(), 0};
    module->globals.insert(first);
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetParameter(gpu_kernel kernel, std::size_t index, std::size_t* offset,
                                 std::size_t* nbytes) {
  return call([&] {
    if (!kernel || index >= kernel->parameter_count) return cudaErrorInvalidValue;
    *offset = kernel->parameters[index].offset;
    *nbytes = kernel->parameters[index].nbytes;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetKernelAttribute(int* value, gpu_kernel kernel, int number) {
  return call(
      [&] { return kernel && value ? attribute(value, kernel, number) : cudaErrorInvalidValue; });
}

cudaError_t cudaHostSetKernelAttribute(gpu_kernel kernel, int number, int value) {
  return call([&] {
    if (!kernel || number < 8 || number > 9) return cudaErrorInvalidValue;
    if (number == 9) return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
    if (value < 0 || value > int(Machine::max_shared_bytes_optin)) return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    shared_limits()[kernel] = value;
    return cudaSuccess;
  });
}

namespace {

// Arguments of a launch copied into one buffer, as a GPU receives them. Strict mode checks the
// addresses that a kernel reads, and must distinguish the arguments from the rest of the caller's
// stack.
class CopiedArguments {
 public:
  CopiedArguments(const PyGPUHostKernel& kernel, void** arguments) {
    const std::size_t count = kernel.parameter_count, table = (count * sizeof(void*) + 63) / 64;
    const PyGPUHostParameter end = count ? kernel.parameters[count - 1] : PyGPUHostParameter{0, 0};
    const std::size_t lines = table + (end.offset + end.nbytes + 63) / 64;
    // Strict kernels may read this many bytes.
    lines_.resize(std::max(lines, max_parameter_bytes / sizeof(ParameterLine)));
    auto** const pointers = reinterpret_cast<void**>(lines_.data());
    for (std::size_t i = 0; i < count; ++i) {
      pointers[i] = lines_[table].bytes + kernel.parameters[i].offset;
      std::memcpy(pointers[i], arguments[i], kernel.parameters[i].nbytes);
    }
  }
  void** pointers() { return reinterpret_cast<void**>(lines_.data()); }

 private:
  std::vector<ParameterLine> lines_;
};

}  // namespace

cudaError_t cudaHostLaunchKernel(gpu_kernel kernel, dim3 grid, dim3 block, void** arguments,
                                 std::size_t shared_bytes, cudaStream_t stream) {
  return call([&] {
    if (!kernel) return cudaErrorInvalidResourceHandle;
    if (shared_bytes > std::size_t(shared_limit(kernel))) return cudaErrorInvalidValue;
    if (!Machine::get().strict && !is_captured(stream))
      return cudaHostLaunch(grid, block, shared_bytes, stream, kernel->threads, arguments,
                            kernel->name, 0);
    if (!Machine::get().can_launch_on(stream)) return cudaErrorInvalidResourceHandle;
    const auto copied = std::make_shared<CopiedArguments>(*kernel, arguments);
    return launch_owned(grid, block, shared_bytes, stream, kernel->threads,
                        {copied, copied->pointers()}, kernel->name);
  });
}
