"""What is AMD's own in the stand-in for its runtime (tests/standin), seen through PyGPU."""

import ctypes

import needs
import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray
from PyGPU._runtime import targets
from PyGPU.compiler import SourceModule

pytestmark = pytest.mark.skipif(not needs.STANDIN, reason="about the stand-in for AMD's runtime")


def test_a_wavefront_has_64_lanes(python):
    assert PyGPU.cudaDeviceProp(0).warpSize() == 64
    show = "import PyGPU; print(PyGPU.cudaDeviceProp(0).warpSize())"
    assert python(show, PYGPU_HOST_WARP=32).stdout == "32\n"


def test_votes_have_64_bits():
    kernel = SourceModule("""
__global__ void vote(unsigned long long *all, int *total) {
  const unsigned long long odd = __ballot_sync(~0ull, threadIdx.x & 1);
  const int sum = __reduce_add_sync(~0ull, 1);
  if (threadIdx.x == 0) { *all = odd; *total = sum; }
}""").get_function("vote")
    votes, total = gpuarray.zeros(1, np.uint64), gpuarray.zeros(1, np.int32)
    kernel(votes, total, block=(64, 1, 1))
    assert votes.get()[0] == 0xAAAAAAAAAAAAAAAA
    assert total.get()[0] == 64


@pytest.mark.parametrize("arch", ["gfx90a:sramecc+:xnack-", "gfx1036", "gfx942:xnack+"])
def test_features_are_no_part_of_an_architecture(python, arch):
    show = "import PyGPU; print(PyGPU.cudaDeviceProp(0).architecture())"
    assert python(show, PYGPU_STANDIN_ARCH=arch).stdout.strip() == arch.partition(":")[0]
    show = "import PyGPU; print(PyGPU.cudaDeviceProp(0).features())"
    assert python(show, PYGPU_STANDIN_ARCH=arch).stdout.strip() == arch.partition(":")[2]


IMAGES = """
import PyGPU.driver as drv
from PyGPU._compile.compile_command import main
names = [f"gfx90a{one}" for one in ("", ":xnack+", ":xnack-")]
assert main([f"{FOLDER}/mine.cu", "--arch", ",".join(names), "-o", FOLDER]) == 0
for name in names:
    path = f"{FOLDER}/mine.{name.replace(':', '_')}.hsaco"
    data = open(path, "rb").read()
    open(path, "wb").write(data if name == EXPECTED else b"not this one")
drv.module_from_file(f"{FOLDER}/mine").get_function("f")
"""


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("gfx90a:sramecc+:xnack-", "gfx90a:xnack-"),
        ("gfx90a:sramecc+:xnack+", "gfx90a:xnack+"),
        ("gfx90a", "gfx90a"),
    ],
)
def test_the_image_for_a_devices_features(python, tmp_path, device, expected):
    (tmp_path / "mine.cu").write_text("__global__ void f(int *a) { *a = 1; }")
    settings = f"FOLDER, EXPECTED = {str(tmp_path)!r}, {expected!r}\n"
    python(settings + IMAGES, PYGPU_STANDIN_ARCH=device)


WITHOUT_POOLS = """
import numpy as np
import PyGPU, PyGPU.gpuarray as gpuarray
assert PyGPU.cudaMallocAsync(100, None)[1] == PyGPU.cudaErrorNotSupported
x = np.arange(100000.0)
a = gpuarray.to_gpu(x)
assert ((a + a).get() == x + x).all() and a.sum().get() == x.sum()
assert (a[a.astype(bool)].get() == x[1:]).all()
"""


def test_a_runtime_without_stream_ordered_memory(python):
    python(WITHOUT_POOLS, PYGPU_STANDIN_POOLS=0)


@pytest.mark.parametrize(
    ("arch", "has_pools"),
    [
        ("gfx908:sramecc+:xnack-", True),
        ("gfx942:sramecc+:xnack-", True),
        ("gfx950", True),
        ("gfx1030", False),
        ("gfx1100", False),
        ("gfx1201", False),
        ("gfx1250", True),
    ],
)
def test_pools_that_lose_data_are_not_used_unasked(python, arch, has_pools):
    """On Radeon GPUs since ROCm 7."""
    text = """
import numpy as np, PyGPU.driver as drv, PyGPU.gpuarray as gpuarray
try:
    gpuarray.empty(1 << 57, np.uint8)
except drv.MemoryError as error:
    print(str(error).split()[0])
"""
    call = "cudaMallocAsync" if has_pools or needs.HIP < (7, 0) else "cudaMalloc"
    assert python(text, PYGPU_STANDIN_ARCH=arch, PYGPU_POOLS="").stdout == f"{call}\n"
    asked = python(text, PYGPU_STANDIN_ARCH=arch, PYGPU_POOLS=1)
    assert asked.stdout == "cudaMallocAsync\n"


def hip(name, *arguments):
    """Return the result of a function of the runtime, as a C program gets it."""
    call = getattr(ctypes.CDLL(targets.runtime_library("hip")), name)
    return call(*map(ctypes.c_void_p, arguments))


