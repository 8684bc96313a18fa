"""Kernel texts that several tests share; all must compile for every architecture."""

from typing import NamedTuple

import numpy as np


class Text(NamedTuple):
    """Arguments of SourceModule."""

    source: str
    extern_c: bool = True
    expressions: "tuple[str, ...]" = ()


# {C type: NumPy type of the same width}
SCALARS = {
    "bool": np.bool_,
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "unsigned short": np.uint16,
    "int": np.int32,
    "unsigned int": np.uint32,
    "long": np.int64,
    "unsigned long": np.uint64,
    "long long": np.longlong,
    "unsigned long long": np.ulonglong,
    "size_t": np.uintp,
    "float": np.float32,
    "double": np.float64,
}


def writer_name(c_type):
    return "write_" + c_type.replace(" ", "_")


WRITERS = Text(
    "\n".join(
        f"__global__ void {writer_name(name)}({name} *out, {name} x) {{ *out = x; }}"
        for name in SCALARS
    )
)

SHAPES = Text("""
__global__ void shapes(int *out)
{
  atomicAdd(&out[6], 1);
  if (blockIdx.x || blockIdx.y || blockIdx.z || threadIdx.x || threadIdx.y || threadIdx.z) return;
  out[0] = gridDim.x, out[1] = gridDim.y, out[2] = gridDim.z;
  out[3] = blockDim.x, out[4] = blockDim.y, out[5] = blockDim.z;
}

__device__ int count;

__global__ void bump() { atomicAdd(&count, 1); }

__global__ void reverse(int *a, int n)
{
  extern __shared__ int copy[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) copy[i] = a[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = copy[n - 1 - i];
}

__global__ void tiled(float *a)
{
  __shared__ float tile[256];
  tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = tile[255 - threadIdx.x];
}
""")

POINTERS = Text("""
__global__ void twice(float *a, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}

__global__ void add(float *sum, const float *a, const float *b)
{
  sum[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

__global__ void is_null(int *out, const void *pointer) { *out = pointer == 0; }

__global__ void address(unsigned long long *out, unsigned long long number) { *out = number; }
""")

COMPLEX = Text("""
#include <pycuda-complex.hpp>
typedef pycuda::complex<double> wide;

__global__ void multiply(pycuda::complex<float> *out, pycuda::complex<float> a, wide b)
{
  out[0] = a * a;
  out[1] = pycuda::complex<float>(float(b.real()), float(b.imag()));
}
""")

HALF = Text("""
#include <cuda_fp16.h>
__global__ void write_half(unsigned short *out, half x) { *out = __half_as_ushort(x); }
""")

STRUCTURES = Text("""
struct point { char tag; double x; };
struct body { short kind; point ends[2]; float *weights; int counts[3]; };
struct large { float values[512]; };
struct odd { char bytes[3]; };

__global__ void read_body(double *out, int before, body b, char after)
{
  out[0] = before, out[1] = b.kind;
  out[2] = b.ends[0].tag, out[3] = b.ends[0].x;
  out[4] = b.ends[1].tag, out[5] = b.ends[1].x;
  out[6] = b.weights[0] + b.weights[1];
  out[7] = b.counts[0] + 10 * b.counts[1] + 100 * b.counts[2];
  out[8] = after;
}

__global__ void read_large(float *out, large l, int last)
{
  float sum = 0;
  for (int i = 0; i < 512; ++i) sum += l.values[i];
  out[0] = sum;
  out[1] = last;
}

__global__ void read_odd(int *out, odd a, odd b)
{
  out[0] = a.bytes[0] + 10 * a.bytes[1] + 100 * a.bytes[2];
  out[1] = b.bytes[0] + 10 * b.bytes[1] + 100 * b.bytes[2];
}
""")

# Forty parameters with alternating widths.
_CYCLE = ("int", "double", "signed char", "long long", "float", "short")
FORTY_TYPES = [_CYCLE[i % len(_CYCLE)] for i in range(39)]
FORTY = Text(
    "__global__ void forty(double *out, "
    + ", ".join(f"{name} x{i}" for i, name in enumerate(FORTY_TYPES))
    + ")\n{\n"
    + "\n".join(f"  out[{i}] = x{i};" for i in range(39))
    + "\n}\n"
)

TEMPLATES = Text(
    """
template <class T, int n>
__global__ void fill(T *out, T x)
{
  for (int i = 0; i < n; ++i) out[i] = x;
}

namespace outer { namespace inner {
__global__ void three(int *out) { *out = 3; }
template <class T> __global__ void size(int *out) { *out = sizeof(T); }
} }

__global__ void mangled(int *out, int x) { *out = x; }
extern "C" __global__ void unmangled(int *out, int x) { *out = x; }
""",
    extern_c=False,
    expressions=("fill<float, 4>", "fill<short, 2>", "outer::inner::size<double>")
    + ("outer::inner::three",),
)

# Functions that programs for nvcc use without an include, and headers that they include.
IMPLICIT = Text("""
int square(int x) { return x * x; }

__global__ void implicit(double *out, int64_t wide, uint narrow)
{
  out[0] = M_PI, out[1] = INFINITY;
  out[2] = INT_MAX, out[3] = UINT_MAX;
  out[4] = std::sqrt(16.0), out[5] = square(5);
  out[6] = wide, out[7] = narrow;
  out[8] = sizeof(ushort) + sizeof(ulong);
  out[9] = isnan(NAN) ? 1 : 0;
  out[10] = min(3, 4) + max(3.0f, 4.0f);
  out[11] = fabsf(-1.5f) + pow(2.0, 3.0);
}
""")

