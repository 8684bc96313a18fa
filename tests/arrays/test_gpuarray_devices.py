"""Arrays on several devices: each remembers its own, whatever the thread's current device is."""

import needs
import pytest

import PyGPU

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


RANDOM = """
import numpy as np
import PyGPU
from PyGPU import curandom

np.random.seed(3)
near = curandom.rand(1000)
np.random.seed(3)
far = curandom.rand(1000, device=1)
assert (near.device, far.device) == (0, 1) and PyGPU.cudaGetDevice() == (0, 0)
assert (near.get() == far.get()).all()
"""


def test_random_numbers_of_a_device(two_devices):
    two_devices(RANDOM)


APART = """
import numpy as np, PyGPU
from PyGPU import gpuarray as gpu

x = np.arange(12, dtype="f4")
assert not PyGPU.cudaSetDevice(1)
far, far_index, far_mask = gpu.to_gpu(x), gpu.to_gpu(np.array([0, 2])), gpu.to_gpu(x > 3)
far_out, far_table = gpu.zeros((), "f4"), gpu.zeros((4, 3), "f4")
assert not PyGPU.cudaSetDevice(0)
near, near_index, table = gpu.to_gpu(x), gpu.to_gpu(np.array([0, 2])), gpu.zeros((4, 3), "f4")
for use in (
    lambda: gpu.sum(near, out=far_out),
    lambda: gpu.sum(table, axis=0, out=far_table[0]),
    lambda: gpu.concatenate([near, far]),
    lambda: gpu.stack([far, near], axis=1),
    lambda: np.concatenate([near, near, far]),
    lambda: gpu.dot(near, far),
    lambda: gpu.dot(near, near, out=far_out),
    lambda: gpu.subset_sum(far_index, near),
    lambda: gpu.subset_dot(near_index, near, far),
    lambda: gpu.take(near, far_index),
    lambda: gpu.take(table, far_index, axis=1),
    lambda: gpu.take(near, near_index, out=far[:2]),
    lambda: near[far_index],
    lambda: near[far_mask],
    lambda: near.__setitem__(far_index, 1.0),
    lambda: near.__setitem__(near_index, far[:2]),
    lambda: near.__setitem__(far_mask, 1.0),
    lambda: gpu.put(near, far_index, near),
    lambda: gpu.multi_take([near], far_index),
):
    try:
        use()
    except TypeError as error:
        assert "device" in str(error), error
    else:
        raise AssertionError("arrays of two devices in one kernel")
assert (near.get() == x).all() and (far.get() == x).all()
# What was refused left no kernel of one device under the other's name.
assert gpu.sum(near).get() == gpu.sum(far).get() == x.sum()
assert (far[far_index].get() == x[[0, 2]]).all() and (far[far_mask].get() == x[x > 3]).all()
"""


def test_operands_on_two_devices(two_devices):
    two_devices(APART)


GIVEN = """
import numpy as np, PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray as gpu, errors

x = np.arange(6.0).reshape(2, 3)
for device in (0, 1, np.int64(1), drv.Device(1)):
    made = [
        gpu.to_gpu(x, device=device), gpu.to_gpu_async(x, device=device),
        gpu.zeros(3, device=device),
        gpu.empty((2, 3), "f4", device=device), gpu.GPUArray(3, "i2", device=device),
        gpu.GPUArray(x, device=device), gpu.to_gpu(gpu.to_gpu(x, device=0), device=device),
        gpu.to_gpu(gpu.to_gpu(x.T, device=1), device=device).T,
    ]
    assert [a.device for a in made] == [int(device)] * 8
    assert PyGPU.cudaGetDevice() == (0, 0)
    assert all((a.get() == x).all() for a in (made[0], made[1], made[5], made[6], made[7]))
    assert not made[2].get().any()
    ranges = [
        gpu.arange(5, device=device), gpu.arange(0, 1, 0.2, dtype="f4", device=device),
        gpu.linspace(0, 1, 5, device=device), gpu.ones((2, 2), device=device),
        gpu.full(5, 7, "i2", device=device), gpu.linspace(0, 5e-324, 5, device=device),
    ]
    assert [a.device for a in ranges] == [int(device)] * 6 and PyGPU.cudaGetDevice() == (0, 0)
    assert (ranges[0].get() == np.arange(5)).all() and (ranges[4].get() == 7).all()
    assert np.allclose(ranges[2].get(), np.linspace(0, 1, 5)) and (ranges[3].get() == 1).all()
far = gpu.to_gpu(x, device=1)
assert gpu.to_gpu(far).device == 1 and gpu.to_gpu(far, device=None).device == 1
assert (far + far).device == 1
for wrong, error in ((2, errors.LogicError), (-1, errors.LogicError), ("1", TypeError)):
    for call in (gpu.zeros, gpu.empty, gpu.GPUArray):
        try:
            call(3, device=wrong)
        except error as found:
            assert "device" in str(found), found
        else:
            raise AssertionError(call)
try:
    gpu.GPUArray(6, gpudata=far.ptr, device=0)
except ValueError as found:
    assert "device" in str(found)
else:
    raise AssertionError
assert PyGPU.cudaGetDevice() == (0, 0)
"""


def test_device_of_new_arrays(two_devices):
    two_devices(GIVEN)


THREADS = """
import threading, time
import numpy as np
import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.elementwise import ElementwiseKernel

count = drv.Device.count()
twice = ElementwiseKernel("float *y, const float *x", "y[i] = 2 * x[i]", "twice")
end, failed, rounds = time.monotonic() + SECONDS, [], [0] * 16

def work(k):
    device, other = k % count, (k + 1) % count
    x = np.arange(5000, dtype="f4") + k
    try:
        while time.monotonic() < end:
            with PyGPU.device(device):
                stream = drv.Stream()
                a = gpuarray.to_gpu(x)
                b = gpuarray.empty_like(a)
                twice(b, a)  # one kernel object on all devices
                c = a * 3 + b
                assert c.device == device
                np.testing.assert_array_equal(c.get(), x * 5)
                assert float(np.sum(c, dtype="f8").get()) == float((x * 5).sum(dtype="f8"))
                b.set_async(c, stream)
                stream.synchronize()
                near = gpuarray.zeros(5000, "f4", device=other)
                near[...] = c
                np.testing.assert_array_equal(near.get(), x * 5)
                order = np.argmax(c)
                assert int(order.get()) == 4999 and order.device == device
            rounds[k] += 1
    except BaseException as error:
        failed.append((k, repr(error)))

threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failed, failed
assert all(rounds), rounds
"""


@pytest.mark.parametrize("seconds", [1, pytest.param(60, marks=pytest.mark.campaign)])
def test_many_threads_on_all_devices(python, seconds):
    if PyGPU.target != "host" and PyGPU.cudaGetDeviceCount()[0] < 2:
        needs.missing("devices", f"the target {PyGPU.target} has only one device here")
    python(THREADS.replace("SECONDS", str(seconds)), PYGPU_HOST_DEVICES=4)
