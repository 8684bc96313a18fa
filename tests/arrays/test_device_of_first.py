"""Results are on the device of the first array argument, whichever device is current."""

from cases import in_turn

# On device 1, while device 0 is the current one.
MADE = [
    *("x.imag", "x.conj()", "np.copy(x)", "np.round(i)", "np.reshape(x, (5, 1), order='F')"),
    *("gpuarray.empty_like(x)", "gpuarray.zeros_like(x)", "gpuarray.ones_like(x)"),
    *("gpuarray.full_like(x, 3)", "x.reverse()", "InclusiveScanKernel(np.int32, 'a+b')(i, 'new')"),
    "ReductionKernel(np.float32, '0', 'a + b', arguments='float *in')(x)",
]


BEGIN = """
import PyGPU, numpy as np
from PyGPU import gpuarray
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import InclusiveScanKernel
PyGPU.cudaSetDevice(1)
x = gpuarray.to_gpu(np.ones(5, np.float32))
i = x.astype(np.int32)
PyGPU.cudaSetDevice(0)
"""
END = """
assert PyGPU.cudaPointerGetAttributes(made.ptr)[0]["device"] == 1
assert PyGPU.cudaGetDevice()[0] == 0
"""


def test_results_are_on_the_device_of_the_array(two_devices):
    two_devices(in_turn(BEGIN, {text: f"made = {text}{END}" for text in MADE}))


def test_no_elements_are_on_no_device(two_devices):
    two_devices("""
import PyGPU, numpy as np
from PyGPU import gpuarray
from PyGPU.reduction import ReductionKernel
PyGPU.cudaSetDevice(1)
x = gpuarray.to_gpu(np.ones(5, np.float32))
PyGPU.cudaSetDevice(0)
total = ReductionKernel(np.float32, '7', 'a > b ? a : b', arguments='float *in')
assert float(total(x[:0])) == 7
""")


def test_memory_of_a_capture_is_on_the_device_that_is_current(two_devices):
    two_devices("""
import PyGPU, numpy as np
import PyGPU.driver as cuda
from PyGPU import gpuarray
z = gpuarray.to_gpu(np.ones(3, np.float32))
stream = cuda.Stream(1)
with stream.capture():
    gone = z + 1
    del gone
    PyGPU.cudaSetDevice(1)
    made = gpuarray.empty(3, np.float32)
    assert PyGPU.cudaPointerGetAttributes(made.ptr)[0]["device"] == 1
    PyGPU.cudaSetDevice(0)
""")


def test_a_launch_on_the_stream_of_another_device(two_devices):
    two_devices("""
import PyGPU, numpy as np
import PyGPU.driver as cuda
from PyGPU import errors, gpuarray
stream = cuda.Stream()
PyGPU.cudaSetDevice(1)
x = gpuarray.to_gpu(np.ones(5, np.float32))
for use in (lambda: x.sum(stream=stream), lambda: x.fill(2, stream)):
    try:
        use()
    except errors.LogicError:
        continue
    raise AssertionError
assert x.get().tolist() == [1] * 5
""")
