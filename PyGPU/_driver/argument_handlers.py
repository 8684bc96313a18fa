"""Host arrays as kernel arguments: In, Out and InOut copy them to the device and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PyGPU._driver import memory
from PyGPU._driver.copies import (
    host_bytes,
    memcpy_dtoh,
    memcpy_dtoh_async,
    memcpy_htod,
    memcpy_htod_async,
)
from PyGPU._runtime import core, docstrings, errors, hooks

if TYPE_CHECKING:
    from PyGPU._types import BufferLike, StreamLike

__all__ = [
    "ArgumentHandler",
    "In",
    "InOut",
    "Out",
]


class ArgumentHandler:
    """Base class of host arrays as kernel arguments; device memory replaces the array in the call.

    Programs may subclass it and override `pre_call` and `post_call`.

    :param numpy.ndarray or other buffer array: Contiguous host memory.

    >>> handler = drv.ArgumentHandler(np.zeros(4, np.int32))
    >>> handler.get_device_alloc() is handler.get_device_alloc()
    True
    """

    def __init__(self, array: BufferLike) -> None:
        self.array = array
        self.dev_alloc: Any = None

    def get_device_alloc(self) -> Any:
        """Return the device memory that replaces the array, allocated at the first call.

        :returns DeviceAllocation or int: Memory of the array's size; 0 for an array without
            elements.
        """
        if self.dev_alloc is None:
            size = getattr(self.array, "nbytes", None)
            if size is None or type(self) in (In, Out, InOut):  # others may copy any object
                size = host_bytes(self.array, type(self).__name__, isinstance(self, Out))[1]
            self.dev_alloc = memory.mem_alloc(size) if size else 0
        return self.dev_alloc

    def pre_call(self, stream: StreamLike) -> None:
        """Prepare the device memory before a launch; the base class does nothing.

        :param stream: Stream of the launch.
        """

    def post_call(self, stream: StreamLike) -> None:
        """Use the device memory after a launch; the base class does nothing.

        :param stream: Stream of the launch.
        """


def _upload(handler: ArgumentHandler, stream: StreamLike) -> None:
    if stream is None:
        memcpy_htod(handler.get_device_alloc(), handler.array)
    else:
        memcpy_htod_async(handler.get_device_alloc(), handler.array, stream)


def _download(handler: ArgumentHandler, stream: StreamLike) -> None:
    if stream is None:
        memcpy_dtoh(handler.array, handler.get_device_alloc())
    else:
        memcpy_dtoh_async(handler.array, handler.get_device_alloc(), stream)
        errors.check(core.cudaStreamSynchronize(stream), "cudaStreamSynchronize")


class In(ArgumentHandler):
    """A host array that a kernel reads.

    Parameters
    ----------
    array : numpy.ndarray or other buffer
        Contiguous host memory, copied to the device before the launch.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import SourceModule
    >>> text = "__global__ void twice(int *y, const int *x) { *y = 2 * *x; }"
    >>> kernel = SourceModule(text).get_function("twice")
    >>> x, y = np.array([4], np.int32), np.empty(1, np.int32)
    >>> kernel(drv.Out(y), drv.In(x), block=(1, 1, 1))
    >>> y
    array([8], dtype=int32)
    """

    def pre_call(self, stream: StreamLike) -> None:
        """Copy the array to the device.

        :param stream: Stream of the launch.
        """
        _upload(self, stream)


class Out(ArgumentHandler):
    """A host array that a kernel writes, every element of it.

    Parameters
    ----------
    array : numpy.ndarray or other buffer
        Contiguous writable host memory, filled from the device after the launch.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import SourceModule
    >>> text = "__global__ void number(int *y) { y[threadIdx.x] = threadIdx.x; }"
    >>> kernel, y = SourceModule(text).get_function("number"), np.empty(3, np.int32)
    >>> kernel(drv.Out(y), block=(3, 1, 1))
    >>> y
    array([0, 1, 2], dtype=int32)
    """

    def pre_call(self, stream: StreamLike) -> None:
        """Check that the array is writable, so that the error precedes the launch.

        :param stream: Stream of the launch.
        """
        host_bytes(self.array, "Out", True)

    def post_call(self, stream: StreamLike) -> None:
        """Copy the device memory to the array.

        :param stream: Stream of the launch, for which the method waits.
        """
        _download(self, stream)


class InOut(In, Out):
    """A host array that a kernel reads and writes.

    Parameters
    ----------
    array : numpy.ndarray or other buffer
        Contiguous writable host memory, copied to the device before the launch and back after it.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import SourceModule
    >>> text = "__global__ void twice(int *x) { x[threadIdx.x] *= 2; }"
    >>> kernel, x = SourceModule(text).get_function("twice"), np.array([4, 5], np.int32)
    >>> kernel(drv.InOut(x), block=(2, 1, 1))
    >>> x
    array([ 8, 10], dtype=int32)
    """

    def pre_call(self, stream: StreamLike) -> None:
        """Copy the array to the device.

        :param stream: Stream of the launch.
        """
        host_bytes(self.array, "InOut", True)
        _upload(self, stream)


hooks.register(argument_handler=ArgumentHandler)


docstrings.complete(__name__)
