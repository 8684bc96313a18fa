// Warps.
#pragma once

namespace PyGPU {
namespace kernels {

// Return the mask of all lanes of a warp.
constexpr unsigned long long all_lanes(int warp) { return ~0ull >> (64 - warp); }

}  // namespace kernels
}  // namespace PyGPU
