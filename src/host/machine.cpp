// The host machine's configuration, lookups, last error, versions and counts of live resources.
#include "machine.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "PyGPU/runtime/settings.h"
#include "PyGPU/vendor/host_modules.h"
#include "array.h"
#include "available.h"
#include "fault.h"
#include "loaded.h"
#include "pages.h"
#include "texture.h"

namespace PyGPU::host {
namespace {

thread_local ThreadErrors errors;
thread_local int device_of_thread = 0;
std::atomic<bool> in_forked_child{false};

// Return the memory that this process must leave to other programs: the part in use, and 1/16 of
// the available rest.
std::size_t reserved_for_others(const ComputerMemory& memory) {
  return memory.total - memory.available + memory.available / 16;
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return 1;
}

}  // namespace

Machine::Machine()
    : strict(switch_setting("PYGPU_HOST_STRICT", false)),
      warp_size(setting_text("PYGPU_HOST_WARP") == "64" ? 64 : 32),
      cores(int(number_setting("PYGPU_HOST_THREADS", std::uint64_t(usable_cores()), 1, 1024))) {
  const std::size_t count = number_setting("PYGPU_HOST_DEVICES", 1, 1, 64);
  const std::size_t memory = number_setting("PYGPU_HOST_MEMORY", 0, 1 << 20, 1ull << 50);
  is_computer_memory_ = memory == 0;
  const ComputerMemory computer = is_computer_memory_ ? computer_memory() : ComputerMemory{};
  devices.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    devices[i].memory = is_computer_memory_ ? computer.total : memory;
    devices[i].used_by_others = is_computer_memory_ ? reserved_for_others(computer) : 0;
    devices[i].pool.device = int(i);
  }
  pthread_atfork(nullptr, nullptr, [] { in_forked_child = true; });
}

Machine& Machine::get() {
  static Machine& machine = *new Machine;
  return machine;
}

bool Machine::has_room(Device& device, std::size_t nbytes) {
  if (nbytes <= device.memory - device.used_by_others - device.used) return true;
  if (!is_computer_memory_) return false;
  release_cached_pages();
  // Memory used by other programs: the unavailable part without this device's own use.
  const std::size_t taken = reserved_for_others(computer_memory());
  device.used_by_others = std::min(device.used_by_others, taken - std::min(taken, device.used));
  return nbytes <= device.memory - device.used_by_others - device.used;
}

const Allocation* Machine::find(const void* address, std::size_t nbytes) const {
  return block(address, nbytes).second;
}

std::pair<std::uintptr_t, const Allocation*> Machine::block(const void* address,
                                                            std::size_t nbytes) const {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const auto holds = [&](const auto& entry) {
    const std::size_t offset = first - entry.first;
    const std::size_t span = entry.second.span;
    return offset < span && nbytes <= span - offset;
  };
  const auto after = table.upper_bound(first);
  if (after != table.begin() && holds(*std::prev(after)))
    return {std::prev(after)->first, &std::prev(after)->second};
  for (auto entry = imported.begin(); entry != imported.end() && entry->first <= first; ++entry)
    if (holds(*entry)) return {entry->first, &entry->second};
  return {};
}

bool Machine::device_can_access(const void* address, std::size_t nbytes) {
  std::lock_guard<std::mutex> hold(lock);
  return find(address, nbytes) != nullptr;
}

bool Machine::is_valid(cudaStream_t stream) {
  if (!is_created(stream)) return true;
  if (in_kernel() && (stream == cudaStreamTailLaunch || stream == cudaStreamFireAndForget))
    return true;
  std::lock_guard<std::mutex> hold(lock);
  return streams.count(stream) != 0;
}

bool Machine::can_launch_on(cudaStream_t stream) {
  if (!is_valid(stream)) return false;
  return in_kernel() || !is_created(stream) || stream->device == current_device();
}

bool Machine::is_valid(cudaEvent_t event) {
  std::lock_guard<std::mutex> hold(lock);
  return events.count(event) != 0;
}

int& current_device() { return device_of_thread; }

cudaError_t set_last_error(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) errors.last = error;
  return error;
}

ThreadErrors exchange_errors(ThreadErrors now) { return std::exchange(errors, now); }

cudaError_t unread_fault() { return errors.fault; }

cudaError_t set_fault(cudaError_t error) { return errors.fault = error; }

bool is_forked_child() { return in_forked_child.load(std::memory_order_relaxed); }

}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaGetLastError() { return exchange_errors({}).last; }

cudaError_t cudaPeekAtLastError() { return errors.last; }

cudaError_t cudaRuntimeGetVersion(int* version) {
  return PyGPU::host::call([&] {
    if (!version) return cudaErrorInvalidValue;
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

const char* cudaGetErrorName(cudaError_t error) {
  switch (int(error)) {
#define PYGPU_NAME(name, number) \
  case number: return "cuda" #name;
    PYGPU_CUDA_ERRORS(PYGPU_NAME)
#undef PYGPU_NAME
  }
  return "unrecognized error code";
}

// Return an error's text, derived from its name: cudaErrorInvalidDevice -> "invalid device". The
// switch lists the errors whose CUDA text differs, because programs search messages for it.
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorNoDevice: return "no GPU device is detected";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorNotSupported: return "operation not supported";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    default: break;
  }
  static const auto& texts = *new const auto([] {
    std::map<int, std::string> spelt;
    auto spell = [](const char* name) {
      std::string text;
      for (const char* c = name + std::strlen("Error"); *c; ++c) {
        if (std::isupper(static_cast<unsigned char>(*c)) && !text.empty()) text += ' ';
        text += char(std::tolower(static_cast<unsigned char>(*c)));
      }
      return text;
    };
#define PYGPU_TEXT(name, number) \
  if (number != 0) spelt[number] = spell(#name);
    PYGPU_CUDA_ERRORS(PYGPU_TEXT)
#undef PYGPU_TEXT
    return spelt;
  }());
  const auto found = texts.find(int(error));
  return found == texts.end() ? "unrecognized error code" : found->second.c_str();
}

void cudaHostCountLive(std::size_t* counts) {
  Machine& machine = Machine::get();
  const std::lock_guard<std::mutex> hold(machine.lock);
  std::size_t blocks = 0, bytes = 0;
  for (const auto& [address, block] : machine.table) {
    if (block.space == Space::variable) continue;
    ++blocks;
    bytes += block.span;
  }
  const std::size_t found[] = {blocks,
                               bytes,
                               machine.imported.size(),
                               machine.streams.size(),
                               machine.events.size(),
                               live_arrays(),
                               live_textures(),
                               live_modules()};
  std::memcpy(counts, found, sizeof found);
}
