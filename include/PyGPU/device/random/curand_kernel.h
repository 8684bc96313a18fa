// cuRAND's device functions, reimplemented: the same states, functions and sequences as in NVIDIA's
// curand_kernel.h. Integers and uniform numbers are bitwise equal. Results of mathematical
// functions agree as far as those functions do.
#pragma once

#include "poisson.h"

extern "C++" {

// Functions of the numbers that each generator produces.
#define PYGPU_CURAND(State)                                                                       \
  __device__ inline float curand_uniform(State* P_state) {                                        \
    return PyGPU::P_random::P_uniform(P_state);                                                   \
  }                                                                                               \
  __device__ inline double curand_uniform_double(State* P_state) {                                \
    return PyGPU::P_random::P_uniform_double(P_state);                                            \
  }                                                                                               \
  __device__ inline unsigned curand_discrete(State* P_state,                                      \
                                             curandDiscreteDistribution_t P_distribution) {       \
    return P_distribution->method == CURAND_M2                                                    \
               ? PyGPU::P_random::P_by_histogram(curand(P_state), P_distribution->M2)             \
               : PyGPU::P_random::P_rounded_normal(curand_normal_double(P_state),                 \
                                                   P_distribution->mean, P_distribution->stddev); \
  }

#define PYGPU_CURAND_PSEUDO(State)                                                               \
  __device__ inline void curand_init(unsigned long long P_seed, unsigned long long P_sequence,   \
                                     unsigned long long P_offset, State* P_state) {              \
    PyGPU::P_random::P_start(P_state, P_seed, P_sequence, P_offset);                             \
  }                                                                                              \
  __device__ inline void skipahead(unsigned long long P_n, State* P_state) {                     \
    PyGPU::P_random::P_skip(P_state, P_n);                                                       \
  }                                                                                              \
  __device__ inline void skipahead_sequence(unsigned long long P_n, State* P_state) {            \
    PyGPU::P_random::P_skip_sequence(P_state, P_n);                                              \
  }                                                                                              \
  __device__ inline unsigned curand(State* P_state) { return PyGPU::P_random::P_next(P_state); } \
  __device__ inline float curand_normal(State* P_state) {                                        \
    return PyGPU::P_random::P_normal<float>(P_state);                                            \
  }                                                                                              \
  __device__ inline double curand_normal_double(State* P_state) {                                \
    return PyGPU::P_random::P_normal<double>(P_state);                                           \
  }                                                                                              \
  __device__ inline float curand_log_normal(State* P_state, float P_mean, float P_stddev) {      \
    return PyGPU::P_random::P_log_normal<float>(P_state, P_mean, P_stddev);                      \
  }                                                                                              \
  __device__ inline double curand_log_normal_double(State* P_state, double P_mean,               \
                                                    double P_stddev) {                           \
    return PyGPU::P_random::P_log_normal<double>(P_state, P_mean, P_stddev);                     \
  }                                                                                              \
  __device__ inline float2 curand_normal2(State* P_state) {                                      \
    return PyGPU::P_random::P_normal_pair(P_state, 0.0f);                                        \
  }                                                                                              \
  __device__ inline double2 curand_normal2_double(State* P_state) {                              \
    return PyGPU::P_random::P_normal_pair(P_state, 0.0);                                         \
  }                                                                                              \
  __device__ inline float2 curand_log_normal2(State* P_state, float P_mean, float P_stddev) {    \
    return PyGPU::P_random::P_log_normal_pair(curand_normal2(P_state), P_mean, P_stddev);        \
  }                                                                                              \
  __device__ inline double2 curand_log_normal2_double(State* P_state, double P_mean,             \
                                                      double P_stddev) {                         \
    return PyGPU::P_random::P_log_normal_pair(curand_normal2_double(P_state), P_mean, P_stddev); \
  }                                                                                              \
  __device__ inline unsigned curand_poisson(State* P_state, double P_mean) {                     \
    return PyGPU::P_random::P_poisson(P_state, P_mean);                                          \
  }                                                                                              \
  PYGPU_CURAND(State)
PYGPU_CURAND_PSEUDO(curandStateXORWOW)
PYGPU_CURAND_PSEUDO(curandStatePhilox4_32_10)
PYGPU_CURAND_PSEUDO(curandStateMRG32k3a)
#undef PYGPU_CURAND_PSEUDO

__device__ inline void skipahead_subsequence(unsigned long long P_n, curandStateMRG32k3a* P_state) {
  PyGPU::P_random::P_skip_subsequence(P_state, P_n);
}

#define PYGPU_CURAND_QUASI(Word, State)                                                       \
  __device__ inline void skipahead(Word P_n, State* P_state) {                                \
    PyGPU::P_random::P_skip(P_state, P_n);                                                    \
  }                                                                                           \
  __device__ inline Word curand(State* P_state) { return PyGPU::P_random::P_next(P_state); }  \
  __device__ inline float curand_normal(State* P_state) {                                     \
    return PyGPU::P_random::P_normal_of(curand(P_state));                                     \
  }                                                                                           \
  __device__ inline double curand_normal_double(State* P_state) {                             \
    return PyGPU::P_random::P_normal_double_of(curand(P_state));                              \
  }                                                                                           \
  __device__ inline float curand_log_normal(State* P_state, float P_mean, float P_stddev) {   \
    return PyGPU::P_random::P_log_normal_of(curand_normal(P_state), P_mean, P_stddev);        \
  }                                                                                           \
  __device__ inline double curand_log_normal_double(State* P_state, double P_mean,            \
                                                    double P_stddev) {                        \
    return PyGPU::P_random::P_log_normal_of(curand_normal_double(P_state), P_mean, P_stddev); \
  }                                                                                           \
  __device__ inline unsigned curand_poisson(State* P_state, double P_mean) {                  \
    return PyGPU::P_random::P_poisson_of(curand(P_state), P_mean);                            \
  }                                                                                           \
  PYGPU_CURAND(State)
#define PYGPU_CURAND_SOBOL(Word, Vectors, Plain, Scrambled)                              \
  __device__ inline void curand_init(Vectors P_vectors, Word P_offset, Plain* P_state) { \
    PyGPU::P_random::P_start(P_state, P_vectors, 0, P_offset);                           \
  }                                                                                      \
  __device__ inline void curand_init(Vectors P_vectors, Word P_scramble, Word P_offset,  \
                                     Scrambled* P_state) {                               \
    PyGPU::P_random::P_start(P_state, P_vectors, P_scramble, P_offset);                  \
  }                                                                                      \
  PYGPU_CURAND_QUASI(Word, Plain)                                                        \
  PYGPU_CURAND_QUASI(Word, Scrambled)
PYGPU_CURAND_SOBOL(unsigned, curandDirectionVectors32_t, curandStateSobol32,
                   curandStateScrambledSobol32)
PYGPU_CURAND_SOBOL(unsigned long long, curandDirectionVectors64_t, curandStateSobol64,
                   curandStateScrambledSobol64)
#undef PYGPU_CURAND_SOBOL
#undef PYGPU_CURAND_QUASI
#undef PYGPU_CURAND
}

#include "curand_four.h"
#include "curand_mtgp32.h"
