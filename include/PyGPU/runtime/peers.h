// Access of devices to each other's memory.
#pragma once

#include "error.h"

namespace PyGPU {

// Enable or disable the current device's access to `peer`, including PyGPU's pool on `peer`.
Status enable_peer_access(int peer, unsigned flags);
Status disable_peer_access(int peer);
// Return whether enable_peer_access made the memory of `peer` accessible from `device`.
bool reaches_peer(int device, int peer);

// Let two devices copy directly between their memories, if they can; otherwise such copies pass
// through the host. Kernels still need enable_peer_access. PYGPU_PEER_COPIES=0 turns this off.
void connect_for_copies(int device, int other);

}  // namespace PyGPU
