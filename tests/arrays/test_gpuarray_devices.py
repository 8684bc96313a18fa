"""Arrays on several devices: each remembers its own, whatever the thread's current device is."""

PROGRAM = """
import numpy as np, PyGPU
from PyGPU.gpuarray import to_gpu, zeros, empty_like

def device_of(array):
    attributes, status = PyGPU.cudaPointerGetAttributes(array)
    assert not status
    return attributes["device"]

x = np.arange(24.0).reshape(2, 3, 4)
assert not PyGPU.cudaSetDevice(1)
there = to_gpu(x)
assert not PyGPU.cudaSetDevice(0)
here = zeros(x.shape)
assert (device_of(there), device_of(here)) == (1, 0)

# A copy stays with its source, and the thread stays where it was.
assert device_of(there.copy()) == 1
assert (there[:, ::-1].get() == x[:, ::-1]).all()
there[0] = 7
assert PyGPU.cudaGetDevice() == (0, 0)

# From device to device, dense and strided, both ways.
here[...] = there
assert (here.get() == there.get()).all()
here[:, 1:, ::2] = to_gpu(x)[:, 1:, ::2]
there[:, 1:, ::2] = here[:, 1:, ::2]
assert (there.get()[:, 1:, ::2] == x[:, 1:, ::2]).all()
there.set(here.T.copy().T)
assert (there.get() == here.get()).all()
assert PyGPU.cudaGetDevice() == (0, 0)
"""


def test_two_devices(two_devices):
    two_devices(PROGRAM)
