// A library as its user might have it: device code behind functions that take pointers and sizes.
// PyGPU.load compiles this one source with nvcc, hipcc or a C++ compiler.
#include <PyGPU/export.h>
#include <PyGPU/gpu.h>

namespace {

constexpr int threads_per_block = 256;

// How many blocks give each of n items a thread. No grid holds more than 2^31 - 1 of them; for such
// an n, and for a negative one, the answer is 0, which the launch refuses.
unsigned blocks_for(long n) {
  if (n <= 0 || n / threads_per_block >= 0x7fffffff) return 0;
  return unsigned((n + threads_per_block - 1) / threads_per_block);
}

__device__ long thread_number() { return long(blockIdx.x) * blockDim.x + threadIdx.x; }

// One term of the formula. A sum of squares that is nothing but rounding adds no term: it occurs
// where regular samples all fall on zeros of the sine.
__device__ double term(double product, double squares, long samples) {
  return squares > 1e-12 * samples ? product * product / squares : 0.0;
}

// The power at one trial frequency per thread, straight from the formula of
//   N. R. Lomb, Astrophysics and Space Science 39 (1976) 447-462,
//   J. D. Scargle, The Astrophysical Journal 263 (1982) 835-853, equation 10.
__global__ void spectrum(const double* times, const double* values, long samples,
                         const double* frequencies, double* power, long trials) {
  const long trial = thread_number();
  if (trial >= trials) return;
  const double omega = 2.0 * 3.14159265358979323846 * frequencies[trial];

  // The offset tau makes sine and cosine orthogonal over the samples, wherever time starts.
  double sum_sin = 0.0, sum_cos = 0.0;
  for (long i = 0; i < samples; ++i) {
    sum_sin += sin(2.0 * omega * times[i]);
    sum_cos += cos(2.0 * omega * times[i]);
  }
  const double tau = atan2(sum_sin, sum_cos) / (2.0 * omega);

  double value_cos = 0.0, value_sin = 0.0, cos_cos = 0.0, sin_sin = 0.0, value_value = 0.0;
  for (long i = 0; i < samples; ++i) {
    const double c = cos(omega * (times[i] - tau)), s = sin(omega * (times[i] - tau));
    value_cos += values[i] * c;
    value_sin += values[i] * s;
    cos_cos += c * c;
    sin_sin += s * s;
    value_value += values[i] * values[i];
  }
  power[trial] =
      (term(value_cos, cos_cos, samples) + term(value_sin, sin_sin, samples)) / value_value;
}

__global__ void double_each(long long* data, long n) {
  const long i = thread_number();
  if (i < n) data[i] *= 2;
}

}  // namespace

// Each function returns the runtime's error, which PyGPU raises as an exception. It does not wait
// for its kernel: a copy back to the host does.

// Compute the Lomb-Scargle power of `values` (their mean removed) sampled at any `times`, at each
// of the trial `frequencies` (above zero, in cycles per unit of time). It is normalised: from 0 to
// 1, the share of the values' sum of squares that the best-fitting sinusoid explains.
cudaError_t lombscargle(const double* times, const double* values, long samples,
                        const double* frequencies, double* power, long trials,
                        cudaStream_t stream) {
  if (trials == 0) return cudaSuccess;
  spectrum<<<blocks_for(trials), threads_per_block, 0, stream>>>(times, values, samples,
                                                                 frequencies, power, trials);
  return cudaGetLastError();
}
PYGPU_EXPORT(lombscargle);

// Double n integers in place.
cudaError_t double_int64(long long* data, long n, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  double_each<<<blocks_for(n), threads_per_block, 0, stream>>>(data, n);
  return cudaGetLastError();
}
PYGPU_EXPORT(double_int64);
