"""The order of streams on the host machine, whose work is held up by a gate that the test opens."""

import ctypes
import time
from functools import cache

import host_memory
import numpy as np
import pytest
from threads_tools import Call

import PyGPU
from PyGPU import driver, gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.errors import check

pytestmark = pytest.mark.skipif(
    PyGPU.target != "host", reason="the test opens a gate that a kernel of a GPU does not see"
)

NOT_READY = 600
TEXT = """
__global__ void pass_gate(volatile int *gate, volatile int *result, int value)
{
  gate[1] = 1;
  while (gate[0] == 0) __nanosleep(100);
  if (result) *result = value;
}
__global__ void write(int *result, int value) { *result = value; }
"""


@cache
def kernel(name):
    return SourceModule(TEXT).get_function(name)


class Gate:
    """A launch in another thread that lasts until `open`."""

    def __init__(self, stream, result=0, value=0):
        self.words = (ctypes.c_int * 2)()
        address, kind = ctypes.addressof(self.words), np.intp
        launch = kernel("pass_gate")
        self.launch = Call(
            launch,
            kind(address),
            kind(result),
            np.int32(value),
            block=(1, 1, 1),
            stream=stream,
        )
        while not self.words[1]:
            assert self.launch.is_alive()
            time.sleep(0.001)

    def open(self):
        self.words[0] = 1

    def leave(self):
        self.open()
        self.launch.result()


@pytest.fixture
def gates():
    """Make gates; all are open at the end, whatever the test finds."""
    kernel("pass_gate"), kernel("write")
    made = []

    def make(*arguments):
        made.append(Gate(*arguments))
        return made[-1]

    yield make
    for gate in made:
        gate.open()
    for gate in made:
        gate.launch.join(60)


def write(word, value, stream=None):
    """Set a c_int: for a GPUArray, PyGPU orders streams on its own."""
    address = np.intp(ctypes.addressof(word))
    kernel("write")(address, np.int32(value), block=(1, 1, 1), stream=stream)


def waits(call):
    """Is the call still under way after a while? One that waits for a gate always is."""
    call.join(0.05)
    return not call.is_over()


def stream_of(kind):
    flags = {"blocking": PyGPU.cudaStreamDefault, "non-blocking": PyGPU.cudaStreamNonBlocking}
    return PyGPU.cudaStream_t(flags[kind])


@pytest.mark.parametrize("kind", ["blocking", "non-blocking"])
def test_a_stream_is_not_ready_while_another_thread_works_there(gates, kind):
    stream, other = stream_of(kind), PyGPU.cudaStream_t()
    gate = gates(stream)
    assert PyGPU.cudaStreamQuery(stream) == NOT_READY
    assert PyGPU.cudaStreamQuery(None) == (NOT_READY if kind == "blocking" else 0)
    assert PyGPU.cudaStreamQuery(other) == 0
    assert PyGPU.cudaPeekAtLastError() == 0
    gate.leave()
    assert PyGPU.cudaStreamQuery(stream) == PyGPU.cudaStreamQuery(None) == 0


def test_a_driver_stream_is_not_done(gates):
    stream = driver.Stream()
    gate = gates(stream)
    assert not stream.is_done()
    synchronized = Call(stream.synchronize)
    assert waits(synchronized)
    gate.leave()
    synchronized.result()
    assert stream.is_done()


WAITS = {
    "its stream": lambda stream, event: PyGPU.cudaStreamSynchronize(stream),
    "the null stream": lambda stream, event: PyGPU.cudaStreamSynchronize(None),
    "the device": lambda stream, event: PyGPU.cudaDeviceSynchronize(),
    "an event": lambda stream, event: PyGPU.cudaEventSynchronize(event),
}


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_waits_for_another_threads_work(gates, name):
    stream, event = PyGPU.cudaStream_t(), PyGPU.cudaEvent_t()
    gate = gates(stream)
    check(PyGPU.cudaEventRecord(event, stream))
    call = Call(WAITS[name], stream, event)
    assert waits(call)
    gate.leave()
    assert call.result() == 0


def test_streams_that_do_not_wait_for_each_other(gates):
    first, second, apart = stream_of("blocking"), stream_of("blocking"), stream_of("non-blocking")
    results = [ctypes.c_int() for _ in range(4)]
    gate = gates(first)
    write(results[0], 1, second)
    write(results[1], 1, apart)
    for result in results[:2]:
        assert result.value == 1
    null = Call(write, results[2], 1, None)
    assert waits(null)  # the null stream waits for all blocking streams
    later = Call(write, results[3], 1, second)
    assert waits(later)  # and blocking streams wait for the null stream
    write(results[1], 2, apart)
    assert results[1].value == 2
    gate.leave()
    null.result(), later.result()
    assert results[2].value == results[3].value == 1


