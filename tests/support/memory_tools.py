"""Memory of tests: an allocation, its kind, patterns to fill it with."""

import numpy as np
import pytest

import PyGPU
from PyGPU.errors import check


@pytest.fixture
def memory():
    """The address of 16 MB on the device."""
    address = check(PyGPU.cudaMalloc(16 << 20))
    yield address
    check(PyGPU.cudaFree(address))


def kind_of(address):
    """Return the cudaMemoryType of an address."""
    return check(PyGPU.cudaPointerGetAttributes(int(address)))["type"]


def pattern(nbytes, start=0):
    """Return bytes that differ from their neighbours, and from another start's."""
    return (np.arange(nbytes, dtype=np.uint32) * 7 + start).astype(np.uint8)


def device_side(array):
    """Return the bytes of a DeviceArray's device memory, in memory order."""
    found = np.zeros(array.nbytes(), np.uint8)
    check(PyGPU.cudaMemcpy(found, array.device_data(), found.nbytes))
    return found.tobytes()
