"""Processes and threads: fork, reset, the interpreter's end, many threads at once."""

import os
import sys
from pathlib import Path

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

# Newer Pythons warn of fork() in a process with threads, and a driver has threads.
FORK = """
import os, sys, warnings
import numpy as np
import PyGPU
warnings.simplefilter("ignore", DeprecationWarning)

def in_a_child(work):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        work()
        sys.exit(0)  # the whole way out: the child drops the parent's objects, too
    _, outcome = os.waitpid(pid, 0)
    assert os.WIFEXITED(outcome) and os.WEXITSTATUS(outcome) == 0, outcome
"""


@needs_fork
def test_a_child_of_a_process_that_used_the_device_gets_a_clear_error(python):
    done = python(
        FORK
        + """
from PyGPU import driver
array = PyGPU.to_gpu(np.arange(6.0))
allocation = driver.mem_alloc(64)
twin = PyGPU.DeviceArray_float64(np.arange(6.0))
twin.allocate()
pinned = PyGPU.PagelockedAllocator_float64()
pinned.allocate(6)
stream, event = PyGPU.cudaStream_t(), PyGPU.cudaEvent_t()

def work():
    statuses = [
        PyGPU.cudaMalloc(64)[1],
        PyGPU.cudaGetDevice()[1],
        PyGPU.cudaGetDeviceCount()[1],
        PyGPU.cudaSetDevice(0),
        PyGPU.cudaDeviceSynchronize(),
        PyGPU.cudaDeviceProp(0).last_status(),
        PyGPU.cudaStream_t().last_status(),
        PyGPU.cudaEvent_t().last_status(),
        PyGPU.cudaStreamSynchronize(stream),
        PyGPU.cudaEventRecord(event),
        PyGPU.cudaMemcpy(bytearray(8), bytes(8), 8),
        PyGPU.DeviceArray_float64(6).allocate(),
        PyGPU.DeviceAllocator_float64().allocate(6),
        PyGPU.PagelockedAllocator_float64().allocate(6),
        twin.to_device(),
        twin.to_host(),
    ]
    for number, status in enumerate(statuses):
        assert status == 3 and "spawn" in status.detail, (number, status, status.detail)
    for attempt in (
        lambda: PyGPU.GPUArray(6),
        lambda: PyGPU.zeros(6),
        lambda: PyGPU.to_gpu(np.arange(6.0)),
        lambda: array.get(),
        lambda: array.copy(),
        lambda: allocation.free(),
    ):
        try:
            attempt()
        except PyGPU.errors.RuntimeError as error:
            assert error.status == 3 and "spawn" in str(error), error
        else:
            raise SystemExit("a forked child used its parent's device")

in_a_child(work)
in_a_child(work)
assert (array.get() == np.arange(6.0)).all()  # the parent's objects are as they were
assert twin.to_device() == PyGPU.cudaStreamSynchronize(stream) == 0
"""
    )
    assert done.stdout == done.stderr == ""


@needs_fork
def test_what_needs_no_device_works_in_such_a_child(python):
    done = python(
        FORK
        + """
array = PyGPU.to_gpu(np.arange(6.0))

def work():
    assert PyGPU.cudaError_t(2).string == PyGPU.cudaGetErrorString(2) != ""
    block = PyGPU.HostAllocator_float64()
    assert block.allocate(6) == 0 and not block.ptr().get().any()
    assert np.asarray(PyGPU.DeviceArray_float64((2, 3))).shape == (2, 3)
    assert array.shape == (6,) and array[2:].shape == (4,)

in_a_child(work)
"""
    )
    assert done.stdout == done.stderr == ""


@needs_fork
def test_a_child_of_a_process_that_did_not_use_the_device_may_use_it(python):
    done = python(
        FORK
        + """
def work():
    array = PyGPU.to_gpu(np.arange(6.0))
    assert (array.get() == np.arange(6.0)).all()
    assert PyGPU.cudaStream_t().last_status() == 0

in_a_child(work)
in_a_child(work)
work()  # and so may the parent
"""
    )
    assert done.stdout == done.stderr == ""


def test_a_reset_device_can_be_used_again(python):
    python("""
import PyGPU
address, status = PyGPU.cudaMalloc(1 << 20)
assert status == 0 and PyGPU.cudaPointerGetAttributes(address)[0]["type"] == 2
assert PyGPU.cudaDeviceReset() == 0
assert PyGPU.cudaFree(address) == 1
address, status = PyGPU.cudaMalloc(1 << 20)
assert status == 0 and PyGPU.cudaMemset(address, 1, 1 << 20) == 0
assert PyGPU.cudaFree(address) == 0
""")


