"""Errors name the argument at fault, and not what a function of PyGPU did with it."""

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel

KERNEL = "__global__ void f(float *a) { }"


def launch(argument, **keywords):
    SourceModule(KERNEL).get_function("f")(argument, block=(1, 1, 1), **keywords)


MISTAKES = {
    "load": (lambda: PyGPU.load(None), "^source: .*None"),
    "ElementwiseKernel": (lambda: ElementwiseKernel(None, "x"), "^arguments: .*None"),
    "concatenate": (lambda: gpuarray.concatenate(None), "^arrays: .*None"),
    "stack": (lambda: gpuarray.stack(5), "^arrays: .*5"),
    "managed_empty": (
        lambda: drv.managed_empty(3, np.float32, mem_flags=None),
        "^mem_flags: .*None",
    ),
    "pagelocked_empty": (
        lambda: drv.pagelocked_empty(3, np.float32, mem_flags="x"),
        "^mem_flags: .*x",
    ),
    "IPCMemoryHandle": (lambda: drv.IPCMemoryHandle(None), "^ipc_handle: .*None"),
    "shared": (lambda: launch(gpuarray.zeros(1, np.float32), shared=None), "shared=None"),
    "In": (lambda: launch(drv.In(gpuarray.zeros(1, np.float32))), "^In: .*GPUArray"),
    "In list": (lambda: launch(drv.In([1.0])), r"^In: .*numpy\.array\(\)"),
    "Out": (lambda: launch(drv.Out(np.frombuffer(bytes(4), np.float32))), "^Out: .*read-only"),
    "InOut": (lambda: launch(drv.InOut(np.zeros((4, 4), np.float32)[:, 1])), "^InOut: .*contig"),
    "stream": (lambda: gpuarray.zeros(3).fill(1, stream=gpuarray.zeros(3)), "^stream: expected"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_argument_is_named(name):
    call, message = MISTAKES[name]
    with pytest.raises((TypeError, ValueError, drv.LogicError), match=message):
        call()


def test_handlers_of_programs_hold_any_object():
    class Mine(drv.In):
        def pre_call(self, stream):
            self.size = self.get_device_alloc()

    launch(Mine(gpuarray.zeros(1, np.float32)))
