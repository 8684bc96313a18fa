// __launch_bounds__ with CUDA's meaning of its second number: blocks per multiprocessor. HIP takes
// it for wavefronts per SIMD unit, of which a multiprocessor has four (a compute unit of GCN and
// CDNA, a work-group processor of RDNA).
#pragma once

// Lanes of a wavefront (its macro is deprecated), and how many wavefronts a SIMD unit holds: asking
// for more draws a warning.
#if defined(__GFX8__) || defined(__GFX9__)
#define PYGPU_WAVEFRONT 64
#define PYGPU_MOST_WAVES 8
#else  // with -mwavefrontsize64 the bound is twice as strict as the program meant
#define PYGPU_WAVEFRONT 32
#define PYGPU_MOST_WAVES 16
#endif

#define PYGPU_WAVES_OF(threads, blocks) \
  (((threads) * (blocks) + 4 * PYGPU_WAVEFRONT - 1) / (4 * PYGPU_WAVEFRONT))
#define PYGPU_WAVES(threads, blocks)                                       \
  (PYGPU_WAVES_OF(threads, blocks) < 1                  ? 1                \
   : PYGPU_WAVES_OF(threads, blocks) > PYGPU_MOST_WAVES ? PYGPU_MOST_WAVES \
                                                        : PYGPU_WAVES_OF(threads, blocks))

#define PYGPU_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define PYGPU_BOUNDS_2(threads, blocks)                   \
  __attribute__((amdgpu_flat_work_group_size(1, threads), \
                 amdgpu_waves_per_eu(PYGPU_WAVES(threads, blocks))))
#define PYGPU_BOUNDS_3(threads, blocks, clusters) PYGPU_BOUNDS_2(threads, blocks)
#define PYGPU_BOUNDS_OF(a, b, c, name, ...) name
#undef __launch_bounds__
#define __launch_bounds__(...) \
  PYGPU_BOUNDS_OF(__VA_ARGS__, PYGPU_BOUNDS_3, PYGPU_BOUNDS_2, PYGPU_BOUNDS_1, )(__VA_ARGS__)
