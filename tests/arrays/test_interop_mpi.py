"""mpi4py takes arrays as they are, by DLPack: on the target hip as memory of a ROCm device."""

import needs
import pytest

import PyGPU

PROGRAM = """
import numpy as np
from mpi4py import MPI

from PyGPU import gpuarray

world = MPI.COMM_SELF
{body}
"""

BODIES = {
    "sent": """
for dtype in "bhilqefdFD?":
    x = np.arange(12).astype(dtype)
    there = gpuarray.empty(12, dtype)
    world.Sendrecv(gpuarray.to_gpu(x), 0, 0, there, 0, 0)
    assert (there.get() == x).all() and there.dtype == x.dtype
""",
    "reduced": """
total = gpuarray.zeros((3, 4), np.float32)
world.Allreduce(gpuarray.to_gpu(np.arange(12, dtype="f").reshape(3, 4)) * 2, total)
assert total.get().tolist() == (2 * np.arange(12).reshape(3, 4)).tolist()
""",
    "rows of an array": """
matrix = gpuarray.zeros((4, 5), np.int32)
world.Sendrecv(gpuarray.to_gpu(np.full(5, 7, np.int32)), 0, 0, matrix[2], 0, 0)
assert matrix.get().sum(1).tolist() == [0, 0, 35, 0]
""",
    "what is not contiguous": """
try:
    world.Send(gpuarray.zeros(8, np.float32)[::2], 0)
except BufferError as error:
    assert "contiguous" in str(error)
else:
    raise AssertionError("sent")
""",
}


@pytest.mark.skipif(not needs.ON_MACHINE, reason="GPU memory needs an MPI that was built for it")
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_arrays_are_buffers_of_mpi(python, body):
    needs.module("mpi4py.MPI")
    assert PyGPU.gpuarray.zeros(1, "f").__dlpack_device__()[0] == (10 if PyGPU.use_hip else 1)
    python(PROGRAM.format(body=body))
