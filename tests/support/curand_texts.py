"""Kernels that draw from all distributions of cuRAND's generators."""

from kernel_sources import Text

_DRAW = """
#include <curand_kernel.h>

// Where each thread puts its numbers.
struct Drawn {
  unsigned long long *bits;
  float *floats;
  double *doubles;
  unsigned *counts;
};

template <class State> __device__ void draw(State s, Drawn to)
{
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  unsigned long long *bits = to.bits + 4 * i;
  float *f = to.floats + 4 * i;
  double *d = to.doubles + 4 * i;
  unsigned *k = to.counts + 4 * i;
  for (int j = 0; j < 3; ++j) bits[j] = curand(&s);
  f[0] = curand_uniform(&s);
  d[0] = curand_uniform_double(&s);
  f[1] = curand_normal(&s);
  f[2] = curand_normal(&s);
  d[1] = curand_normal_double(&s);
  d[2] = curand_normal_double(&s);
  f[3] = curand_log_normal(&s, 0.5f, 0.25f);
  d[3] = curand_log_normal_double(&s, 0.5, 0.25);
  k[0] = curand_poisson(&s, 5.0);
  k[1] = curand_poisson(&s, 200.0);
  k[2] = curand_poisson(&s, 10000.0);
  bits[3] = curand(&s);
  k[3] = sizeof(State);
}
"""

_PSEUDO = """
// Thread i draws from sequence `sequence` + i.
extern "C" __global__ void draw_{state}(
    unsigned long long *bits, float *floats, double *doubles, unsigned *counts,
    unsigned long long seed, unsigned long long sequence, unsigned long long offset)
{{
  {state} s;
  curand_init(seed, sequence + threadIdx.x + blockIdx.x * blockDim.x, offset, &s);
  Drawn to = {{bits, floats, doubles, counts}};
  draw(s, to);
}}

extern "C" __global__ void skip_{state}(unsigned *out, unsigned long long seed,
                                        unsigned long long n, unsigned long long sequences)
{{
  {state} s;
  curand_init(seed, 0, 0, &s);
  skipahead(n, &s);
  skipahead_sequence(sequences, &s);
  for (int j = 0; j < 6; ++j) out[j] = curand(&s);
}}
"""

_QUASI = """
// Thread i draws from point `offset` + i; scrambled by {scramble}.
extern "C" __global__ void draw_{state}(
    unsigned long long *bits, float *floats, double *doubles, unsigned *counts,
    {word} *vectors, {word} scramble, {word} offset)
{{
  {state} s;
  curand_init(vectors, {scramble}offset, &s);
  skipahead(({word})threadIdx.x, &s);
  Drawn to = {{bits, floats, doubles, counts}};
  draw(s, to);
}}
"""

PSEUDO = ("curandStateXORWOW_t", "curandStatePhilox4_32_10_t", "curandStateMRG32k3a_t")
QUASI = {
    "curandStateSobol32_t": ("unsigned", ""),
    "curandStateScrambledSobol32_t": ("unsigned", "scramble, "),
    "curandStateSobol64_t": ("unsigned long long", ""),
    "curandStateScrambledSobol64_t": ("unsigned long long", "scramble, "),
}

DRAWS = Text(
    _DRAW
    + "".join(_PSEUDO.format(state=state) for state in PSEUDO)
    + "".join(
        _QUASI.format(state=state, word=word, scramble=scramble)
        for state, (word, scramble) in QUASI.items()
    ),
    extern_c=False,
)

PHILOX = Text("""
#include <curand_kernel.h>
__global__ void many(uint4 *words, float4 *floats, double *doubles, uint4 *counts,
                     unsigned long long seed, int first)
{
  curandStatePhilox4_32_10_t s;
  curand_init(seed, 0, first, &s);
  words[0] = curand4(&s);
  words[1] = curand4(&s);
  floats[0] = curand_uniform4(&s);
  floats[1] = curand_normal4(&s);
  floats[2] = curand_log_normal4(&s, 0.5f, 0.25f);
  double2 pair = curand_uniform2_double(&s);
  doubles[0] = pair.x;
  doubles[1] = pair.y;
  doubles[2] = curand_uniform4_double(&s).w;
  doubles[3] = curand_normal4_double(&s).w;
  doubles[4] = curand_log_normal4_double(&s, 0.5, 0.25).w;
  counts[0] = curand_poisson4(&s, 5.0);
  counts[1] = curand_poisson4(&s, 200.0);
  counts[2] = curand_poisson4(&s, 10000.0);
  words[2] = curand4(&s);
}
""")

