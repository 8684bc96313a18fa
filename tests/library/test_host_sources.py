"""Users' CUDA and HIP sources on the host machine: what they may call, and the errors they see."""

import ctypes
import textwrap
from pathlib import Path

import needs
import numpy as np
import pytest
from campaign import rare_but

import PyGPU
from PyGPU._library import host_sources
from PyGPU.compiler import SourceModule
from PyGPU.errors import CompileError

pytestmark = pytest.mark.skipif(PyGPU.target != "host", reason="about the host machine's headers")

FAULTS = r"""
__global__ void store(int* a, long long offset) { a[offset] = 1; }
constexpr long long outside = 1ll << 40;

// Errors of the calls after a failed kernel, with the launch's own error left unread.
void after_a_fault(int* host_codes) {
  int *device = nullptr, value = 0, *code = host_codes;
  cudaEvent_t event;
  cudaStream_t stream;
  cudaEventCreate(&event);
  cudaStreamCreate(&stream);
  cudaMalloc(&device, sizeof(int));
  cudaMemset(device, 0, sizeof(int));
  store<<<1, 1>>>(device, outside);
  store<<<1, 1>>>(device, 0);  // a later kernel that succeeds does not hide the fault
  *code++ = cudaDeviceSynchronize();
  *code++ = cudaStreamSynchronize(stream);
  *code++ = cudaStreamQuery(0);
  *code++ = cudaEventSynchronize(event);
  *code++ = cudaEventQuery(event);
  *code++ = cudaMemcpy(&value, device, sizeof(int), cudaMemcpyDeviceToHost);
  *code++ = cudaMemcpy2D(&value, 4, device, 4, 4, 1, cudaMemcpyDeviceToHost);
  *code++ = value;
  *code++ = cudaPeekAtLastError();
  *code++ = cudaGetLastError();
  *code++ = cudaDeviceSynchronize();
  store<<<1, 2000>>>(device, 0);  // an invalid launch is no fault: nothing ran
  *code++ = cudaDeviceSynchronize();
  *code++ = cudaGetLastError();
  cudaFree(device);
  cudaStreamDestroy(stream);
  cudaEventDestroy(event);
}
PYGPU_EXPORT(after_a_fault);

int unread_fault(int* a) {
  store<<<1, 1>>>(a, outside);
  return cudaDeviceSynchronize();
}
PYGPU_EXPORT(unread_fault);
"""
HEADERS = """
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <driver_types.h>
#include <host_defines.h>
#include <vector_types.h>
#include <PyGPU/export.h>

int version() { return cudaProfilerStart() + CUDA_VERSION; }
PYGPU_EXPORT(version);
"""


