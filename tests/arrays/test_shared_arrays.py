"""share: arrays that several processes use, in order, and what happens when one of them ends."""

import contextlib
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
import slow_work
from campaign import rare_but
from strategies import assert_same

import PyGPU
from PyGPU import driver
from PyGPU._arrays import sharing
from PyGPU.gpuarray import GPUArray, share, shareable, to_gpu, zeros

pytestmark = pytest.mark.alone
SPAWN = multiprocessing.get_context("spawn")
TIMEOUT = 120


def worker(pipe):
    """Run statements that the test sends, with the objects that it sends, and send the results."""
    names = {"np": np, "pickle": pickle, "slow_work": slow_work, "driver": driver}
    while True:
        task = pipe.recv()
        if task is None:
            return
        text, given = task
        names.update(given)
        try:
            try:
                result = eval(compile(text, "<test>", "eval"), names)
            except SyntaxError:
                exec(compile(text, "<test>", "exec"), names)
                result = None
            pipe.send((result, None))
        except Exception as error:
            pipe.send((None, f"{type(error).__name__}: {error}"))


class Other:
    """Another process."""

    def __init__(self):
        self._pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=worker, args=(theirs,), daemon=True)
        self.process.start()

    def begin(self, text, **given):
        self._pipe.send((text, given))

    def end(self):
        assert self._pipe.poll(TIMEOUT), "the other process does not answer"
        result, error = self._pipe.recv()
        if error:
            raise RuntimeError(error)
        return result

    def __call__(self, text, **given):
        self.begin(text, **given)
        return self.end()

    def stop(self, how=None):
        if how:
            os.kill(self.process.pid, how)
        else:
            with contextlib.suppress(OSError):
                self._pipe.send(None)
        self.process.join(TIMEOUT)
        assert not self.process.is_alive()


@pytest.fixture
def other():
    made = Other()
    yield made
    made.stop()


@pytest.fixture
def python_process():
    """Start a program in a process of its own, which ends with the test."""
    started = []

    def start(source):
        path = os.pathsep.join(sys.path)
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", source],
                env={**os.environ, "PYGPU_TARGET": PyGPU.target, "PYTHONPATH": path},
                stdout=subprocess.PIPE,
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def kept():
    """Return the number of arrays that this process keeps for others alone."""
    gc.collect()
    share(zeros(1)).close()  # which frees what nobody uses
    return len(sharing._still_used)


LAYOUTS = {
    "C": lambda: np.arange(24.0).reshape(2, 3, 4),
    "F": lambda: np.asfortranarray(np.arange(24, dtype="i4").reshape(4, 6)),
    "0-d": lambda: np.array(7.5, "f4"),
    "structures": lambda: np.array([(1, 2.5), (3, 4.5)], [("id", "i2"), ("x", "f8")]),
    "large": lambda: np.arange(3 << 20, dtype="u1"),
}


def test_both_see_the_same_memory(other):
    for layout in LAYOUTS.values():
        x = layout()
        shared = share(to_gpu(x))
        assert_same(shared.array.get(), x)
        other("b = shared.array", shared=shared)
        assert other("b.strides") == x.strides and other("shared.is_owner") is False
        assert_same(other("b.get()"), x)
        other("b.set(b.get()[::-1].copy() if b.ndim else np.array(8.5, 'f4')); shared.record()")
        shared.wait()
        assert_same(shared.array.get(), x[::-1].copy() if x.ndim else x + np.float32(1))


def test_pickles_that_nobody_loads_are_discarded(other):
    keep = kept()
    shared = share(to_gpu(np.arange(3.0)))
    path = shared._use.path
    late, own = pickle.dumps(shared), pickle.dumps(shared)
    shared.close()
    assert kept() == keep + 1 and path.exists()
    shared.close(discard_pickles=True)
    assert kept() == keep and not path.exists()
    with pytest.raises(RuntimeError, match=r"LogicError: share: .* has released it"):
        other("pickle.loads(late).array", late=late)
    with pytest.raises(driver.LogicError, match=r"share: .*\(3,\) was released"):
        pickle.loads(own)


