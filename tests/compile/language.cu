// Kernels of tests/test_language.py: CUDA C++ as any target compiles it, its results known.
#include <PyGPU/gpu.h>
#include <cooperative_groups.h>
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <math_constants.h>

namespace cg = cooperative_groups;

static int outcome() { return int(cudaDeviceSynchronize()) ? -1 : int(cudaGetLastError()); }

struct alignas(16) Wide {
  double value;
  int tag;
};

template <class T>
__device__ T warp_sum(T value) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void shuffles_kernel(int* out, double* wide) {
  const int t = threadIdx.x, lane = t % 32;
  int* o = out + 12 * t;
  o[0] = warp_sum(t);
  o[1] = __shfl_sync(0xffffffffu, t, 5);
  o[2] = __shfl_up_sync(0xffffffffu, t, 3);
  o[3] = __shfl_down_sync(0xffffffffu, t, 3, 8);
  o[4] = __shfl_xor_sync(0xffffffffu, t, 9);
  o[5] = __ballot_sync(0xffffffffu, lane % 3 == 0);
  o[6] = __any_sync(0xffffffffu, lane == 40) * 2 + __all_sync(0xffffffffu, lane < 40);
  o[7] = __match_any_sync(0xffffffffu, lane / 4);
  int same = 0;
  o[8] = __match_all_sync(0xffffffffu, t / 32, &same);
  o[8] += same;
  if (lane < 16) {
    o[9] = __shfl_sync(0xffffu, t, 15);
  } else {
    o[9] = __shfl_xor_sync(0xffff0000u, t, 1);
  }
  __syncwarp();
  o[10] = __reduce_max_sync(0xffffffffu, (lane * 7) % 32) + int(__reduce_add_sync(0xffffffffu, 2));
  o[11] = __popc(__activemask());
  wide[t] = __shfl_sync(0xffffffffu, t * 0.5, lane ^ 1);
}

__global__ void votes_kernel(int* out) {
  const int t = threadIdx.x;
  if (t >= 100) return;
  out[3 * t] = __syncthreads_count(t % 3 == 0);
  out[3 * t + 1] = __syncthreads_and(t < 100) * 2 + __syncthreads_and(t < 99);
  out[3 * t + 2] = __syncthreads_or(t == 7) * 2 + __syncthreads_or(t > 200);
}

__global__ void groups_kernel(int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  const int t = block.thread_rank();
  int sum = t;
  for (int by = tile.size() / 2; by > 0; by /= 2) sum += tile.shfl_xor(sum, by);
  out[4 * t] = sum;
  out[4 * t + 1] = tile.ballot(tile.thread_rank() > 5);
  out[4 * t + 2] = tile.meta_group_rank() * 4 + tile.any(t == 9) * 2 + tile.all(t >= 8);
  cg::sync(block);
  tile.sync();
  out[4 * t + 3] = block.size() + block.group_index().x + tile.shfl(t, 2);
}

__global__ void atomics_kernel(int* i, unsigned* u, unsigned long long* l, float* f, double* d,
                               __half* h) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(i, 1);
  atomicSub(i + 1, 2);
  atomicMax(i + 2, t);
  atomicMin(i + 3, -t);
  atomicMax_block(&most, int(threadIdx.x));
  atomicAnd(u, ~(1u << t % 32));
  atomicOr(u + 1, 1u << t % 32);
  atomicXor(u + 2, unsigned(t));
  atomicInc(u + 3, 99);
  atomicDec(u + 4, 99);
  atomicAdd_system(u + 5, 3);
  atomicAdd(l, 1ull << 33);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 1);
  if (t < 64) atomicAdd(h, __float2half(1.0f));
  unsigned long long seen = l[1], before;
  do {
    before = seen;
    seen = atomicCAS(l + 1, before, before + 2);
  } while (seen != before);
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(i + 4, most);
}

__global__ void integers_kernel(const unsigned* x, const unsigned* y, unsigned* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  const unsigned a = x[t], b = y[t];
  unsigned* o = out + 20 * t;
  *o++ = __clz(a);
  *o++ = __clzll((long long)a << 8 | 1);
  *o++ = __ffs(int(a));
  *o++ = __popc(a) + 100 * __popcll(0xf00000000ull | a);
  *o++ = __brev(a);
  *o++ = unsigned(__brevll(a) >> 32);
  *o++ = __byte_perm(a, b, 0x5416);
  *o++ = __umulhi(a, b);
  *o++ = unsigned(__mulhi(int(a), int(b)));
  *o++ = unsigned(__umul64hi((unsigned long long)a << 32, (unsigned long long)b << 32));
  *o++ = unsigned(__mul24(int(a), int(b)));
  *o++ = unsigned(__hadd(int(a), int(b)));
  *o++ = __uhadd(a, b);
  *o++ = __usad(a, b, 7);
  *o++ = __funnelshift_l(a, b, 13);
  *o++ = __funnelshift_r(a, b, 13);
  *o++ = min(a, b);
  *o++ = unsigned(max(int(a), int(b)));
  *o++ = __float_as_uint(__uint_as_float(a & 0x7f7fffffu));
  *o++ = unsigned(__double2hiint(__hiloint2double(int(a & 0x7fefffffu), int(b))));
}

