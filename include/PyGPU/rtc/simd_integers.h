// Dot products of integers in a word. NVRTC before CUDA 12.3 declares them, and calls functions
// that it does not have. Included before sources that use a SIMD intrinsic.
#pragma once

#if __CUDACC_VER_MAJOR__ < 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 3)
#if __CUDA_ARCH__ >= 610

extern "C++" {

// `vector` and `bytes` are the parameter types of the overload for vectors.
#define PYGPU_DOT(name, instruction, type, vector, bytes)                                  \
  __device__ __forceinline__ type name(type P_x, type P_y, type P_sum) {                   \
    type P_result;                                                                         \
    asm(instruction " %0, %1, %2, %3;" : "=r"(P_result) : "r"(P_x), "r"(P_y), "r"(P_sum)); \
    return P_result;                                                                       \
  }                                                                                        \
  __device__ __forceinline__ type name(vector P_x, bytes P_y, type P_sum) {                \
    return name(reinterpret_cast<type&>(P_x), reinterpret_cast<type&>(P_y), P_sum);        \
  }
PYGPU_DOT(__dp4a, "dp4a.s32.s32", int, char4, char4)
PYGPU_DOT(__dp4a, "dp4a.u32.u32", unsigned, uchar4, uchar4)
PYGPU_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, short2, char4)
PYGPU_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, ushort2, uchar4)
PYGPU_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, short2, char4)
PYGPU_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, ushort2, uchar4)
#undef PYGPU_DOT
}

#endif
#endif
