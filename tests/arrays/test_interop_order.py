"""Which streams wait for which when memory is used and exchanged: read off the machine's own calls.

On the host all work is done at once, so results cannot show a missing wait. The calls can.
"""

import preload
import pytest

import PyGPU

pytestmark = pytest.mark.skipif(
    PyGPU.target != "host", reason="only the host's machine can be listened to"
)

LISTENER = r"""
int PyGPU_host_cudaEventRecord(void *event, void *stream)
{
  int (*call)(void *, void *) = machine(__func__);
  printf("earlier %p\n", stream);
  fflush(stdout);
  return call(event, stream);
}
int PyGPU_host_cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
  int (*call)(void *, void *, unsigned) = machine(__func__);
  printf("later %p\n", stream);
  fflush(stdout);
  return call(stream, event, flags);
}
int PyGPU_host_cudaStreamSynchronize(void *stream)
{
  int (*call)(void *) = machine(__func__);
  printf("host %p\n", stream);
  fflush(stdout);
  return call(stream);
}
int PyGPU_host_cudaDeviceSynchronize(void)
{
  int (*call)(void) = machine(__func__);
  printf("host all\n");
  fflush(stdout);
  return call();
}
"""

BEGIN = """
import dlpack_tools as dlpack
import numpy as np
import stand_ins
import PyGPU
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule
from PyGPU.gpuarray import GPUArray, asarray, from_dlpack, zeros

def say(*words):
    print(*words, flush=True)

array = zeros(4)
blocking, a, b = PyGPU.cudaStream_t(), PyGPU.cudaStream_t(1), PyGPU.cudaStream_t(1)
for name in ("blocking", "a", "b"):
    say("name", name, hex(int(globals()[name])))

def export(end=False, **arguments):
    managed = dlpack.take(array.__dlpack__(**arguments))
    if end:
        say("begin")
        dlpack.end(managed)

def told(**changes):
    said = {**array._array_interface, **changes}
    return stand_ins.Carrier(__cuda_array_interface__=said)

def double(stream, *arguments):
    kernel = SourceModule("__global__ void double_all(double *a) { a[threadIdx.x] *= 2; }")
    kernel.get_function("double_all")(*arguments, block=(4, 1, 1), stream=stream)

def box(stream):
    copy = drv.Memcpy2D()
    copy.set_src_host(np.ones(4))
    copy.set_dst_device(array.gpudata)
    copy.width_in_bytes, copy.height = 32, 1
    copy(stream)

"""


def waits(lines):
    """What waited after "begin": pairs of (later, earlier)."""
    names, found, earlier = {"(nil)": "null", "0x1": "null", "all": "all"}, [], None
    for line in lines:
        word, *rest = line.split()
        if word == "name":
            names[rest[1]] = rest[0]
        elif word == "begin":
            found = []
        elif word == "end":
            break
        elif word == "earlier":
            earlier = names.get(rest[0], "another")
        elif word == "later":
            found.append((names.get(rest[0], "another"), earlier))
        else:
            found.append(("host", names.get(rest[0], "another")))
    return found