def test_a_process_keeps_the_array_whose_other_pickles_are_discarded(other):
    keep = kept()
    with share(to_gpu(np.arange(3.0))) as shared:
        other("b = shared.array", shared=shared)
        pickle.dumps(shared)
        shared.close(discard_pickles=True)
    assert kept() == keep + 1
    assert other("b.get().tolist()") == [0, 1, 2]
    other("del b, shared")
    assert kept() == keep


def test_arrays_that_no_process_uses_are_freed_before_memory_runs_out(python):
    python(
        """
import pickle
from PyGPU.gpuarray import empty, share, shareable, zeros
shared = share(zeros(40 << 20, "u1", shareable))
path = shared._use.path
pickle.dumps(shared)
shared.close()
try:
    empty(40 << 20, "u1")
except MemoryError:
    path.write_bytes(b".")  # another process has loaded the pickle, and ended
    empty(40 << 20, "u1")
    assert not path.exists()
else:
    raise SystemExit("there was memory")
""",
        PYGPU_TARGET="host",
        PYGPU_HOST_MEMORY="64M",
        PYGPU_BLOCK_CACHE="0",
    )


def test_memory_that_needs_no_copy():
    a = zeros((3, 5), allocator=shareable)
    assert share(a).array is a and share(a[1:, ::2]).array.ptr == a[1:].ptr
    pooled = zeros(5)
    assert share(pooled).array is not pooled
    assert share(to_gpu(np.arange(10))[::-3]).array.get().tolist() == [9, 6, 3, 0]


def test_parts_of_shareable_memory(other):
    x = np.arange(60.0).reshape(6, 10)
    a = to_gpu(x, allocator=shareable)
    other("b = shared.array", shared=share(a[1::2, ::-3]))
    assert_same(other("b.get()"), x[1::2, ::-3].copy())
    other("b.fill(7); driver.Context.synchronize()")
    x[1::2, ::-3] = 7
    assert_same(a.get(), x)


def test_order_of_slow_work_in_both_directions(other):
    a = to_gpu(np.zeros(slow_work.SIZE, "i4"), allocator=shareable)
    stream = driver.Stream()
    slow_work.slow_fill(a, 1, stream)
    shared = share(a, stream)  # the other process's null stream waits for the slow kernel
    other("b = shared.array; got = b.get()", shared=shared)
    assert other("(got == 1).all()")
    for value in (2, 4):
        slow_work.slow_fill(a, value, stream)
        shared.record(stream)
        assert other("(shared.wait().array.get() == value).all()", value=value)
        other("s = driver.Stream(); slow_work.slow_fill(b, value + 1, s); shared.record(s)")
        assert (shared.wait().array.get() == value + 1).all()


def test_memory_lives_as_long_as_a_process_uses_it(other):
    x = np.ones(4 << 20, "u1")
    shared = share(to_gpu(x))
    other("b = shared.array; del shared", shared=shared)
    del shared
    assert kept() == 1
    assert other("b.get().sum()") == x.size
    other("del b; import gc; gc.collect()")
    assert kept() == 0


def test_memory_waits_for_pickles_on_their_way(other):
    x = np.arange(5)
    text = pickle.dumps(share(to_gpu(x)))
    assert kept() == 1
    assert_same(other("pickle.loads(packed).array.get()", packed=text), x)
    other("import gc; gc.collect()")
    assert kept() == 0
    mine = pickle.loads(pickle.dumps(share(to_gpu(x))))  # by the owner itself
    assert mine.is_owner
    assert_same(mine.array.get(), x)


def test_a_process_that_is_killed_uses_nothing():
    killed = Other()
    shared = share(to_gpu(np.ones(5)))
    killed("b = shared.array", shared=shared)
    killed.stop(signal.SIGKILL)
    assert shared.array.get().all()
    del shared
    assert kept() == 0


