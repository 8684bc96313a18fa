// Choice of the device of a launch. See placement.h.
#include "python/launch/placement.h"

#include <algorithm>

#include "PyGPU/runtime/peers.h"
#include "python/binding/errors.h"

namespace PyGPU::python {

Placement::Devices Placement::find() const {
  Devices found;
  const auto is_home = [&](const ArgumentMemory& where) { return where.device == home_; };
  // Fast path without calls of the runtime.
  if (!memory_.empty() && std::all_of(memory_.begin(), memory_.end(), is_home))
    return {&memory_.front(), nullptr};
  for (const ArgumentMemory& where : memory_) {
    if (is_shared_memory(where.address)) continue;
    if (!found.first)
      found.first = &where;
    else if (!found.other && where.device != found.first->device)
      found.other = &where;
  }
  return found;
}

int Placement::device(const StreamRef& stream) const {
  const Devices found = find();
  const auto reached = [&](const ArgumentMemory& where) {
    return where.device == home_ || (where.address && reaches_peer(home_, where.device)) ||
           is_shared_memory(where.address);
  };
  int device = found.first ? found.first->device : home_;
  if (found.first && std::all_of(memory_.begin(), memory_.end(), reached)) {
    device = home_;
  } else if (found.other) {
    const auto text = [](const ArgumentMemory& where) {
      return "argument #" + std::to_string(where.argument) + " (0-based) is on device " +
             std::to_string(where.device);
    };
    raise_argument_error(name_ + "(): " + text(*found.first) + ", but " + text(*found.other) +
                         ": copy one of them, or call enable_peer_access() for the other device");
  }
  const int streams = stream.owner ? stream.owner->device() : device;
  if (streams == device || !found.first) return streams;
  raise_argument_error(name_ + "()" + device_mismatch_text(device, streams));
}

}  // namespace PyGPU::python
