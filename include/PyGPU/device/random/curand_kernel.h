// cuRAND's device functions, written anew: the same states, functions and sequences as NVIDIA's
// curand_kernel.h. Integers and uniform numbers are equal to the last bit; what mathematical
// functions make of them is as near as these are.
#pragma once

#include "poisson.h"

extern "C++" {

// From numbers that each generator makes in its own way.
#define PYGPU_CURAND(State)                                                                      \
  __device__ inline float curand_uniform(State* state) { return PyGPU::random::uniform(state); } \
  __device__ inline double curand_uniform_double(State* state) {                                 \
    return PyGPU::random::uniform_double(state);                                                 \
  }                                                                                              \
  __device__ inline unsigned curand_discrete(State* state,                                       \
                                             curandDiscreteDistribution_t distribution) {        \
    return distribution->method == CURAND_M2                                                     \
               ? PyGPU::random::by_histogram(curand(state), distribution->M2)                    \
               : PyGPU::random::rounded_normal(curand_normal_double(state), distribution->mean,  \
                                               distribution->stddev);                            \
  }

#define PYGPU_CURAND_PSEUDO(State)                                                                \
  __device__ inline void curand_init(unsigned long long seed, unsigned long long sequence,        \
                                     unsigned long long offset, State* state) {                   \
    PyGPU::random::start(state, seed, sequence, offset);                                          \
  }                                                                                               \
  __device__ inline void skipahead(unsigned long long n, State* state) {                          \
    PyGPU::random::skip(state, n);                                                                \
  }                                                                                               \
  __device__ inline void skipahead_sequence(unsigned long long n, State* state) {                 \
    PyGPU::random::skip_sequence(state, n);                                                       \
  }                                                                                               \
  __device__ inline unsigned curand(State* state) { return PyGPU::random::next(state); }          \
  __device__ inline float curand_normal(State* state) {                                           \
    return PyGPU::random::normal<float>(state);                                                   \
  }                                                                                               \
  __device__ inline double curand_normal_double(State* state) {                                   \
    return PyGPU::random::normal<double>(state);                                                  \
  }                                                                                               \
  __device__ inline float curand_log_normal(State* state, float mean, float stddev) {             \
    return PyGPU::random::log_normal<float>(state, mean, stddev);                                 \
  }                                                                                               \
  __device__ inline double curand_log_normal_double(State* state, double mean, double stddev) {   \
    return PyGPU::random::log_normal<double>(state, mean, stddev);                                \
  }                                                                                               \
  __device__ inline float2 curand_normal2(State* state) {                                         \
    return PyGPU::random::normal_pair(state, 0.0f);                                               \
  }                                                                                               \
  __device__ inline double2 curand_normal2_double(State* state) {                                 \
    return PyGPU::random::normal_pair(state, 0.0);                                                \
  }                                                                                               \
  __device__ inline float2 curand_log_normal2(State* state, float mean, float stddev) {           \
    return PyGPU::random::log_normal_pair(curand_normal2(state), mean, stddev);                   \
  }                                                                                               \
  __device__ inline double2 curand_log_normal2_double(State* state, double mean, double stddev) { \
    return PyGPU::random::log_normal_pair(curand_normal2_double(state), mean, stddev);            \
  }                                                                                               \
  __device__ inline unsigned curand_poisson(State* state, double mean) {                          \
    return PyGPU::random::poisson(state, mean);                                                   \
  }                                                                                               \
  PYGPU_CURAND(State)
PYGPU_CURAND_PSEUDO(curandStateXORWOW)
PYGPU_CURAND_PSEUDO(curandStatePhilox4_32_10)
PYGPU_CURAND_PSEUDO(curandStateMRG32k3a)
#undef PYGPU_CURAND_PSEUDO

__device__ inline void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a* state) {
  PyGPU::random::skip_subsequence(state, n);
}

#define PYGPU_CURAND_QUASI(Word, State)                                                         \
  __device__ inline void skipahead(Word n, State* state) { PyGPU::random::skip(state, n); }     \
  __device__ inline Word curand(State* state) { return PyGPU::random::next(state); }            \
  __device__ inline float curand_normal(State* state) {                                         \
    return PyGPU::random::normal_of(curand(state));                                             \
  }                                                                                             \
  __device__ inline double curand_normal_double(State* state) {                                 \
    return PyGPU::random::normal_double_of(curand(state));                                      \
  }                                                                                             \
  __device__ inline float curand_log_normal(State* state, float mean, float stddev) {           \
    return PyGPU::random::log_normal_of(curand_normal(state), mean, stddev);                    \
  }                                                                                             \
  __device__ inline double curand_log_normal_double(State* state, double mean, double stddev) { \
    return PyGPU::random::log_normal_of(curand_normal_double(state), mean, stddev);             \
  }                                                                                             \
  __device__ inline unsigned curand_poisson(State* state, double mean) {                        \
    return PyGPU::random::poisson_of(curand(state), mean);                                      \
  }                                                                                             \
  PYGPU_CURAND(State)
#define PYGPU_CURAND_SOBOL(Word, Vectors, Plain, Scrambled)                        \
  __device__ inline void curand_init(Vectors vectors, Word offset, Plain* state) { \
    PyGPU::random::start(state, vectors, 0, offset);                               \
  }                                                                                \
  __device__ inline void curand_init(Vectors vectors, Word scramble, Word offset,  \
                                     Scrambled* state) {                           \
    PyGPU::random::start(state, vectors, scramble, offset);                        \
  }                                                                                \
  PYGPU_CURAND_QUASI(Word, Plain)                                                  \
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
