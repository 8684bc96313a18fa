"""Two MPI processes exchange GPUArrays: reductions, halos, persistent requests, files, records."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import needs
import numpy as np
import pytest

import PyGPU

HEAT = Path(__file__).resolve().parents[2] / "examples" / "grow" / "heat.py"
DEVICE_MEMORY = pytest.mark.skipif(
    not needs.ON_MACHINE, reason="GPU memory needs an MPI that was built for it"
)


@pytest.fixture(scope="module")
def ranks():
    """Run a program in several processes: ranks(number, *arguments, cwd=folder)."""
    needs.module("mpi4py.MPI")
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    mpiexec = shutil.which("mpiexec", path=beside) or needs.missing("mpi4py.MPI", "no mpiexec here")

    # Open MPI counts the processor's cores, and refuses to start more processes than that.
    more = {
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "PYGPU_HOST_INTERFACE": "1",
    }

    def run(number, *arguments, cwd):
        done = subprocess.run(
            [mpiexec, "-n", str(number), sys.executable, *map(str, arguments)],
            env={**os.environ, **needs.MPI_AS_ROOT, **more, "PYGPU_TARGET": PyGPU.target},
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def heat_by_numpy(steps):
    plate = np.zeros((66, 48), np.float32)
    plate[1:-1, 16] = 1 + np.sin(np.arange(64))
    for _ in range(steps):
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = plate[1:-1, 1:-1] * np.float32(0.5) + around * np.float32(0.125)
    return plate[1:-1]


@pytest.mark.parametrize(
    "number, options",
    [
        pytest.param(2, [], marks=DEVICE_MEMORY),
        pytest.param(3, [], marks=DEVICE_MEMORY),
        (2, ["--staged"]),
    ],
    ids=["2", "3", "2 staged"],
)
def test_heat(ranks, tmp_path, number, options):
    text = ranks(number, HEAT, "--steps", 20, *options, cwd=tmp_path)
    expected = heat_by_numpy(20)
    written = np.fromfile(tmp_path / "plate.bin", np.float32).reshape(64, 48)
    np.testing.assert_allclose(written, expected, rtol=1e-5, atol=1e-7)
    total = float(text.split()[1])
    np.testing.assert_allclose(total, expected.sum(dtype=np.float64), rtol=1e-5)


EXCHANGES = """
import warnings
import numpy as np
from mpi4py import MPI
import PyGPU
from PyGPU import errors, gpuarray

world = MPI.COMM_WORLD
assert world.size == 2
other = 1 - world.rank

# Reductions, also in place, of each kind of dtype.
for dtype in "bhilqBHILQfdFD":
    a = gpuarray.to_gpu((np.arange(6) + world.rank).astype(dtype))
    total = gpuarray.zeros(6, dtype)
    world.Allreduce(a, total)
    assert total.get().tolist() == (2 * np.arange(6) + 1).astype(dtype).tolist()
    world.Allreduce(MPI.IN_PLACE, a, MPI.SUM)
    assert a.get().tolist() == total.get().tolist()

# Everyone's part, and a window that the other process writes.
parts = gpuarray.zeros((2, 3), np.float64)
world.Allgather(gpuarray.to_gpu(np.full(3, world.rank + 1.0)), parts)
assert parts.get().tolist() == [[1.0] * 3, [2.0] * 3]
exposed = gpuarray.zeros(4, np.int32)
window = MPI.Win.Create(exposed, 4, comm=world)
origin = gpuarray.to_gpu(np.full(4, 5 + world.rank, np.int32))  # until the second fence
window.Fence()
window.Put(origin, other)
window.Fence()
window.Free()
assert exposed.get().tolist() == [5 + other] * 4

# Persistent requests: the same two arrays in each round.
sent, received = gpuarray.zeros(5, np.float32), gpuarray.zeros(5, np.float32)
requests = [world.Send_init(sent, other), world.Recv_init(received, other)]
for step in range(3):
    sent.fill(10 * step + world.rank)
    MPI.Prequest.Startall(requests)
    MPI.Prequest.Waitall(requests)
    assert (received.get() == 10 * step + other).all()
for request in requests:
    request.Free()

# Records, which DLPack has no type for: mpi4py goes on to the CUDA array interface, which arrays of
# the host have with PYGPU_HOST_INTERFACE=1.
record = np.dtype([("position", "f8", 3), ("charge", "i4")], align=True)
x = np.zeros(4, record)
x["charge"], x["position"] = world.rank + 1, np.arange(3)
y = gpuarray.zeros(4, record)
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "__cuda_array_interface__: ignoring 'descr'")
    world.Sendrecv(gpuarray.to_gpu(x), other, 0, y, other, 0)
assert y.get()["charge"].tolist() == [other + 1] * 4
assert (y.get()["position"] == np.arange(3)).all()

# A column of a matrix: refused, and exchanged by copies on the host.
matrix = gpuarray.to_gpu(np.full((3, 4), world.rank + 1.0))
try:
    world.Sendrecv(matrix[:, 1], other, 0, matrix[:, 0], other, 0)
except BufferError as error:
    assert "contiguous" in str(error)
else:
    raise AssertionError("a strided array was sent")
with PyGPU.staged(matrix[:, 1], matrix[:, 0]) as (sent, received):
    world.Sendrecv(sent, other, 0, received, other, 0)
assert matrix.get().tolist() == [[other + 1.0] + [world.rank + 1.0] * 3] * 3
print("right")
"""


@DEVICE_MEMORY
def test_exchanges(ranks, tmp_path):
    (tmp_path / "exchanges.py").write_text(EXCHANGES)
    # The lines of two processes may run into each other.
    assert ranks(2, "exchanges.py", cwd=tmp_path).count("right") == 2