@pytest.mark.parametrize("nbytes", [1 << 10, 16 << 20])
def test_a_reset_with_live_blocks_of_every_kind(python, nbytes):
    done = python(f"""
import numpy as np
import PyGPU
from PyGPU import driver, gpuarray

def take():
    host = np.zeros({nbytes}, np.uint8)
    assert PyGPU.cudaHostRegister(host, host.nbytes) == 0
    return [
        host,
        gpuarray.zeros({nbytes}, np.uint8),
        driver.mem_alloc({nbytes}),
        driver.pagelocked_zeros({nbytes}, np.uint8),
        driver.managed_zeros({nbytes}, np.uint8, mem_flags=driver.mem_attach_flags.GLOBAL),
    ]

for _ in range(3):
    blocks = take()
    assert PyGPU.cudaDeviceReset() == 0
    blocks[0][:] = 1  # is the program's
    again = take()
    del blocks
    assert not again[1].get().any()
    assert PyGPU.cudaHostUnregister(again[0]) == 0
    del again
""")
    assert done.stdout == done.stderr == ""


def test_objects_from_before_a_reset_go_without_a_trace(python):
    done = python("""
import PyGPU

def take():
    blocks = [PyGPU.DeviceAllocator_uint8(), PyGPU.PagelockedAllocator_uint8()]
    assert [block.allocate(1 << 20) for block in blocks] == [0, 0]
    return [*blocks, PyGPU.cudaStream_t(), PyGPU.cudaEvent_t(), PyGPU.GPUArray(1000)]

old = take()
assert PyGPU.cudaDeviceReset() == 0
new = take()  # perhaps at the same addresses
try:
    old[-1].get()
except PyGPU.errors.Error as error:
    assert "cudaDeviceReset has taken" in str(error), error
else:
    raise AssertionError("memory of before the reset")
del old
block, pinned, stream, event, array = new
for memory in (block.ptr(), pinned.ptr(), array):
    assert PyGPU.cudaMemset(memory, 7, 8000) == 0
    found = bytearray(8000)
    assert PyGPU.cudaMemcpy(found, memory, 8000) == 0 and set(found) == {7}
assert PyGPU.cudaEventRecord(event, stream) == PyGPU.cudaStreamSynchronize(stream) == 0
""")
    assert done.stdout == done.stderr == ""


LIVE = """
import sys
import numpy as np
import PyGPU

array = PyGPU.to_gpu(np.arange(1000.0))
view = array[10:20]
zeros = PyGPU.zeros((3, 4), "complex64")
twin = PyGPU.DeviceArray_float64(np.arange(1000.0))
assert twin.allocate() == twin.to_device() == 0
pointer = twin.device_data()
blocks = [
    getattr(PyGPU, family + "Allocator_int32")() for family in ("Host", "Device", "Pagelocked")
]
assert [block.allocate(1000) for block in blocks] == [0, 0, 0]
shared = np.asarray(blocks[2])
stream, event = PyGPU.cudaStream_t(), PyGPU.cudaEvent_t()
own = PyGPU.cudaStream_t(PyGPU.cudaStreamNonBlocking)
assert PyGPU.cudaMemsetAsync(pointer, 1, 8000, own) == 0
source = np.arange(1000.0)
array.set_async(source, stream=own)
assert PyGPU.cudaEventRecord(event, stream) == 0
address = PyGPU.cudaMalloc(1000)[0]  # and one that nobody frees
cycle = [array, view, twin, stream, own]
cycle.append(cycle)
PyGPU.keep, sys.keep = cycle, own  # dropped at different times of the shutdown
"""


@pytest.mark.parametrize(
    ("ending", "code"),
    [("", 0), ("sys.exit()", 0), ("sys.exit(7)", 7), ("import os; os._exit(5)", 5)],
)
def test_the_interpreter_ends_silently_with_live_objects(python, ending, code):
    done = python(LIVE + ending, expect=code)
    assert done.stdout == done.stderr == ""


def test_an_exception_at_the_end_is_shown_and_nothing_else(python):
    done = python(LIVE + "raise KeyError('the end')", expect=1)
    assert done.stdout == "" and done.stderr.endswith("KeyError: 'the end'\n")
    assert "PyGPU" not in done.stderr.replace("raise KeyError", "")


def test_objects_that_are_used_while_the_interpreter_ends(python):
    done = python(
        LIVE
        + """
import atexit
atexit.register(lambda: print(array.get()[3], PyGPU.cudaStreamSynchronize(stream)))
"""
    )
    assert (done.stdout, done.stderr) == ("3.0 <cudaError: code=0>\n", "")


