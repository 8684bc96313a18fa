"""Copies between devices: direct where they allow it, and no business of kernels."""

import pytest
from campaign import rare_but
from cases import in_turn

import PyGPU

BEGIN = """
import ctypes
import numpy as np
import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.errors import check

ALREADY, NOT_ENABLED = 704, 705
x = np.arange(24, dtype=np.float32).reshape(4, 6)

def on(device, values=x):
    with PyGPU.device(device):
        return gpuarray.to_gpu(values)

def access_of_the_runtime():
    "The status of the runtime's own call, which PyGPU does not see; undone at once."
    runtime = ctypes.CDLL(PyGPU.get_library_dir() + "/libPyGPU_host.so")
    status = runtime.PyGPU_host_cudaDeviceEnablePeerAccess(1, 0)
    if status == 0:
        runtime.PyGPU_host_cudaDeviceDisablePeerAccess(1)
    runtime.PyGPU_host_cudaGetLastError()
    return status

near, far = on(0), on(1, 2 * x)
nbytes = x.nbytes
"""
COPIES = {
    "assignment": "near[...] = far",
    "set": "near.set(far)",
    "other layout": "near[...] = far.T.copy().T",
    "dtod": "drv.memcpy_dtod(near.gpudata, far.gpudata, nbytes)",
    "dtod on a stream": "s = drv.Stream(); "
    "drv.memcpy_dtod_async(near.gpudata, far.gpudata, nbytes, s); s.synchronize()",
    "peer": "one = drv.Device(1).retain_primary_context(); "
    "drv.memcpy_peer(near.gpudata, far.gpudata, nbytes, src_context=one)",
    "low level": "check(PyGPU.cudaMemcpy(near.ptr, far.ptr, nbytes))",
    "low level, peer": "check(PyGPU.cudaMemcpyPeer(near.ptr, 0, far.ptr, 1, nbytes))",
    "low level, peer on a stream": "s = PyGPU.cudaStream_t(); "
    "check(PyGPU.cudaMemcpyPeerAsync(near.ptr, 0, far.ptr, 1, nbytes, s)); "
    "check(PyGPU.cudaStreamSynchronize(s))",
}
on_host = pytest.mark.skipif(PyGPU.target != "host", reason="asks the host machine's own library")


END = """
check(PyGPU.cudaDeviceSynchronize())
assert (near.get() == 2 * x).all() and (far.get() == 2 * x).all()
assert check(PyGPU.cudaGetDevice()) == 0 and PyGPU.cudaGetLastError() == 0
"""


def test_copies_between_devices(two_devices):
    two_devices(in_turn(BEGIN, {name: copy + END for name, copy in COPIES.items()}))


@on_host
@pytest.mark.parametrize("name", rare_but(["assignment", "peer", "low level"], COPIES))
def test_the_first_copy_enables_direct_access(two_devices, name):
    two_devices(f"{BEGIN}\nassert access_of_the_runtime() == 0\n{COPIES[name]}\n"
                "assert access_of_the_runtime() == ALREADY")  # fmt: skip


@on_host
def test_a_copy_goes_on_where_access_cannot_be_enabled(python):
    python(
        f"{BEGIN}\nnear[...] = far\nassert (near.get() == 2 * x).all()\n"
        "assert PyGPU.cudaGetLastError() == 0",
        PYGPU_HOST_DEVICES=2,
        PYGPU_HOST_FAIL="1:cudaDeviceEnablePeerAccess",
    )


@on_host
def test_a_setting_leaves_access_as_it_is(python):
    python(
        f"{BEGIN}\nnear[...] = far\nassert (near.get() == 2 * x).all()\n"
        "assert access_of_the_runtime() == 0",
        PYGPU_HOST_DEVICES=2,
        PYGPU_PEER_COPIES=0,
    )


def test_kernels_still_ask_for_access(two_devices):
    two_devices(f"""{BEGIN}
from PyGPU.compiler import SourceModule
from PyGPU.errors import ArgumentError
text = "__global__ void add(float *a, const float *b) {{ a[threadIdx.x] += b[threadIdx.x]; }}"
add = SourceModule(text).get_function("add")

def is_refused():
    for use in (lambda: add(near, far, block=(24, 1, 1)), lambda: near + far):
        try:
            use()
        except (ArgumentError, TypeError):
            continue
        return False
    return True

near[...] = far
assert is_refused()
assert PyGPU.cudaDeviceEnablePeerAccess(1) == 0
assert PyGPU.cudaDeviceEnablePeerAccess(1) == ALREADY
add(near, far, block=(24, 1, 1))
assert (near.get() == 4 * x).all()
assert PyGPU.cudaDeviceDisablePeerAccess(1) == 0
assert PyGPU.cudaDeviceDisablePeerAccess(1) == NOT_ENABLED
near[...] = far
assert (near.get() == 2 * x).all() and is_refused()
""")


def test_access_that_the_program_did_not_enable_is_not_its_to_disable(two_devices):
    two_devices(f"""{BEGIN}
near[...] = far
assert PyGPU.cudaDeviceDisablePeerAccess(1) == NOT_ENABLED
assert PyGPU.cudaDeviceEnablePeerAccess(1) == 0
assert PyGPU.cudaDeviceDisablePeerAccess(1) == 0
""")


def test_after_a_reset_of_either_device(two_devices):
    two_devices(f"""{BEGIN}
near[...] = far
for device in (1, 0):
    with PyGPU.device(device):
        check(PyGPU.cudaDeviceReset())
    near, far = on(0), on(1, 2 * x)
    near[...] = far
    assert (near.get() == 2 * x).all()
""")


def test_many_threads_copy_between_all_devices(python):
    count = 4 if PyGPU.target == "host" else PyGPU.cudaGetDeviceCount()[0]
    python(
        f"""{BEGIN}
import threading
count = {count}
wrong = []

def work(seed):
    random = np.random.default_rng(seed)
    for _ in range(50):
        a, b = random.integers(count, size=2)
        values = random.random((16, 8))
        there, here = on(int(a), values), on(int(b), 0 * values)
        here[...] = there
        if not (here.get() == values).all():
            wrong.append((a, b))

threads = [threading.Thread(target=work, args=[seed]) for seed in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong
""".replace("near, far = on(0), on(1, 2 * x)\n", ""),
        PYGPU_HOST_DEVICES=4,
    )