PAIRS = Text("""
#include <curand_kernel.h>
__global__ void pairs(float *f, double *d, unsigned long long seed)
{
  curandStateXORWOW x;
  curandStateMRG32k3a m;
  curand_init(seed, 3, 0, &x);
  curand_init(seed, 3, 0, &m);
  float2 a = curand_normal2(&x), b = curand_log_normal2(&m, 0.5f, 0.25f);
  double2 c = curand_normal2_double(&x), e = curand_log_normal2_double(&m, 0.5, 0.25);
  f[0] = a.x, f[1] = a.y, f[2] = b.x, f[3] = b.y;
  d[0] = c.x, d[1] = c.y, d[2] = e.x, d[3] = e.y;
  curand_init(seed, 3, 0, &x);
  curand_init(seed, 3, 0, &m);
  f[4] = curand_normal(&x), f[5] = curand_normal(&x);
  f[6] = curand_log_normal(&m, 0.5f, 0.25f), f[7] = curand_log_normal(&m, 0.5f, 0.25f);
  d[4] = curand_normal_double(&x), d[5] = curand_normal_double(&x);
  d[6] = curand_log_normal_double(&m, 0.5, 0.25), d[7] = curand_log_normal_double(&m, 0.5, 0.25);
}
""")

DISCRETE = Text("""
#include <curand_kernel.h>
// {shift, ...} with the probabilities that the tables of a square histogram hold, or rounded
// normal numbers.
__global__ void discrete(unsigned *out, double *thresholds, unsigned *others, unsigned length,
                         double mean, double stddev, int is_histogram)
{
  curandHistogramM2_st histogram = {};
  histogram.V = thresholds;
  histogram.K = others;
  curandDistributionM2Shift_st table = {};
  table.histogram = &histogram;
  table.shift = 100;
  table.length = length;
  curandDiscreteDistribution_st distribution = {};
  distribution.M2 = &table;
  distribution.mean = mean;
  distribution.stddev = stddev;
  distribution.method = is_histogram ? CURAND_M2 : CURAND_DISCRETE_GAUSS;
  curandStatePhilox4_32_10_t s, four;
  curand_init(1, threadIdx.x, 0, &s);
  four = s;
  uint4 all = curand_discrete4(&four, &distribution);
  unsigned *mine = out + 8 * threadIdx.x;
  mine[0] = all.x, mine[1] = all.y, mine[2] = all.z, mine[3] = all.w;
  for (int j = 4; j < 8; ++j) mine[j] = curand_discrete(&s, &distribution);
}
""")

STATES = Text("""
#include <curand_kernel.h>
__global__ void initialize(curandState *states, unsigned long long seed)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(seed, i, 0, &states[i]);
}
__global__ void fill(curandState *states, float *out, int each)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandState state = states[i];
  for (int k = 0; k < each; ++k) out[i * each + k] = curand_uniform(&state);
  states[i] = state;
}
""")

# Function names that programs define, which the header must not use.
OWN_NAMES = Text("""
#include <curand_kernel.h>
__device__ float next(curandState *s) { return curand_uniform(s); }
__device__ float uniform(curandState *s) { return next(s); }
__device__ float normal(curandState *s) { return curand_normal(s) + uniform(s); }
__device__ void skip(curandState *s) { skipahead(3, s); }
__global__ void own(float *out)
{
  curandState s;
  curand_init(1, 2, 3, &s);
  skip(&s);
  out[0] = normal(&s) + curand_poisson(&s, 4.0);
}
""")