def test_threads_have_per_thread_streams_of_their_own(gates):
    result = ctypes.c_int()
    gate = gates(PyGPU.cudaStreamPerThread)
    assert PyGPU.cudaStreamQuery(PyGPU.cudaStreamPerThread) == 0
    write(result, 1, PyGPU.cudaStreamPerThread)
    assert result.value == 1
    assert PyGPU.cudaStreamQuery(None) == NOT_READY
    gate.leave()


def test_an_event_is_complete_when_the_work_before_it_is(gates):
    stream, other = stream_of("non-blocking"), stream_of("non-blocking")
    start, event = PyGPU.cudaEvent_t(), PyGPU.cudaEvent_t()
    check(PyGPU.cudaEventRecord(start, stream))
    assert PyGPU.cudaEventQuery(start) == 0
    result = ctypes.c_int()
    gate = gates(stream)
    assert PyGPU.cudaEventRecord(event, stream) == 0  # which does not wait
    assert PyGPU.cudaEventQuery(event) == NOT_READY
    assert PyGPU.cudaEventElapsedTime(start, event)[1] == NOT_READY
    assert PyGPU.cudaStreamWaitEvent(other, event) == 0
    assert PyGPU.cudaStreamQuery(other) == NOT_READY
    later = Call(write, result, 1, other)
    assert waits(later)
    gate.leave()
    later.result()
    assert result.value == 1
    assert PyGPU.cudaEventQuery(event) == PyGPU.cudaStreamQuery(other) == 0
    milliseconds, status = PyGPU.cudaEventElapsedTime(start, event)
    assert status == 0 and milliseconds >= 50  # `later` was waited for so long


def test_events_may_go_or_be_recorded_again_before_they_are_complete(gates):
    stream, other = stream_of("non-blocking"), stream_of("non-blocking")
    event, again = PyGPU.cudaEvent_t(), PyGPU.cudaEvent_t()
    gate = gates(stream)
    for one in (event, again):
        check(PyGPU.cudaEventRecord(one, stream))
    check(PyGPU.cudaStreamWaitEvent(other, event))
    del event
    check(PyGPU.cudaEventRecord(again, PyGPU.cudaStreamPerThread))
    assert PyGPU.cudaEventQuery(again) == 0
    assert PyGPU.cudaStreamQuery(other) == NOT_READY
    gate.leave()
    assert PyGPU.cudaStreamSynchronize(other) == 0


def test_a_stream_may_go_while_another_thread_works_there(gates):
    result = ctypes.c_int()
    handle = PyGPU.cudaStream_t()
    gate = gates(handle.get())
    waiting = Call(write, result, 1, handle.get())
    assert waits(waiting)
    assert PyGPU.cudaStreamDestroy(handle) == 0
    gate.leave()
    waiting.result()  # enqueued before the stream was destroyed
    assert result.value == 1


def test_memory_is_freed_in_the_order_of_its_stream(gates):
    stream = PyGPU.cudaStream_t()
    address = check(PyGPU.cudaMallocAsync(1 << 20, stream))
    before = host_memory.used(0)
    gate = gates(stream, address, 5)
    assert PyGPU.cudaFreeAsync(address, stream) == 0  # which does not wait
    assert PyGPU.cudaFreeAsync(address, stream) == 1
    assert host_memory.used(0) == before
    gate.leave()  # its kernel writes to the memory
    assert PyGPU.cudaStreamSynchronize(stream) == 0
    assert host_memory.used(0) == before - (1 << 20)


def test_cuda_free_waits_for_the_device(gates):
    address = check(PyGPU.cudaMalloc(64))
    gate = gates(stream_of("non-blocking"), address, 5)
    freed = Call(PyGPU.cudaFree, address)
    assert waits(freed)
    assert PyGPU.cudaFree(address) == 1
    gate.leave()
    assert freed.result() == 0


def test_work_on_a_busy_stream_waits_without_the_gil(gates):
    """Also where the call itself keeps the GIL: Python's other threads go on."""
    array, gate = gpuarray.zeros(100, np.int32), gates(None)
    calls = [
        Call(array.fill, 3),
        Call(array.get),
        Call(lambda: array + 1),
        Call(gpuarray.to_gpu, np.ones(5)),
        Call(array.sum),
        Call(lambda: array[np.greater(array, 3)]),
    ]
    assert all(waits(call) for call in calls)
    gate.leave()
    for call in calls:
        call.result()


def test_a_fault_lets_others_go_on(gates):
    stream, result = PyGPU.cudaStream_t(), ctypes.c_int()
    gate = gates(stream, 8, 5)  # address 8 is nobody's
    waiting = [Call(write, result, value, stream) for value in (1, 2)]
    assert all(waits(call) for call in waiting)
    gate.open()
    with pytest.raises(driver.Error, match="illegal address"):
        gate.launch.result()
    for call in waiting:
        call.result()
    assert result.value in (1, 2)
    assert PyGPU.cudaStreamQuery(stream) == 0


def test_captured_work_waits_when_its_graph_is_launched(gates):
    stream, result = driver.Stream(), ctypes.c_int()
    gate = gates(stream)
    with stream.capture() as graph:
        write(result, 1, stream)
    launched = Call(graph.launch, stream)
    assert waits(launched)
    gate.leave()
    launched.result()
    assert result.value == 1


