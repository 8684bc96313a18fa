// States of cuRAND's generators and parameters of its functions, with cuRAND's memory layout:
// programs allocate states by their size, and pass direction vectors and discrete distributions.
#pragma once

extern "C++" {

struct curandStateXORWOW {
  unsigned d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

struct curandStateMRG32k3a {
  unsigned s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

// i: index of the next point; x: that point; c: the scrambling constant.
#define PYGPU_CURAND_SOBOL(name, word, bits) \
  struct name {                              \
    word i, x, c;                            \
    word direction_vectors[bits];            \
  };                                         \
  typedef name name##_t;
PYGPU_CURAND_SOBOL(curandStateSobol32, unsigned, 32)
PYGPU_CURAND_SOBOL(curandStateScrambledSobol32, unsigned, 32)
PYGPU_CURAND_SOBOL(curandStateSobol64, unsigned long long, 64)
PYGPU_CURAND_SOBOL(curandStateScrambledSobol64, unsigned long long, 64)
#undef PYGPU_CURAND_SOBOL
typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

enum curandMethod {
  CURAND_CHOOSE_BEST,
  CURAND_ITR,
  CURAND_KNUTH,
  CURAND_HITR,
  CURAND_M1,
  CURAND_M2,
  CURAND_BINARY_SEARCH,
  CURAND_DISCRETE_GAUSS,
  CURAND_REJECTION,
  CURAND_DEVICE_API,
  CURAND_FAST_REJECTION,
  CURAND_3RD,
  CURAND_DEFINITION,
  CURAND_POISSON
};
typedef curandMethod curandMethod_t;

// Numbers shift, shift + 1, ... by two tables. Each of the `length` columns has the same width;
// column j is shift + j below the threshold V[j] and shift + K[j] above it.
struct curandHistogramM2_st {
  double *V, *host_V;
  unsigned *K, *host_K;
  unsigned host_gen;
};
typedef curandHistogramM2_st* curandHistogramM2_t;
struct curandDistributionM2Shift_st {
  curandHistogramM2_t histogram, host_histogram;
  unsigned shift, length, host_gen;
};
typedef curandDistributionM2Shift_st* curandDistributionM2Shift_t;
struct curandDiscreteDistribution_st {
  curandDiscreteDistribution_st* self_host_ptr;
  curandDistributionM2Shift_t M2, host_M2;
  double stddev, mean;  // of the normal numbers that are rounded by all methods except CURAND_M2
  curandMethod_t method;
  unsigned host_gen;
};
typedef curandDiscreteDistribution_st* curandDiscreteDistribution_t;
}