def test_the_null_stream_has_a_number_since_it_is_in_the_header():
    expected = 0 if needs.HIP >= (6, 2) else 400
    assert hip("hipStreamSynchronize", 1) == expected
    assert hip("hipStreamSynchronize", 0) == hip("hipStreamSynchronize", 2) == 0
    PyGPU.cudaGetLastError()


def test_an_attribute_of_hip_6():
    supported = PyGPU.cudaDeviceGetAttribute(PyGPU.cudaDevAttrHostRegisterSupported, 0)
    expected = (1, 0) if needs.HIP >= (6, 0) else (0, PyGPU.cudaErrorNotSupported)
    assert supported == expected


def test_read_only_registration_is_refused():
    """HIP's flag of that name has the bit of another one."""
    memory = np.zeros(1000)
    address, flags = memory.ctypes.data, PyGPU.cudaHostRegisterReadOnly
    assert PyGPU.cudaHostRegister(address, memory.nbytes, flags) == PyGPU.cudaErrorNotSupported
    assert PyGPU.cudaHostRegister(address, memory.nbytes) == 0
    assert PyGPU.cudaHostUnregister(address) == 0


def test_hip_6_knows_unregistered_memory():
    """Before, it was an error. PyGPU answers the same with both."""
    memory, found = np.zeros(10), np.zeros(64, np.uint8)
    code = hip("hipPointerGetAttributes", found.ctypes.data, memory.ctypes.data)
    assert code == (0 if needs.HIP >= (6, 0) else 1)
    PyGPU.cudaGetLastError()
    attributes, status = PyGPU.cudaPointerGetAttributes(memory.ctypes.data)
    assert status == 0 and attributes["type"] == PyGPU.cudaMemoryTypeUnregistered


def test_a_query_of_pending_work_is_no_last_error_since_hip_7():
    PyGPU.cudaSetDevice(1000)
    assert PyGPU.cudaGetDevice() == (0, 0)
    assert PyGPU.cudaGetLastError() == (101 if needs.HIP >= (7, 0) else 0)


FIRST_ARRAY_IN_A_CAPTURE = """
import ctypes, sys
import numpy as np
import PyGPU, PyGPU.driver as drv
from PyGPU._runtime import targets
from PyGPU.gpuarray import GPUArray
stream = PyGPU.cudaStream_t(PyGPU.cudaStreamNonBlocking)
lib = ctypes.CDLL(targets.runtime_library("hip"))
assert lib.hipStreamBeginCapture(ctypes.c_void_p(stream.get()), 0) == 0
first = GPUArray(100, np.uint8)
graph = ctypes.c_void_p()
assert lib.hipStreamEndCapture(ctypes.c_void_p(stream.get()), ctypes.byref(graph)) == 0
try:
    GPUArray(1 << 57, np.uint8)
except drv.MemoryError as error:
    print(str(error).split()[0])
"""


def test_another_librarys_capture_does_not_cost_the_pool(python):
    """HIP 7 makes no pool while a stream is captured; later arrays come from one."""
    assert python(FIRST_ARRAY_IN_A_CAPTURE).stdout == "cudaMallocAsync\n"


def device_count(python, **variables):
    show = "import PyGPU; print(PyGPU.cudaGetDeviceCount())"
    return python(show, **{f"{name}_VISIBLE_DEVICES": value for name, value in variables.items()})


@pytest.mark.parametrize("name", ["HIP", "CUDA", "ROCR"])
def test_hidden_devices(python, name):
    assert device_count(python, **{name: "-1"}).stdout == "(0, <cudaError: code=100>)\n"
    assert device_count(python, **{name: "0"}).stdout == "(1, <cudaError: code=0>)\n"


def test_the_error_names_the_variable_that_hides_the_devices(python):
    for program in ("import PyGPU; PyGPU.zeros(3)", "import PyGPU.autoinit"):
        said = python(program, expect=1, HIP_VISIBLE_DEVICES="-1").stderr.splitlines()[-1]
        assert said.startswith("PyGPU.errors.RuntimeError: ") and "no GPU is visible" in said
        assert said.endswith("HIP_VISIBLE_DEVICES='-1' hides every device")


def test_the_own_variable_of_hip_counts_before_that_of_cuda(python):
    assert device_count(python, HIP="0", CUDA="-1").stdout == "(1, <cudaError: code=0>)\n"
    assert device_count(python, HIP="-1", CUDA="0").stdout == "(0, <cudaError: code=100>)\n"


def test_arrays_lie_on_a_device_of_rocm():
    assert gpuarray.zeros(3, np.int32).__dlpack_device__() == (10, 0)


def test_a_grid_counts_its_threads_in_32_bits():
    kernel = SourceModule("__global__ void nothing() { }").get_function("nothing")
    with pytest.raises(drv.Error, match=r"grid=\(4194304, 1, 1\)"):
        kernel(block=(1024, 1, 1), grid=(1 << 22, 1))


def test_code_for_a_gpu_is_refused():
    """Which the stand-in cannot run: an ELF file for AMD's GPUs that it did not make."""
    header = b"\x7fELF\2\1\1\x40\1" + b"\0" * 7 + (3).to_bytes(2, "little") + b"\xe0\0"
    with pytest.raises(drv.Error, match="hipErrorNoBinaryForGpu"):
        drv.module_from_buffer(header + bytes(100))