HEADERS = (
    *("stdint.h", "math.h", "float.h", "stdio.h", "stdlib.h", "string.h", "limits.h", "stddef.h"),
    *("assert.h", "stdbool.h", "cstdint", "cmath", "cfloat", "cstdio", "cstdlib", "cstring"),
    *("climits", "cstddef", "cassert", "limits", "type_traits", "utility", "algorithm"),
    *("cuda_runtime.h", "cuda_fp16.h", "cuComplex.h", "vector_types.h", "math_constants.h"),
)
STANDARD = Text(
    "".join(f"#include <{header}>\n" for header in HEADERS)
    + """
__global__ void standard(double *out)
{
  out[0] = sizeof(int32_t) + sizeof(uint8_t);
  out[1] = FLT_EPSILON;
  out[2] = DBL_MAX;
  out[3] = std::numeric_limits<int>::max();
  out[4] = CHAR_BIT;
  out[5] = std::fabs(-2.0) + fmax(1.0, 2.0);
  out[6] = std::is_same<int, int32_t>::value;
  out[7] = std::max(3, 4);
  unsigned char bytes[4];
  memset(bytes, 1, 4);
  out[8] = bytes[3];
  out[9] = UINT64_MAX == ~uint64_t(0);
}
"""
)

GLOBALS = Text("""
__constant__ float factors[4];
__device__ int counter = 5;
__device__ double table[3][2];
struct pair { int first; double second; };
__constant__ pair setting;

__global__ void use(float *a, double *b)
{
  a[threadIdx.x] *= factors[threadIdx.x];
  if (threadIdx.x == 0) b[0] = counter + table[2][1] + setting.first + setting.second;
}
""")

VECTORS = Text("""
struct mixed { char tag; float4 v; };

__global__ void vectors(float *out, int before, float4 v, char between, double2 d, uchar3 c)
{
  float4 w = make_float4(v.w, v.z, v.y, v.x);
  float4 *rows = (float4 *) out;
  rows[0] = w;
  rows[1] = make_float4(before, between, d.x, d.y);
  rows[2] = make_float4(c.x, c.y, c.z, sizeof(float3) + sizeof(float4));
}

__global__ void read_mixed(float *out, mixed m) { *out = m.tag + m.v.x + m.v.w; }
""")

HALVES = Text("""
#include <cuda_fp16.h>
__global__ void halves(half *a, half factor, int n)
{
  int i = threadIdx.x;
  if (i < n) a[i] = __hadd(__hmul(a[i], factor), __float2half(1.0f));
}
""")

WARPS = Text("""
__global__ void sum_warp(int *a)
{
  int value = a[threadIdx.x];
  for (int step = warpSize / 2; step > 0; step /= 2)
    value += __shfl_down_sync(0xffffffff, value, step);
  if (threadIdx.x == 0) a[0] = value;
}

__global__ void votes(unsigned long long *out)
{
  bool odd = threadIdx.x % 2;
  unsigned long long ballot = __ballot_sync(0xffffffff, odd);
  int any = __any_sync(0xffffffff, threadIdx.x == 3), all = __all_sync(0xffffffff, odd);
  if (threadIdx.x == 0) {
    out[0] = ballot & 0xffffffffu;
    out[1] = any != 0;
    out[2] = all != 0;
    out[3] = __popc(0xff) + __ffs(8) + __clz(1);
  }
}
""")

GROUPS = Text("""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// The lanes of a branch: their ranks and values, and one atomic operation for all of them.
__global__ void branch(int *out, int *count, const int *x)
{
  const int t = threadIdx.x;
  int *mine = out + 9 * t;
  if (x[t] > 0) {
    cg::coalesced_group group = cg::coalesced_threads();
    int first = 0;
    if (group.thread_rank() == 0) first = atomicAdd(count, group.size());
    mine[0] = group.thread_rank();
    mine[1] = group.num_threads();
    mine[2] = group.shfl(first, 0);
    mine[3] = group.shfl_down(t, 1);
    mine[4] = group.shfl_up(t, 2);
    mine[5] = group.ballot(group.thread_rank() == 1 || group.thread_rank() == 3);
    mine[6] = 2 * group.any(t == 5) + group.all(x[t] > 0);
    mine[7] = cg::reduce(group, x[t], cg::plus<int>());
    mine[8] = cg::reduce(group, t, cg::greater<int>());
    group.sync();
  }
}

__global__ void tiles(int *out, const int *x)
{
  const int t = threadIdx.x;
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
  out[3 * t] = cg::reduce(tile, x[t], cg::plus<int>());
  out[3 * t + 1] = cg::reduce(tile, x[t], cg::less<int>());
  out[3 * t + 2] = cg::reduce(tile, x[t], cg::bit_xor<int>());
}
""")

DYNAMIC_SHARED = Text("""
extern __shared__ float shared[];

__device__ void fill(const float *a) { shared[threadIdx.x] = a[threadIdx.x]; }

__global__ void rotate(float *a)
{
  fill(a);
  __syncthreads();
  a[threadIdx.x] = shared[(threadIdx.x + 1) % blockDim.x];
}
""")

PRINTS = Text("""
#include <stdio.h>
__global__ void report(int n, double x, const char *name)
{
  if (threadIdx.x == 1) printf("thread %d of %d: %g %s%%\\n", threadIdx.x, n, x, "text");
}
""")

REGISTRY = {name: value for name, value in globals().items() if isinstance(value, Text)}