def test_a_queue_is_not_endless(gates):
    stream, event = PyGPU.cudaStream_t(), PyGPU.cudaEvent_t()
    gate, recorded = gates(stream), []

    def record():
        for number in range(3000):
            check(PyGPU.cudaEventRecord(event, stream))
            recorded.append(number)

    call = Call(record)
    while len(recorded) < 1024:
        time.sleep(0.001)
    assert waits(call)
    assert len(recorded) < 1100
    gate.leave()
    call.result()
    assert PyGPU.cudaEventSynchronize(event) == 0


HEAD = f"""
import ctypes, os, signal, sys, threading, time
import numpy as np
import PyGPU
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
module = SourceModule('''{TEXT}''')
pass_gate, write = module.get_function("pass_gate"), module.get_function("write")
gate = (ctypes.c_int * 2)()
one = dict(block=(1, 1, 1))

def hold(stream=None):
    pass_gate(np.intp(ctypes.addressof(gate)), np.intp(0), np.int32(0), **one, stream=stream)

def hold_in_a_thread(stream=None, daemon=False):
    thread = threading.Thread(target=hold, args=(stream,), daemon=daemon)
    thread.start()
    while not gate[1]:
        time.sleep(0.001)
    return thread
"""


@pytest.fixture
def host(python):
    return lambda text, **settings: python(HEAD + text, PYGPU_TARGET="host", **settings)


INTERRUPTED = {
    "a launch": "write(np.intp(array.ptr), np.int32(1), **one)",
    "a copy": "array.get()",
    "a stream": "PyGPU.cudaStreamSynchronize(None)",
    "a device": "PyGPU.cudaDeviceSynchronize()",
    "an event": "PyGPU.cudaEventSynchronize(event)",
    "a release": "PyGPU.cudaFree(address)",
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_ctrl_c_ends_a_wait_for_another_thread(host, name):
    host(f"""
array, event = gpuarray.zeros(1, np.int32), PyGPU.cudaEvent_t()
address = PyGPU.errors.check(PyGPU.cudaMalloc(64))
thread = hold_in_a_thread()
PyGPU.errors.check(PyGPU.cudaEventRecord(event, None))
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    {INTERRUPTED[name]}
except KeyboardInterrupt:
    pass
else:
    raise SystemExit("not interrupted")
assert gate[0] == 0 and thread.is_alive()  # the other thread's work goes on
gate[0] = 1
thread.join()
PyGPU.cudaGetLastError()
write(np.intp(array.ptr), np.int32(2), **one)
assert array.get() == 2
assert PyGPU.cudaEventQuery(event) == 0
assert PyGPU.cudaFree(address) == {1 if name == "a release" else 0}
""")


@pytest.mark.parametrize("where", ["during a launch", "while it waits for another thread"])
def test_a_handler_of_a_signal_may_use_the_stream(host, where):
    """The call that it interrupts cannot end before the handler does, so it is not waited for."""
    begin = (
        "hold()" if where == "during a launch" else "write(np.intp(array.ptr), np.int32(5), **one)"
    )
    host(f"""
array, seen, event = gpuarray.zeros(1, np.int32), [], PyGPU.cudaEvent_t()
waits = {where != "during a launch"}

def handle(*_):
    PyGPU.errors.check(PyGPU.cudaEventRecord(event, None))
    if waits:
        gate[0] = 1
    seen.append(int(array.get()[0]))
    seen.append(PyGPU.cudaStreamSynchronize(None).code)
    gate[0] = 1

signal.signal(signal.SIGALRM, handle)
thread = hold_in_a_thread() if waits else None
signal.setitimer(signal.ITIMER_REAL, 0.3)
{begin}
assert seen == [0, 0], seen
if thread:
    thread.join()
assert PyGPU.cudaEventQuery(event) == 0
assert array.get() == (5 if waits else 0)
""")


def test_a_process_ends_while_daemons_work_and_wait(host):
    host("""
array = gpuarray.zeros(1, np.int32)
hold_in_a_thread(daemon=True)
threading.Thread(target=array.get, daemon=True).start()
time.sleep(0.1)
""")


def test_two_devices_do_not_wait_for_each_other(host):
    host(
        """
thread = hold_in_a_thread()
gate_of_first = gate
assert PyGPU.cudaStreamQuery(None) == 600
PyGPU.errors.check(PyGPU.cudaSetDevice(1))
array = gpuarray.zeros(3, np.int32)
array += 1
assert (array.get() == 1).all()
assert PyGPU.cudaStreamQuery(None) == 0
assert PyGPU.cudaDeviceSynchronize() == 0
address = PyGPU.errors.check(PyGPU.cudaMalloc(64))
assert PyGPU.cudaFree(address) == 0
assert thread.is_alive()
gate[0] = 1
thread.join()
""",
        PYGPU_HOST_DEVICES=2,
    )