OWNER = """
import numpy as np, pickle, sys, time
from PyGPU.gpuarray import share, to_gpu
shared = share(to_gpu(np.arange(5.0)))
sys.stdout.write(pickle.dumps(shared).hex() + "\\n")
sys.stdout.flush()
time.sleep(600)
"""


@pytest.mark.parametrize("how", rare_but([signal.SIGKILL], [signal.SIGKILL, signal.SIGTERM]))
def test_an_owner_that_has_ended(other, python_process, how):
    owner = python_process(OWNER)
    text = bytes.fromhex(owner.stdout.readline().decode())
    first, second = pickle.loads(text), pickle.loads(text)
    assert_same(first.check().array.get(), np.arange(5.0))
    os.kill(owner.pid, how)
    owner.wait(TIMEOUT)
    for call in (first.check, lambda: first.array, lambda: second.array, first.record):
        with pytest.raises(
            driver.LogicError, match=rf"process {owner.pid}.*shape \(5,\), has ended"
        ):
            call()
    with pytest.raises(driver.LogicError, match="has ended"):
        pickle.loads(text).array  # noqa: B018


def test_an_owner_that_has_released_the_array(other):
    shared = share(to_gpu(np.arange(5)))
    text = pickle.dumps(shared)
    other("late = pickle.loads(packed)", packed=text)
    other("del late; import gc; gc.collect()")
    shared.close()
    gc.collect()
    with pytest.raises(RuntimeError, match=r"LogicError: share: process \d+.*has released it"):
        other("pickle.loads(packed).array", packed=text)
    with pytest.raises(driver.LogicError, match="closed"):
        shared.array  # noqa: B018
    assert repr(shared) == "<SharedArray, closed>"


def test_what_is_refused(other):
    for wrong in (np.zeros(3), None, 5):
        with pytest.raises(TypeError, match="a: expected a GPUArray"):
            share(wrong)
    with pytest.raises(ValueError, match=r"share: a of shape \(0, 3\): expected .* elements"):
        share(zeros((0, 3)))
    shared = share(zeros(3))
    other("keep = shared", shared=shared)
    with pytest.raises(RuntimeError, match="TypeError: share: only the process that owns"):
        other("pickle.dumps(keep)")
    text = pickle.dumps(shared).replace(driver.Device(0).pci_bus_id().encode(), b"ffff:ff:1f.7")
    with pytest.raises(RuntimeError, match=r"on the device ffff:ff:1f\.7, which is not among"):
        other("pickle.loads(packed).array", packed=text)


def test_pools_of_processes():
    x = np.arange(1000.0)
    shared = share(to_gpu(x))
    with SPAWN.Pool(2) as pool:
        sums = pool.map(total, [(shared, k) for k in range(4)])
    assert sums == [x[k::4].sum() for k in range(4)]


def total(task):
    shared, k = task
    return float(shared.array[k::4].get().sum())


# In a process of its own, where no other test has started threads that a fork would stop.
FORKED = """
import multiprocessing
from PyGPU import errors
from PyGPU.gpuarray import share, shareable, zeros

def child(queue):
    try:
        shared.array.get()
        queue.put("nothing raised")
    except errors.Error as error:
        queue.put(str(error))

shared = share(zeros(3))
context = multiprocessing.get_context("fork")
queue = context.SimpleQueue()
process = context.Process(target=child, args=(queue,), daemon=True)
process.start()
process.join(60)
assert process.exitcode == 0, f"the child hangs (None) or ended with {process.exitcode}"
assert shared.array.get().tolist() == [0, 0, 0]
print(queue.get())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_is_refused(python):
    assert "fork" in python(FORKED).stdout


def test_borrowed_memory_is_copied():
    a = to_gpu(np.arange(4.0))
    borrowed = GPUArray(4, "f8", gpudata=a.ptr, base=a)
    shared = share(borrowed)
    a.fill(0)
    assert shared.array.get().tolist() == [0, 1, 2, 3]
