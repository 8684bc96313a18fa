"""Heat in a plate on several processes: each holds some rows, and exchanges the outermost ones.

    mpiexec -n 2 python heat.py [--staged] [--steps 100] [--output plate.bin]

The arrays themselves are the buffers of MPI. An MPI that is not GPU-aware needs --staged, which
exchanges copies on the host.
"""

import argparse

import numpy as np
from mpi4py import MPI

import PyGPU
import PyGPU.driver as drv
from PyGPU.errors import check

ROWS, COLUMNS = 64, 48  # of the whole plate
world = MPI.COMM_WORLD


def use_own_device():
    """Use one device for each process of this machine."""
    local = world.Split_type(MPI.COMM_TYPE_SHARED)
    check(PyGPU.cudaSetDevice(local.rank % check(PyGPU.cudaGetDeviceCount())))


def neighbours():
    above = world.rank - 1 if world.rank > 0 else MPI.PROC_NULL
    below = world.rank + 1 if world.rank < world.size - 1 else MPI.PROC_NULL
    return above, below


def persistent_requests(plate):
    """Return requests that fill the halo rows with the neighbours' outermost rows."""
    above, below = neighbours()
    sent = [world.Send_init(plate[1], above, 1), world.Send_init(plate[-2], below, 2)]
    return [*sent, world.Recv_init(plate[0], above, 2), world.Recv_init(plate[-1], below, 1)]


def exchange(requests):
    drv.Context.synchronize()  # MPI does not wait for the device
    MPI.Prequest.Startall(requests)
    MPI.Request.Waitall(requests)  # until here nothing may touch the four rows


def exchange_staged(plate):
    above, below = neighbours()
    with PyGPU.staged(plate[0], plate[1], plate[-2], plate[-1]) as (first, second, last, end):
        world.Sendrecv(second, above, 1, end, below, 1)
        world.Sendrecv(last, below, 2, first, above, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--staged", action="store_true")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--output", default="plate.bin")
    options = parser.parse_args()
    use_own_device()
    mine = np.array_split(np.arange(ROWS), world.size)[world.rank]
    start = np.zeros((len(mine) + 2, COLUMNS), np.float32)  # with a halo row at each end
    start[1:-1, COLUMNS // 3] = 1 + np.sin(mine)
    plate = PyGPU.to_gpu(start)
    requests = [] if options.staged else persistent_requests(plate)
    for _ in range(options.steps):
        exchange_staged(plate) if options.staged else exchange(requests)
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = plate[1:-1, 1:-1] * 0.5 + around * 0.125
    heat = PyGPU.gpuarray.sum(plate[1:-1], dtype=np.float64)
    drv.Context.synchronize()
    inner = plate[1:-1]
    if options.staged:
        heat, inner = heat.get(), inner.get()
    world.Allreduce(MPI.IN_PLACE, heat)
    for request in requests:
        request.Free()
    file = MPI.File.Open(world, options.output, MPI.MODE_CREATE | MPI.MODE_WRONLY)
    file.Write_at_all(int(mine[0]) * COLUMNS * 4, inner)
    file.Close()
    if world.rank == 0:
        print(f"heat {float(heat):.6f} after {options.steps} steps on {world.size} processes")


if __name__ == "__main__":
    main()
