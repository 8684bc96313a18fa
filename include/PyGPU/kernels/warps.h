// Warps.
#pragma once

// Return the mask of all lanes of a warp.
constexpr unsigned long long P_all_lanes(int P_warp) { return ~0ull >> (64 - P_warp); }
