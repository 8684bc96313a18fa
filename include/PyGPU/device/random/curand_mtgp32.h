// cuRAND's Mersenne twister for GPUs is missing: its parameters are tables of cuRAND's host
// library, which also fills the states. A call fails to compile with this reason.
#pragma once

extern "C++" {

struct curandStateMtgp32 {
  int P_unused;
};
typedef curandStateMtgp32 curandStateMtgp32_t;

#define PYGPU_CURAND_MTGP32(Result, name)                                                       \
  template <class... P_Parameters>                                                              \
  __device__ inline Result name(curandStateMtgp32*, P_Parameters...) {                          \
    static_assert(sizeof...(P_Parameters) > 99,                                                 \
                  "curandStateMtgp32: its tables are cuRAND's host library's; use curandState " \
                  "(XORWOW), curandStatePhilox4_32_10 or curandStateMRG32k3a");                 \
    return Result();                                                                            \
  }
PYGPU_CURAND_MTGP32(unsigned, curand)
PYGPU_CURAND_MTGP32(float, curand_uniform)
PYGPU_CURAND_MTGP32(double, curand_uniform_double)
PYGPU_CURAND_MTGP32(float, curand_normal)
PYGPU_CURAND_MTGP32(double, curand_normal_double)
PYGPU_CURAND_MTGP32(float, curand_log_normal)
PYGPU_CURAND_MTGP32(double, curand_log_normal_double)
PYGPU_CURAND_MTGP32(unsigned, curand_poisson)
PYGPU_CURAND_MTGP32(unsigned, curand_discrete)
#undef PYGPU_CURAND_MTGP32
}