OF_BOTH = {("null", "a"), ("null", "b")}
A_AFTER_NULL = {("a", "null")}
FOREIGN = "import ctypes; foreign = ctypes.c_void_p(); ctypes.CDLL(PyGPU.get_library_dir()"
FOREIGN += (
    " + '/libPyGPU_host.so').PyGPU_host_cudaStreamCreateWithPriority(ctypes.byref(foreign), 1, 0); "
)
CASES = {
    # A consumer waits for the null stream and for all that runs beside it, but not for itself.
    "say('begin'); export(stream=1)": OF_BOTH,
    # Blocking streams do not wait for each other, but the null stream for all of them.
    "say('begin'); export(stream=blocking)": {
        ("blocking", "null"),
        ("blocking", "a"),
        ("blocking", "b"),
    },
    "say('begin'); export(stream=a)": {("a", "null"), ("a", "b")},
    "del b; say('begin'); export(stream=a)": {("a", "null")},
    "say('begin'); export(stream=-1)": set(),
    "array = array[:0]; say('begin'); export(stream=a)": set(),
    "say('begin'); array._array_interface": OF_BOTH,
    # Memory without a consumer's stream may be read by the host.
    "say('begin'); export()": OF_BOTH | {("host", "null")},
    # A copy is made in the order of the null stream.
    "say('begin'); export(stream=a, copy=True)": OF_BOTH | {("a", "null"), ("a", "b")},
    # Our memory is free once a consumer beside the null stream is done, whose work we cannot know
    # if its stream is not ours.
    "export(stream=1, end=True)": set(),
    "export(stream=blocking, end=True)": set(),
    FOREIGN + "export(stream=foreign.value, end=True)": {("host", "all")},
    "export(stream=int(a), end=True)": set(),
    "export(stream=a, end=True)": set(),
    "export(stream=a, end=True); say('begin'); del array": {("null", "a")},
    # A stream leaves its work to the null stream.
    "say('begin'); del a": {("null", "a")},
    "say('begin'); PyGPU.cudaStreamDestroy(blocking)": {("null", "blocking")},
    # The null stream waits for a producer, and for the null stream the stream to be used.
    "t = told(stream=1); say('begin'); x = asarray(t)": set(),
    "t = told(stream=int(a)); say('begin'); x = asarray(t)": {("null", "a")},
    "t = told(stream=int(a)); say('begin'); x = asarray(t, stream=b)": {
        ("null", "a"),
        ("b", "null"),
    },
    "t = told(version=2); say('begin'); x = asarray(t)": {("host", "all")},
    # The first use on a stream beside the null stream waits for it too.
    "x = asarray(told(stream=1)); say('begin'); x.fill(1, a)": {("a", "null")},
    # A producer gets its memory back when our work is done, or in the order of the null stream.
    "x = asarray(told(stream=1)); say('begin'); del x": OF_BOTH,
    "x = asarray(told(stream=None)); say('begin'); del x": OF_BOTH | {("host", "null")},
    "x = asarray(told(stream=int(a))); say('begin'); del x": OF_BOTH | {("host", "null")},
    "x = from_dlpack(dlpack.Producer(array)); say('begin'); del x": OF_BOTH | {("host", "null")},
    # Memory of ours is itself under whatever name: the first use beside the null stream waits.
    "x = GPUArray(4, gpudata=array.gpudata); say('begin'); x.fill(1, a)": A_AFTER_NULL,
    "x = GPUArray(4, base=array, gpudata=array.ptr); say('begin'); x.fill(1, a)": A_AFTER_NULL,
    "x = GPUArray(2, gpudata=array.ptr + 16); array.fill(1, a); say('begin'); x.fill(1, a)": set(),
    "say('begin'); drv.memcpy_htod_async(array.gpudata, np.ones(4), a)": A_AFTER_NULL,
    "say('begin'); drv.memcpy_dtoh_async(np.ones(4), array.gpudata, a)": A_AFTER_NULL,
    "say('begin'); drv.memcpy_dtod_async(array.gpudata, array.ptr + 8, 8, a)": A_AFTER_NULL,
    "say('begin'); drv.memset_d32_async(array.ptr + 4, 1, 7, a)": A_AFTER_NULL,
    "say('begin'); drv.memset_d2d32_async(array.gpudata, 16, 1, 2, 2, a)": A_AFTER_NULL,
    "say('begin'); box(a)": A_AFTER_NULL,
    "say('begin'); double(a, array)": A_AFTER_NULL,
    "say('begin'); double(a, array.gpudata)": A_AFTER_NULL,
    "say('begin'); double(a, np.intp(array.ptr))": A_AFTER_NULL,
    "say('begin'); drv.memcpy_htod_async(array.gpudata, np.ones(4), blocking)": set(),
    # And its last use beside the null stream is over before the memory is used again.
    "x = GPUArray(4, gpudata=array.gpudata); x.fill(1, a); del x; say('begin'); del array": {
        ("null", "a")
    },
    "drv.memset_d32_async(array.gpudata, 1, 8, a); say('begin'); del array": {("null", "a")},
    "double(a, array.ptr); say('begin'); array.gpudata.free()": {("null", "a")},
    # A stream that was used on it may go before, and leaves its work to the null stream.
    "array.fill(1, a); say('begin'); del a": {("null", "a")},
    "array.fill(1, a); del a; say('begin'); del array": set(),
    "array.fill(1, a); del a; say('begin'); array.fill(1, b)": {("b", "null")},
    "array.fill(1, int(a)); say('begin'); del a": {("null", "a")},
    # Into a graph the null stream cannot take it: it is waited for.
    "with drv.Stream().capture(): say('begin'); del a": {("host", "a")},
    # cudaFree waits by itself for what used memory of cudaMalloc.
    "m = drv.mem_alloc(32); drv.memset_d32_async(m, 1, 8, a); say('begin'); del m": set(),
}


# With a stream of device 1 for memory of device 0: the null streams of both.
OTHERS = "PyGPU.cudaSetDevice(1); c = PyGPU.cudaStream_t(1); PyGPU.cudaSetDevice(0); "
OTHERS += "say('name', 'c', hex(int(c))); drv.memset_d32_async(array.ptr, 1, 8, c); "
OF_TWO_DEVICES = {
    "say('begin'); del c": [("null", "c"), ("null", "c")],
    "say('begin'); PyGPU.cudaStreamDestroy(c)": [("null", "c"), ("null", "c")],
    "say('begin'); del array": [("null", "c")],
    "del c; say('begin'); del array": [],
    "del c; array.fill(1, a); say('begin'); del a": [("null", "a")],
}


@pytest.fixture(scope="module")
def listener(tmp_path_factory):
    """A library that hears the calls before the machine does."""
    return preload.library(tmp_path_factory.mktemp("listener"), LISTENER)


def calls(listener, begin, cases):
    """The calls of each case."""
    program = f"""
import gc
for case in {list(cases)!r}:
    gc.collect()  # the streams of the last one
    print("case", flush=True)
    exec({begin!r} + case + "; say('end')", {{}})
"""
    parts = preload.output(listener, program).split("case\n")[1:]
    return dict(zip(cases, (part.splitlines() for part in parts)))


@pytest.fixture(scope="module")
def heard(listener):
    return calls(listener, BEGIN, CASES)


@pytest.fixture(scope="module")
def heard_of_two_devices(listener):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYGPU_HOST_DEVICES", "2")
        return calls(listener, BEGIN + OTHERS, OF_TWO_DEVICES)


@pytest.mark.parametrize("program", CASES)
def test_what_waits(heard, program):
    found = waits(heard[program])
    assert set(found) == CASES[program]
    assert len(found) == len(set(found)), "nothing waits twice"


@pytest.mark.parametrize("program", OF_TWO_DEVICES)
def test_what_waits_for_a_stream_of_another_device(heard_of_two_devices, program):
    assert waits(heard_of_two_devices[program]) == OF_TWO_DEVICES[program]