@pytest.fixture
def load(tmp_path):
    needs.program("g++")

    def build(text, name="source.cu", **options):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return PyGPU.load(path, cache_dir=False, **options)

    return build


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Return a library of several texts, since a library costs a second."""
    needs.program("g++")
    path = tmp_path_factory.mktemp("library") / "source.cu"
    path.write_text("".join([HEADERS, FAULTS, ROWS, LAUNCHES, GROUPS]))
    return PyGPU.load(path, cache_dir=False)


def test_waits_return_the_fault_of_a_kernel(library):
    codes = np.zeros(13, np.int32)
    library.after_a_fault(codes.ctypes.data)
    assert codes.tolist() == [PyGPU.cudaErrorIllegalAddress] * 7 + [0, 700, 700, 0, 0, 9]


def test_a_fault_that_nobody_read_is_raised_once(library):
    a = PyGPU.zeros(1, np.int32)
    with pytest.raises(PyGPU.errors.LogicError, match="unread_fault failed: an illegal") as caught:
        library.unread_fault(a)
    assert "kernel store, block (0, 0, 0), thread (0, 0, 0): access" in str(caught.value)
    np.testing.assert_array_equal(a.get(), [0])
    PyGPU.cudaDeviceSynchronize()


def test_a_fault_in_a_library_of_ctypes_names_the_kernel(tmp_path):
    needs.program("g++")
    source = tmp_path / "faults.cu"
    text = FAULTS.replace("int unread_fault", 'extern "C" int unread_fault')
    source.write_text("#include <PyGPU/export.h>\n" + text)
    library = ctypes.CDLL(str(PyGPU.build(source, out=tmp_path / "libfaults.so")))
    a = PyGPU.zeros(1, np.int32)
    assert library.unread_fault(ctypes.c_void_p(a.ptr)) == PyGPU.cudaErrorIllegalAddress
    with pytest.raises(PyGPU.errors.LogicError, match="left this error unread") as caught:
        a.get()
    assert "kernel store, block (0, 0, 0), thread (0, 0, 0): access" in str(caught.value)
    np.testing.assert_array_equal(a.get(), [0])


@pytest.mark.parametrize("name", ["symbols", "kernels", "streams", "memory", "properties"])
def test_runtime_calls(name):
    needs.program("g++")
    library = PyGPU.load(Path(__file__).with_name("host_api.cu"))
    assert getattr(library, name)() == 0


MISSING = [
    ("cudaLaunchCooperativeKernel((void *)0, 1, 1, 0)", "cannot synchronize a whole grid"),
    ("cudaLaunchKernel((const void *)f, 1, 1, 0)", "pass the kernel without a cast to void"),
    ("cudaGraphCreate(0, 0)", "makes graphs by stream capture alone"),
    ("cooperative_groups::this_grid().sync()", "cannot synchronize a whole grid"),
]


def test_a_call_that_is_missing_says_why(load):
    calls = "".join(f"{statement};\n" for statement, _ in MISSING)
    with pytest.raises(CompileError) as caught:
        load(f"#include <cooperative_groups.h>\n__global__ void f() {{}}\nvoid g() {{\n{calls}}}")
    for _, reason in MISSING:
        assert reason in str(caught.value) or reason in caught.value.stderr, reason


def test_a_hip_source():
    needs.program("g++")
    library = PyGPU.load(Path(__file__).with_name("host_hip.hip"))
    a = PyGPU.zeros(4, np.int32)
    assert library.run(a, 4) == 0
    np.testing.assert_array_equal(a.get(), [23] * 4)


def test_variables_named_as_indices(load):
    """A program's own blockDim hides the kernel's, as in CUDA; members may have the name too."""
    source = """
    #include <cuda_runtime.h>
    #include <PyGPU/export.h>
    struct Shape { dim3 gridDim, blockDim; };
    __global__ void count(int *x, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      __shared__ int last;
      last = threadIdx.x;
      __syncthreads();
      if (i < n) x[i] += 100 * blockDim.x + 10 * gridDim.x + (last < 64) + blockIdx.x;
    }
    void launch(int *x, int n, Shape shape) { count<<<shape.gridDim, shape.blockDim>>>(x, n); }
    int run(int *x, int n) {
      dim3 blockDim(64);
      const dim3 gridDim((n + blockDim.x - 1) / blockDim.x);
      launch(x, n, {gridDim, blockDim});
      return cudaGetLastError();
    }
    PYGPU_EXPORT(run);
    """
    x = PyGPU.zeros(130, np.int32)
    assert load(source).run(x, 130) == 0
    np.testing.assert_array_equal(x.get(), 6431 + np.arange(130) // 64)


ROWS = """
int rows(float *result) {
  float in[4][6], part[2][3] = {{-1, -2, -3}, {-4, -5, -6}};
  for (int i = 0; i < 24; ++i) in[i / 6][i % 6] = i;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t a, b;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMallocArray(&a, &format, 6, 4);
  cudaMallocArray(&b, &format, 8, 8);
  const auto up = cudaMemcpyHostToDevice, down = cudaMemcpyDeviceToHost;
  cudaError_t wrong = cudaMemcpy2DToArrayAsync(a, 2, 0, in, 24, 24, 4, up, stream);
  if (wrong != cudaErrorInvalidValue) return 1;
  wrong = cudaMemcpy2DFromArrayAsync(result, 8, a, 0, 0, 24, 4, down, stream);
  if (wrong != cudaErrorInvalidPitchValue) return 2;
  cudaGetLastError();
  cudaMemcpy2DToArrayAsync(a, 0, 0, in, 24, 24, 4, up, stream);
  cudaMemcpy2DToArrayAsync(a, 8, 1, part, 12, 12, 2, up, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy2DArrayToArray(b, 4, 2, a, 0, 0, 24, 4);
  cudaMemcpy2DFromArrayAsync(result, 24, b, 4, 2, 24, 4, down, stream);
  cudaStreamSynchronize(stream);
  cudaFreeArray(a);
  cudaFreeArray(b);
  cudaStreamDestroy(stream);
  return cudaGetLastError();
}
PYGPU_EXPORT(rows);
"""


def test_copies_of_rows_of_arrays(library):
    expected = np.arange(24, dtype=np.float32).reshape(4, 6)
    expected[1:3, 2:5] = -np.arange(1, 7).reshape(2, 3)
    result = np.zeros((4, 6), np.float32)
    assert library.rows(result.ctypes.data) == 0
    np.testing.assert_array_equal(result, expected)


LAUNCHES = """
template <class T>
struct Owner {
  T *data;
  explicit Owner(int n) {
    cudaMalloc(&data, n * sizeof(T));
    cudaMemset(data, 0, n * sizeof(T));
  }
  ~Owner() { cudaFree(data); }
  operator T *() { return data; }
  operator const T *() const { return data; }
};
struct Pair { int a, b; };
struct Packed { unsigned low : 4, high : 4; };
struct Limits { static const int few = 3; };
__global__ void plain(int *x, const int *none, Pair pair, int bits, int few);
__global__ void plain(int *y, int const *z, const Pair p, int const m, const int n) {
  y[threadIdx.x] += z ? 1000 : p.a + 10 * p.b + 100 * m + n;
}
template <class T, int n> __global__ void typed(T *x, const T *none) {
  x[threadIdx.x] += none ? 1000 : n;
}
template <class T, int n> struct Three {};
template <class T> __global__ void nested(int *x) { x[threadIdx.x] += 10; }
int launches(int *result) {
  Owner<int> owner(4);
  Packed packed = {1, 2};
  plain<<<1, 4>>>(owner, 0, {3, 4}, packed.high, Limits::few);
  typed<int, 5><<<1, 4>>>(owner, NULL);
  nested<Three<int, 3>>
      <<<1, 4>>>(owner);
  void (*chosen)(int *) = nested<int>;
  chosen<<<1, 4>>>(owner);
  return cudaMemcpy(result, owner.data, 16, cudaMemcpyDeviceToHost);
}
PYGPU_EXPORT(launches);
"""


def test_launches_convert_arguments_as_calls_do(library):
    """Owners of memory are not copied; 0, lists and parts of structures are arguments too."""
    result = np.zeros(4, np.int32)
    assert library.launches(result.ctypes.data) == 0
    assert result.tolist() == [3 + 40 + 200 + 3 + 5 + 10 + 10] * 4


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("dim3 blockDim(3);", True),
        ("int f(const dim3& gridDim, int x);", True),
        ("dim3 threads, blockDim;", True),
        ("shape->blockDim.x = 3;", True),
        ("const int threadIdx [3];", True),
        ("int i = blockIdx.x * blockDim.x + threadIdx.x; f(gridDim.x, n *blockDim.x);", False),
        ("return threadIdx.x == 0 && blockIdx .x; // dim3 blockDim(3);", False),
        ("#define BLOCK blockDim\n", False),
    ],
)
def test_texts_with_variables_named_as_indices(text, named):
    assert host_sources.definitions([text.encode()]) == ["-DPYGPU_NAMED_INDICES"] * named


def test_variables_of_several_files(tmp_path):
    """Each file has its own variables, as with nvcc, unless -rdc=true or extern shares them."""
    needs.program("g++")
    (tmp_path / "shared.cuh").write_text(
        "#pragma once\n__constant__ int in_header;\n"
        "struct S { static __device__ int x; };\n"
        "__device__ inline int same(int x) { return x; }\n"
        "extern __device__ int elsewhere;\n"
    )
    first = """
    #include "shared.cuh"
    #include <PyGPU/export.h>
    __constant__ int c[2] = {1, 2};
    namespace q { __device__ int a = 10, b = 20; static __device__ int s = 40; }
    __device__ int S::x = 400;
    __global__ void f(int *x) {
      x[0] = c[1] + q::a + q::b + q::s + same(100) + elsewhere + S::x + in_header;
    }
    int run(int *x) { f<<<1, 1>>>(x); return cudaGetLastError(); }
    PYGPU_EXPORT(run);
    """
    second = """
    #include "shared.cuh"
    __constant__ int c[2] = {7, 8};
    namespace q { __device__ int a = 70, b = 80; }
    __device__ int elsewhere = 1000;
    """
    for name, text in (("first.cu", first), ("second.cu", second)):
        (tmp_path / name).write_text(textwrap.dedent(text))
    x = PyGPU.zeros(1, np.int32)
    sources = [tmp_path / "first.cu", tmp_path / "second.cu"]
    assert PyGPU.load(sources, cache_dir=False).run(x) == 0
    assert x.get()[0] == 1572
    with pytest.raises(CompileError) as caught:
        PyGPU.load(sources, cache_dir=False, options=["-rdc=true"])
    assert "multiple definition" in caught.value.stderr


LACKING = [
    ("cublas_v2.h", "cuBLAS"),
    ("cufft.h", "cuFFT"),
    ("nvml.h", "NVML"),
    ("thrust/device_vector.h", "Thrust"),
    ("cub/cub.cuh", "CUB"),
    ("hipblas/hipblas.h", "cuBLAS"),
]


@pytest.mark.parametrize(("header", "library"), rare_but([LACKING[0], LACKING[4]], LACKING))
def test_a_library_that_host_lacks_is_named(load, header, library):
    text = f"#include <{header}>\n__global__ void f() {{ missing(); }}"
    message = rf"the host machine has no {library} \(<{header}>\): .*PYGPU_TARGET_HOST"
    with pytest.raises(CompileError, match=message):
        load(text)
    with pytest.raises(CompileError, match=message):
        SourceModule(text, no_extern_c=True)


def test_headers_of_the_runtime(library):
    assert library.version() == PyGPU.cudaRuntimeGetVersion()[0]


GROUPS = """
namespace cg = cooperative_groups;
__device__ int sum(cg::thread_group group, int *shared, int value) {
  for (int half = group.size() / 2; half > 0; half /= 2) {
    shared[group.thread_rank()] = value;
    group.sync();
    if (group.thread_rank() < half) value += shared[group.thread_rank() + half];
    group.sync();
  }
  return value;  // of the group's first thread
}
__global__ void sums(int *x) {
  __shared__ int shared[128];
  const cg::thread_block block = cg::this_thread_block();
  const int i = threadIdx.x, all = sum(block, shared, i);
  const int tile = sum(cg::tiled_partition<16>(block), shared + i / 16 * 16, i);
  const cg::thread_group dynamic = cg::tiled_partition(block, 8);
  const int small = sum(dynamic, shared + i / 8 * 8, i);
  if (i == 0) x[0] = all;
  if (i == 16) x[1] = tile;
  if (i == 120) x[2] = small;
  if (i == 127) x[3] = cg::thread_rank(dynamic) * 1000 + cg::group_size(dynamic);
}
int groups(int *x) {
  sums<<<1, 128, 0, cudaStreamDefault>>>(x);
  return cudaGetLastError();
}
PYGPU_EXPORT(groups);
"""


def test_groups_of_any_kind(library):
    """thread_group is the block, a tile or coalesced lanes; a stream may be cudaStreamDefault."""
    x = PyGPU.zeros(4, np.int32)
    assert library.groups(x) == 0
    np.testing.assert_array_equal(x.get(), [8128, 16 * 16 + 120, 120 * 8 + 28, 7008])


STRICT = """
import numpy as np, PyGPU
library = PyGPU.load("strict.cu", cache_dir=False)
x = PyGPU.zeros(6, np.int32)
library.run(x[:4], 3)
print(x.get().tolist())
try:
    library.run(x, 6)
    x.get()
except PyGPU.errors.LogicError as error:
    print(error)
"""


def test_strict_libraries(python, tmp_path, monkeypatch):
    """An access behind an array is a fault of its kernel; plain C++ is left alone."""
    needs.program("g++")
    (tmp_path / "strict.cu").write_text("""
#include <PyGPU/export.h>
#include <string>
static const std::string name(40, 'x');  // initialized when the library is loaded
__global__ void store(int *x, int i) { x[i] = name.size(); }
void run(int *x, int i) { store<<<1, 1>>>(x, i); }
PYGPU_EXPORT(run);
""")
    monkeypatch.chdir(tmp_path)
    said = python(STRICT, PYGPU_HOST_STRICT=1).stdout.splitlines()
    assert said[0] == "[0, 0, 0, 40, 0, 0]"
    assert "illegal memory access" in said[1]
    assert len(python(STRICT).stdout.splitlines()) == 1
