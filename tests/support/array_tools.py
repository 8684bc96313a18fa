"""Helpers for tests of CUDA arrays: creation, read-back, and a skip on devices without arrays."""

import numpy as np
import pytest

import PyGPU.driver as drv


def make(width, height=0, depth=0, format=drv.array_format.FLOAT, num_channels=1, flags=0):
    descriptor = drv.ArrayDescriptor3D()
    descriptor.width, descriptor.height, descriptor.depth = width, height, depth
    descriptor.format, descriptor.num_channels, descriptor.flags = format, num_channels, flags
    return drv.Array(descriptor)


def contents(array, shape, dtype):
    """Return the contents of an Array as an ndarray of shape (slices, rows, elements of a row)."""
    result = np.zeros(shape, dtype)
    copy_all(array, result, fill=False)
    return result


def copy_all(array, matrix, fill=True):
    """Copy a C-contiguous ndarray to a whole Array, or back."""
    descriptor = array.get_descriptor_3d()
    rows, slices = max(descriptor.height, 1), max(descriptor.depth, 1)
    copy = drv.Memcpy3D()
    copy.width_in_bytes = matrix.nbytes // (rows * slices)
    copy.height, copy.depth = rows, slices
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes
    copy.src_height = copy.dst_height = rows
    if fill:
        copy.set_src_host(matrix)
        copy.set_dst_array(array)
    else:
        copy.set_src_array(array)
        copy.set_dst_host(matrix)
    copy()
    return array


def has_arrays():
    """Report whether the device has arrays and textures; some of AMD's devices do not."""
    try:
        make(1)
    except drv.LogicError as error:
        if error.status.name in ("cudaErrorNotSupported", "hipErrorNotSupported"):
            return False
        raise
    return True


@pytest.fixture(scope="module", autouse=True)
def need_arrays():
    if not has_arrays():
        pytest.skip("the device has no arrays, textures and surfaces")
