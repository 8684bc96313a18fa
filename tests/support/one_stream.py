"""Many threads on one stream: ``python tests/support/one_stream.py --minutes 1``.

Each thread increments all elements of one array by launches that are not atomic, and looks at the
array now and then. The stream's order makes each launch see all increments before it. So the
elements are equal at every look, never become fewer, and their last value is the number of
launches. The exit status is 1 where that fails. `tests/driver/test_one_stream.py` runs it.
"""

import argparse
import random
import sys
import threading
import time

import numpy as np

from PyGPU import driver, gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel

KERNELS = """
__global__ void launched(long long *x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] += 1;
}
__global__ void prepared(long long *x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] += 1;
}
"""


class Counter:
    """An array whose elements all threads increment on one stream."""

    def __init__(self, size=1000):
        self.array = gpuarray.zeros(size, np.int64)
        driver.Context.synchronize()
        self.stream = driver.Stream(1)  # waits for no other stream
        self._size = np.int32(size)
        module = SourceModule(KERNELS)
        self._launched, self._prepared = map(module.get_function, ("launched", "prepared"))
        self._prepared.prepare("Pi")
        self._by_expression = ElementwiseKernel("long long *x", "x[i] += 1")

    def increment(self, way):
        """Increment by a launch (0), a prepared call (1) or an elementwise kernel (2)."""
        if way == 0:
            self._launched(self.array, self._size, block=(32, 1, 1), stream=self.stream)
        elif way == 1:
            pointer, block = self.array.gpudata, (32, 1, 1)
            self._prepared.prepared_async_call((1, 1), block, self.stream, pointer, self._size)
        else:
            self._by_expression(self.array, stream=self.stream)

    def look(self, buffer):
        """Return the value of all elements; they must be equal."""
        self.array.get_async(stream=self.stream, ary=buffer)
        event = driver.Event()
        event.record(self.stream)
        event.synchronize()
        if buffer.min() != buffer.max():
            raise AssertionError(f"elements from {buffer.min()} to {buffer.max()}")
        return int(buffer[0])


def run(threads, increments, seconds=0, seed=0):
    """Return (increments, looks, failures); each thread does `increments`, and for `seconds`."""
    counter, start, failures = Counter(), threading.Barrier(threads), []
    done, looks, stop = [0] * threads, [0] * threads, time.monotonic() + seconds

    def loop(number):
        rng, seen = random.Random(f"{seed} {number}"), 0
        buffer = driver.pagelocked_empty(counter.array.shape, counter.array.dtype)
        start.wait()
        while not failures and (done[number] < increments or time.monotonic() < stop):
            counter.increment(rng.randrange(3))
            done[number] += 1
            if rng.random() < 0.1:
                value, looks[number] = counter.look(buffer), looks[number] + 1
                if value < max(seen, done[number]):
                    raise AssertionError(f"{value} after {seen}, of them {done[number]} its own")
                seen = value

    def work(number):
        try:
            loop(number)
        except Exception as failure:
            failures.append(f"thread {number}, increment {done[number]}: {failure!r}")

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    counter.stream.synchronize()
    values = set(counter.array.get().tolist())
    if values != {sum(done)}:
        failures.append(f"the elements are {sorted(values)} after {sum(done)} increments")
    return sum(done), sum(looks), failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--increments", type=int, default=100, help="of each thread, at least")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    asked = parser.parse_args()
    done, looks, failures = run(asked.threads, asked.increments, 60 * asked.minutes, asked.seed)
    print(f"seed {asked.seed}: {asked.threads} threads, {done} increments, {looks} looks;")
    print(f"{len(failures)} failures", *failures, sep="\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
