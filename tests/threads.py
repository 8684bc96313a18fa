"""Many threads on all devices at once: PYGPU_HOST_DEVICES=4 python tests/threads.py --minutes 1

Each thread works on one device after the other: arrays made and dropped, operators, kernels, copies
on streams of its own, arrays handed to other threads by DLPack, finalizers, garbage in cycles. All
results are compared. The exit status is 1 for a wrong one, an exception, or memory that is left.
"""

import argparse
import gc
import queue
import random
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "support"))
import host_memory

import PyGPU
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

KERNEL = "__global__ void add(int *x, int n, int y) { int i = threadIdx.x; if (i < n) x[i] += y; }"


class Work:
    """What one thread does, and what all have in common."""

    offers = tuple(queue.SimpleQueue() for _ in range(64))  # arrays for others, by device
    finalized = queue.SimpleQueue()

    def __init__(self, number, devices, seed):
        self.rng = random.Random(f"{seed} {number}")
        self.devices, self.kept, self.turns = devices, [], 0
        self.kernels = {}

    def turn(self):
        self.turns += 1
        device = self.rng.randrange(self.devices)
        PyGPU.errors.check(PyGPU.cudaSetDevice(device), "cudaSetDevice")
        kinds = (self.operate, self.launch, self.stream, self.offer, self.accept, self.cycle)
        self.rng.choice(kinds)(device)
        if len(self.kept) > 20:
            del self.kept[self.rng.randrange(10) :: 2]
        if self.turns % 50 == 0:
            gc.collect()

    def made(self):
        host = np.arange(self.rng.choice([1, 100, 5000]), dtype=np.int32) + self.rng.randrange(99)
        return host, gpuarray.to_gpu(host)

    def operate(self, _):
        host, array = self.made()
        view = array[::2]
        view += array[: view.size]
        expected = host.copy()
        expected[::2] += host[: view.size]
        same(array, expected)
        same(array[::-1] * 2 - array, expected[::-1] * 2 - expected)
        same(array.sum(), expected.sum(dtype=np.int32))
        self.kept.append(view)

    def launch(self, device):
        if device not in self.kernels:
            self.kernels[device] = SourceModule(KERNEL).get_function("add")
        host, array = self.made()
        count = min(host.size, 64)
        self.kernels[device](array, np.int32(count), np.int32(7), block=(64, 1, 1))
        host[:count] += 7
        same(array, host)

    def stream(self, _):
        host, array = self.made()
        stream = PyGPU.cudaStream_t(self.rng.choice([0, PyGPU.cudaStreamNonBlocking]))
        array.set_async(host[::-1].copy(), stream=stream)
        event = PyGPU.cudaEvent_t()
        PyGPU.errors.check(PyGPU.cudaEventRecord(event, stream), "cudaEventRecord")
        PyGPU.errors.check(PyGPU.cudaEventSynchronize(event), "cudaEventSynchronize")
        same(array, host[::-1])
        self.kept.append((stream, event, array))

    def offer(self, device):
        host, array = self.made()
        self.offers[device].put((host, array if self.rng.random() < 0.5 else Capsule(array)))

    def accept(self, device):
        try:
            host, offered = self.offers[device].get_nowait()
        except queue.Empty:
            return
        array = gpuarray.from_dlpack(offered)
        same(array, host)
        same(array + array, host + host)
        self.kept.append(array)

    def cycle(self, _):
        array = self.made()[1]
        knot = [array]
        knot.append(knot)
        weakref.finalize(array, self.finalized.put, self.turns)


class Capsule:
    """Has the capsule of an array, which lives in it alone."""

    def __init__(self, array):
        self.capsule, self.device = array.__dlpack__(), array.__dlpack_device__()

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


def same(array, expected):
    got = array.get()
    if not np.array_equal(got, expected):
        raise AssertionError(f"got {got}, expected {expected}")


def run(threads, devices, turns, seconds, seed):
    """(turns done, failures) of all threads: so many turns of each, or for so long."""
    failures, done = [], []
    start, stop = threading.Barrier(threads), time.monotonic() + seconds

    def loop(number):
        work = Work(number, devices, seed)
        try:
            start.wait()
            while not failures and (work.turns < turns or time.monotonic() < stop):
                work.turn()
        except Exception as failure:
            failures.append(f"thread {number}, turn {work.turns}: {failure!r}")
        done.append(work.turns)

    workers = [threading.Thread(target=loop, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done), failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--turns", type=int, default=20, help="of each thread, at least")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    asked = parser.parse_args()
    devices = PyGPU.errors.check(PyGPU.cudaGetDeviceCount(), "cudaGetDeviceCount")
    counted = PyGPU.target == "host"
    before = [host_memory.used(device) for device in range(devices)] if counted else []
    done, failures = run(asked.threads, devices, asked.turns, 60 * asked.minutes, asked.seed)
    for offers in Work.offers:
        while not offers.empty():
            offers.get()
    gc.collect()
    after = [host_memory.used(device) for device in range(devices)] if counted else []
    if any(now - then > host_memory.KEPT for now, then in zip(after, before)):
        failures.append(f"device memory: {before} bytes before, {after} after")
    print(f"seed {asked.seed}: {asked.threads} threads, {devices} devices, {done} turns,")
    print(f"{Work.finalized.qsize()} finalizers; {len(failures)} failures", *failures, sep="\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
