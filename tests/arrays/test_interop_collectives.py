"""Collective operations of NCCL and torch.distributed on arrays of two devices, in place.

A slow kernel runs before each exchange on the same stream, and the result is read after it: work
that is out of order gives other numbers. The programs run in processes of their own.
"""

import needs
import numpy as np
import pytest

from PyGPU.gpuarray import require_contiguous, zeros

pytestmark = pytest.mark.alone

NCCL = """
import threading
import numpy as np
import PyGPU, slow_work
import PyGPU.driver as drv
from nccl.core import SUM, Communicator
from PyGPU import gpuarray

comms = Communicator.init_all([0, 1])
size, failed = slow_work.SIZE, []

def run(k):
    try:
        with PyGPU.device(k):
            stream = drv.Stream(1)  # one that the null stream does not wait for
            a, total = gpuarray.zeros(size, "i4"), gpuarray.zeros(size, "i4")
            parts = gpuarray.zeros((2, size), "i4")
            drv.Context.synchronize()
            slow_work.slow_fill(a, k + 1, stream)
            comms[k].allreduce(a, total, SUM, stream=stream)
            comms[k].allgather(a, parts, stream=stream)
            slow_work.slow_fill(a, -1, stream)  # after what the exchange has read
            stream.synchronize()
            assert (total.get() == 3).all() and (parts.get() == [[1], [2]]).all()
            slow_work.slow_fill(a, 10 + k, stream)
            if k == 0:
                comms[0].send(a, 1, stream=stream)
            else:
                comms[1].recv(total, 0, stream=stream)
                stream.synchronize()
                assert (total.get() == 10).all()
            stream.synchronize()
    except BaseException as error:
        failed.append((k, repr(error)))

slow_work.kernel("slow_fill")
threads = [threading.Thread(target=run, args=(k,)) for k in (0, 1)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failed, failed
"""

TORCH = """
import sys
import torch
import torch.distributed as dist
import PyGPU, slow_work
import PyGPU.driver as drv
from PyGPU import gpuarray

def run(k, store):
    torch.cuda.set_device(k)
    dist.init_process_group("nccl", init_method=store, rank=k, world_size=2)
    with PyGPU.device(k):
        stream = drv.Stream(1)
        a = gpuarray.zeros(slow_work.SIZE, "i4")
        others = gpuarray.zeros((2, slow_work.SIZE), "i4")
        drv.Context.synchronize()
        slow_work.slow_fill(a, k + 1, stream)
        shared, gathered = torch.from_dlpack(a), torch.from_dlpack(others)
        assert shared.data_ptr() == a.ptr
        with torch.cuda.stream(torch.cuda.ExternalStream(int(stream), device=k)):
            dist.all_gather_into_tensor(gathered, shared)
            dist.all_reduce(shared)  # in the array's own memory
        stream.synchronize()
        assert (a.get() == 3).all(), a
        assert (others.get() == [[1], [2]]).all(), others
        strided = torch.from_dlpack(gpuarray.zeros((4, 6), "f4")[:, ::2])
        try:
            dist.all_reduce(strided)
            raise SystemExit("a strided array was accepted")
        except ValueError as error:
            assert "contiguous" in str(error)
    dist.destroy_process_group()

run(int(sys.argv[1]), sys.argv[2])
"""
BOTH = """
import subprocess, sys
both = [subprocess.Popen([sys.executable, PROGRAM, str(k), STORE]) for k in (0, 1)]
assert [one.wait() for one in both] == [0, 0]
"""


def test_nccl_between_two_threads(two_devices):
    needs.module("nccl.core")
    if needs.ON_MACHINE:
        pytest.skip("NCCL needs GPUs")
    two_devices(NCCL)


def test_torch_distributed_between_two_processes(two_devices, tmp_path, python):
    needs.module("torch")
    if needs.ON_MACHINE:
        pytest.skip("torch.distributed reaches arrays of GPUs only")
    two_devices("pass")  # skips where there is one device
    program = tmp_path / "program.py"
    program.write_text(TORCH)
    store = f"file://{tmp_path / 'store'}"
    python(BOTH.replace("PROGRAM", repr(str(program))).replace("STORE", repr(store)))


def test_strided_arrays_are_refused():
    a = zeros((3, 4), np.float32)
    for order in "CA":
        assert require_contiguous(a, order) is a
    assert require_contiguous(a.T, "F").shape == (4, 3)
    for wrong, order in ((a.T, "C"), (a[:, ::2], "A"), (a[1:, 1:], "C"), (a, "F")):
        with pytest.raises(
            ValueError, match=r"strides \(.*\): expected contiguous elements in order"
        ):
            require_contiguous(wrong, order)
    with pytest.raises(ValueError, match="order='K': expected 'C', 'F' or 'A'"):
        require_contiguous(a, "K")
    with pytest.raises(TypeError, match="a: expected a GPUArray"):
        require_contiguous(np.zeros(3))