def test_ten_threads_at_once(python):
    done = python("""
import threading
import numpy as np
import PyGPU

start = threading.Barrier(10)
failures, finished = [], []

def work(number):
    start.wait()
    stream, event = PyGPU.cudaStream_t(number % 2), PyGPU.cudaEvent_t()
    for turn in range(20):
        data = np.full(5000 + number, number * 100.0 + turn)
        twin = PyGPU.DeviceArray_float64(data)
        assert twin.allocate() == twin.to_device() == 0
        data[:] = 0
        assert twin.to_host() == 0
        assert (data == number * 100.0 + turn).all()
        block, found = PyGPU.DeviceAllocator_uint8(), np.zeros(5000, np.uint8)
        assert block.allocate(5000) == 0
        assert PyGPU.cudaMemsetAsync(block.ptr(), number, 5000, stream) == 0
        assert PyGPU.cudaEventRecord(event, stream) == PyGPU.cudaEventSynchronize(event) == 0
        assert PyGPU.cudaMemcpy(found, block.ptr(), 5000) == 0
        assert (found == number).all()
        array = PyGPU.to_gpu(data)
        assert (array[::-1].copy().get() == data).all()
        assert PyGPU.cudaGetLastError() == 0
        bad = PyGPU.cudaSetDevice(1000) if number % 2 else PyGPU.cudaFree(8)
        assert PyGPU.cudaGetLastError() == bad == (101 if number % 2 else 1)
    finished.append(number)

def guarded(number):
    try:
        work(number)
    except BaseException as failure:
        failures.append((number, repr(failure)))

threads = [threading.Thread(target=guarded, args=(number,)) for number in range(10)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
assert sorted(finished) == list(range(10))
""")
    assert done.stdout == done.stderr == ""


def test_sixteen_threads_on_all_devices(python):
    """tests/threads.py, which goes on for longer where it is asked to."""
    script = Path(__file__).parents[1] / "threads.py"
    done = python(
        f"import runpy, sys\nsys.argv[1:] = ['--turns', '10', '--seed', '1']\n"
        f"runpy.run_path({str(script)!r}, run_name='__main__')",
        PYGPU_HOST_DEVICES=4,
    )
    assert "16 threads, " in done.stdout and "; 0 failures\n" in done.stdout


def test_objects_may_be_dropped_by_another_thread(python):
    done = python("""
import threading
import numpy as np
import PyGPU

made = [
    [PyGPU.to_gpu(np.arange(100.0)), PyGPU.cudaStream_t(), PyGPU.cudaEvent_t()] for _ in range(50)
]
threads = [threading.Thread(target=made.pop) for _ in range(50)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not made and PyGPU.cudaDeviceSynchronize() == 0
""")
    assert done.stdout == done.stderr == ""


def test_what_was_compiled_before_a_reset_is_compiled_anew(python):
    python(
        """
import numpy as np, PyGPU
from PyGPU import gpuarray
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import InclusiveScanKernel

count = ElementwiseKernel("float *x", "x[i] = i")
total = ReductionKernel(np.float32, "0", "a + b", arguments="float *in")
scan = InclusiveScanKernel(np.float32, "a + b")
for _ in range(2):
    a = gpuarray.zeros(10, np.float32)
    count(a)
    assert total(a).get() == a.sum().get() == 45
    assert (a + a)[[1, 2]].get().tolist() == [2, 4]
    assert scan(a).get()[-1] == 45
    assert not PyGPU.cudaDeviceReset()
"""
    )


@pytest.mark.parametrize("work", ["x + x", "x.get()", "x.set(host)", "gpuarray.sum(x)"])
def test_a_thread_that_computes_when_the_interpreter_ends(python, work):
    done = python(
        f"""
import threading, time
import numpy as np
from PyGPU import gpuarray
host = np.ones(1 << 16)
x = gpuarray.to_gpu(host)
{work}

def compute():
    while True:
        {work}

for _ in range(4):
    threading.Thread(target=compute, daemon=True).start()
time.sleep(0.05)
"""
    )
    assert done.stderr == ""


def test_errors_where_the_recursion_is_too_deep(python):
    done = python(
        """
import sys
import numpy as np
from PyGPU.gpuarray import GPUArray, to_gpu

one = to_gpu(np.arange(6, dtype="f4"))

def deep(use):
    try:
        use()
    except (IndexError, TypeError, ValueError):
        pass
    deep(use)

sys.setrecursionlimit(300)
uses = [lambda: one["a"], lambda: GPUArray("x"), lambda: one.reshape(7), lambda: one + "x"]
for use in [*uses, lambda: GPUArray(6, np.float32, gpudata="x")]:
    try:
        deep(use)
    except RecursionError:
        print("held")
"""
    )
    assert done.stdout == "held\n" * 5


IN_A_SUB_INTERPRETER = """
try:
    import PyGPU
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("first", ["", "import PyGPU"])
@pytest.mark.parametrize("own_gil", [False, True])
def test_a_sub_interpreter_cannot_import_the_package(python, first, own_gil):
    if own_gil and sys.version_info < (3, 12):
        pytest.skip("interpreters have a GIL of their own since Python 3.12")
    done = python(
        f"{first}\nimport sub_interpreters\n"
        f"sub_interpreters.run({IN_A_SUB_INTERPRETER!r}, own_gil={own_gil})\n"
        "import PyGPU\nprint(PyGPU.zeros(2).get())"
    )
    reason, numbers = done.stdout.splitlines()
    # Python itself refuses some modules where each interpreter has a GIL of its own.
    assert "sub-interpreter" in reason or (own_gil and "subinterpreters" in reason)
    assert numbers == "[0. 0.]"
