"""Users' CUDA and HIP sources on the host machine: what they may call, and the errors they see."""

import textwrap
from pathlib import Path

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU.errors import CompileError

pytestmark = pytest.mark.skipif(PyGPU.target != "host", reason="about the host machine's headers")

FAULTS = r"""
#include <cuda_runtime.h>
#include <PyGPU/export.h>

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


@pytest.fixture
def load(tmp_path):
    needs.program("g++")

    def build(text, name="source.cu", **options):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return PyGPU.load(path, cache_dir=False, **options)

    return build


def test_waits_return_the_fault_of_a_kernel(load):
    codes = np.zeros(13, np.int32)
    load(FAULTS).after_a_fault(codes.ctypes.data)
    assert codes.tolist() == [PyGPU.cudaErrorIllegalAddress] * 7 + [0, 700, 700, 0, 0, 9]


def test_a_fault_that_nobody_read_is_raised_once(load):
    library = load(FAULTS)
    a = PyGPU.zeros(1, np.int32)
    with pytest.raises(PyGPU.errors.LogicError, match="unread_fault failed: an illegal"):
        library.unread_fault(a)
    np.testing.assert_array_equal(a.get(), [0])
    PyGPU.cudaDeviceSynchronize()


@pytest.mark.parametrize("name", ["symbols", "kernels", "streams", "memory", "properties"])
def test_runtime_calls(name):
    needs.program("g++")
    library = PyGPU.load(Path(__file__).with_name("host_api.cu"))
    assert getattr(library, name)() == 0


@pytest.mark.parametrize(
    "statement, reason",
    [
        ("cudaLaunchCooperativeKernel((void *)0, 1, 1, 0)", "cannot synchronize a whole grid"),
        ("cudaLaunchKernel((const void *)f, 1, 1, 0)", "pass the kernel without a cast to void"),
        ("cudaGraphCreate(0, 0)", "makes graphs by stream capture alone"),
    ],
)
def test_a_call_that_is_missing_says_why(load, statement, reason):
    with pytest.raises(CompileError) as caught:
        load(f"#include <cuda_runtime.h>\n__global__ void f() {{}}\nvoid g() {{ {statement}; }}")
    assert reason in str(caught.value) or reason in caught.value.stderr


def test_a_hip_source():
    needs.program("g++")
    library = PyGPU.load(Path(__file__).with_name("host_hip.hip"))
    a = PyGPU.zeros(4, np.int32)
    assert library.run(a, 4) == 0
    np.testing.assert_array_equal(a.get(), [23] * 4)