__global__ void maths_kernel(const double* x, double* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  const double v = x[t];
  double* o = out + 20 * t;
  *o++ = rsqrt(v);
  *o++ = rcbrt(v);
  *o++ = sinpi(v);
  *o++ = cospi(v);
  *o++ = exp10(v / 8);
  *o++ = erfinv(v / 16);
  *o++ = erfcinv(v / 8);
  *o++ = normcdf(v - 3);
  *o++ = normcdfinv(v / 16);
  *o++ = erfcx(v);
  *o++ = cyl_bessel_i0(v);
  *o++ = cyl_bessel_i1(v);
  *o++ = norm3d(v, 2.0, 3.0);
  *o++ = rhypot(v, 1.0);
  *o++ = fdim(v, 3.0);
  *o++ = __expf(float(v)) + rsqrtf(float(v));
  *o++ = __float2int_rn(float(v)) + 100 * __double2int_ru(v) + 10000 * __float2int_rd(float(v));
  *o++ = isinf(float(CUDART_INF_F)) ? fmin(v, CUDART_NAN) : -1;
  *o++ = max(1, 2) + min(v, 3.0f) + abs(-2) + fabs(-v);
  double s, c;
  sincospi(v, &s, &c);
  const cuDoubleComplex z = cuCdiv(make_cuDoubleComplex(v, s), make_cuDoubleComplex(c, 2));
  *o++ = cuCabs(cuCmul(z, cuConj(z)));
}

__global__ void halves_kernel(const __half* x, const __half* y, __half* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  const __half a = x[t], b = y[t];
  const __half2 both = __halves2half2(a, b);
  __half* o = out + 10 * t;
  *o++ = a + b;
  *o++ = a * b;
  *o++ = __hsub(a, b);
  *o++ = a / b;
  *o++ = __hfma(a, b, a);
  *o++ = hsqrt(__habs(a));
  *o++ = __hlt(a, b) ? a : b;
  *o++ = __low2half(__hadd2(both, __lowhigh2highlow(both)));
  *o++ = __float2half(__half2float(-a) + 1.0f);
  *o++ = __high2half(__hmul2(both, both));
}

__global__ void vectors_kernel(const float4* x, float4* out, int* sizes) {
  const float4 v = x[threadIdx.x];
  out[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
  if (threadIdx.x != 0) return;
#define SIZE(type) *sizes++ = int(sizeof(type)), *sizes++ = int(alignof(type))
  SIZE(char1), SIZE(uchar2), SIZE(char3), SIZE(uchar4), SIZE(short2), SIZE(short3), SIZE(ushort4);
  SIZE(int2), SIZE(int3), SIZE(uint4), SIZE(long2), SIZE(longlong2), SIZE(ulonglong1);
  SIZE(float2), SIZE(float3), SIZE(double2), SIZE(double3), SIZE(dim3), SIZE(__half2), SIZE(Wide);
}

#define LAUNCH(kernel, grid, block, ...)                \
  PYGPU_LAUNCH(kernel, grid, block, 0, 0)(__VA_ARGS__); \
  return outcome()
extern "C" {
int shuffles(int* out, double* wide) { LAUNCH(shuffles_kernel, 1, 64, out, wide); }
int votes(int* out) { LAUNCH(votes_kernel, 1, 128, out); }
int groups(int* out) { LAUNCH(groups_kernel, 1, 32, out); }
int atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d, __half* h) {
  LAUNCH(atomics_kernel, 10, 100, i, u, l, f, d, h);
}
int integers(const unsigned* x, const unsigned* y, unsigned* out, int n) {
  LAUNCH(integers_kernel, 1, 256, x, y, out, n);
}
int maths(const double* x, double* out, int n) { LAUNCH(maths_kernel, 1, 64, x, out, n); }
int halves(const __half* x, const __half* y, __half* out, int n) {
  LAUNCH(halves_kernel, 1, 256, x, y, out, n);
}
int vectors(const float4* x, float4* out, int* sizes) {
  LAUNCH(vectors_kernel, 1, 32, x, out, sizes);
}
}
