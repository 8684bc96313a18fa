// cuRAND's device functions under HIP: those of hipRAND with CUDA's names.
#pragma once

#if __has_include(<hiprand/hiprand_kernel.h>)
extern "C++" {
#include <hiprand/hiprand_kernel.h>
}

#define curandState hiprandState
#define curandState_t hiprandState_t
#define curandStateXORWOW hiprandStateXORWOW
#define curandStateXORWOW_t hiprandStateXORWOW_t
#define curandStateMRG32k3a hiprandStateMRG32k3a
#define curandStateMRG32k3a_t hiprandStateMRG32k3a_t
#define curandStatePhilox4_32_10 hiprandStatePhilox4_32_10
#define curandStatePhilox4_32_10_t hiprandStatePhilox4_32_10_t
#define curandStateSobol32 hiprandStateSobol32
#define curandStateSobol32_t hiprandStateSobol32_t
#define curandDirectionVectors32_t hiprandDirectionVectors32_t
#define curand hiprand
#define curand4 hiprand4
#define curand_init hiprand_init
#define curand_uniform hiprand_uniform
#define curand_uniform2 hiprand_uniform2
#define curand_uniform4 hiprand_uniform4
#define curand_uniform_double hiprand_uniform_double
#define curand_uniform2_double hiprand_uniform2_double
#define curand_uniform4_double hiprand_uniform4_double
#define curand_normal hiprand_normal
#define curand_normal2 hiprand_normal2
#define curand_normal4 hiprand_normal4
#define curand_normal_double hiprand_normal_double
#define curand_normal2_double hiprand_normal2_double
#define curand_normal4_double hiprand_normal4_double
#define curand_log_normal hiprand_log_normal
#define curand_log_normal2 hiprand_log_normal2
#define curand_log_normal4 hiprand_log_normal4
#define curand_log_normal_double hiprand_log_normal_double
#define curand_log_normal2_double hiprand_log_normal2_double
#define curand_log_normal4_double hiprand_log_normal4_double
#define curand_poisson hiprand_poisson
#define curand_poisson4 hiprand_poisson4
#define curand_discrete hiprand_discrete
#else
#error \
    "curand_kernel.h needs hipRAND: install hiprand (Debian: libhiprand-dev) and add its include folder"
#endif
