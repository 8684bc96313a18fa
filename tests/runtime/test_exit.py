"""The interpreter's end, whatever is alive and whoever ends it: silent, with the right status."""

import os
import signal

import pytest
from campaign import rare_but

BEGIN = """
import os, signal, sys, threading, time
import numpy as np
import PyGPU
from PyGPU import driver, gpuarray, tools
array = gpuarray.to_gpu(np.arange(1000.0))
"""
KERNEL = """
from PyGPU.compiler import SourceModule
module = SourceModule("__device__ int total; __global__ void f(double *x) { x[threadIdx.x] += 1; }")
add = module.get_function("f")
add.prepare("P")
add(array, block=(32, 1, 1))
"""
DAEMONS = """
sys.setswitchinterval(1e-6)
for _ in range(4): threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
"""
LINE, INTERRUPTED = "the only line\n", -signal.SIGINT

# name: (program, exit status, the last line of stderr)
SCENARIOS = {
    "sys.exit with a status": ("sys.exit(3)", 3, ""),
    "sys.exit with a text": (f"sys.exit({LINE.strip()!r})", 1, LINE),
    "an exception": ("raise ValueError(array.shape)", 1, "ValueError: (1000,)\n"),
    "sys.exit in a thread": ("threading.Thread(target=sys.exit, args=(3,)).start()", 0, ""),
    "an exception in a thread": (
        "threading.Thread(target=lambda: [array + 1, 1 / 0]).start()",
        0,
        "ZeroDivisionError: division by zero\n",
    ),
    "os._exit in a thread": (
        "threading.Thread(target=lambda: [array + 1, os._exit(4)]).start()\n"
        "threading.Event().wait(60)",
        4,
        "",
    ),
    "a thread that goes on after the main one": (
        "go_on = threading.Event()\n"
        "def work():\n"
        "    threading.main_thread().join()\n"
        "    for _ in range(20): assert ((array + 1) - 1)[5].get() == 5\n"
        "    os._exit(5)\n"
        "threading.Thread(target=work).start()",
        5,
        "",
    ),
    "arrays of a thread": (
        "local = threading.local()\n"
        "def work():\n"
        "    local.array, local.stream = array + 1, driver.Stream()\n"
        "    threading.Event().wait(60)\n"
        "threading.Thread(target=work, daemon=True).start()",
        0,
        "",
    ),
    "blocks of pools that daemons let go": (
        "pool = tools.DeviceMemoryPool()\n"
        "def work():\n"
        "    while True: pool.allocate(100)\n" + DAEMONS,
        0,
        "",
    ),
    "daemons in an owner's finalizer": (
        "class Owner:\n"
        "    def __del__(self): time.sleep(0)\n"
        "def work():\n"
        "    while True: gpuarray.GPUArray(9, 'f8', gpudata=array.ptr, base=Owner())\n" + DAEMONS,
        0,
        "",
    ),
    "daemons in an argument's method": (
        "class Number:\n"
        "    def __index__(self): time.sleep(0); return 3\n"
        "def work():\n"
        "    while True: array[Number() : Number()].reshape(0, Number()); str(array)\n" + DAEMONS,
        0,
        "",
    ),
    "arrays in cycles, with finalizers": (
        "class Knot:\n"
        "    def __init__(self): self.me, self.array = self, array * 2\n"
        "    def __del__(self): assert self.array[3].get() == 6\n"
        "knots = [Knot() for _ in range(10)]\nsys.knot = Knot()",
        0,
        "",
    ),
    "atexit that computes": (
        "import atexit\n"
        "atexit.register(lambda: os.write(2, b'%d' % (array + gpuarray.zeros(1000)).sum().get()))",
        0,
        "499500",
    ),
    "atexit that ends with a status": (
        "import atexit\natexit.register(lambda: [array.get(), os._exit(6)])",
        6,
        "",
    ),
    "weakref.finalize": (
        "import weakref\nkept = array + 1\n"
        "weakref.finalize(array, lambda: os.write(2, b'%d' % kept[0].get()))",
        0,
        "1",
    ),
    "a generator and a frame that are not done": (
        "def slow():\n    own = array + 1\n    yield own\n    yield own[1:]\n"
        "g = slow(); next(g)\nsys.keep = sys._getframe()",
        0,
        "",
    ),
    "work on streams that nobody waited for": (
        "streams = [driver.Stream() for _ in range(8)]\n"
        "for s in streams: array.set_async(np.ones(1000), stream=s); array.fill(2, stream=s)\n"
        "events = [driver.Event().record(s) for s in streams]",
        0,
        "",
    ),
    "modules, functions and their globals": (KERNEL + "total = module.get_global('total')", 0, ""),
    "a launch in the last line": (
        KERNEL + "add.prepared_call((1, 1), (32, 1, 1), array.gpudata)",
        0,
        "",
    ),
    "pools": (
        "pool, locked = tools.DeviceMemoryPool(), tools.PageLockedMemoryPool()\n"
        "kept = [pool.allocate(1000), locked.allocate(1000, np.uint8)]\n"
        "sys.kept = gpuarray.zeros(100, np.int32, pool.allocate); pool.allocate(500).free()",
        0,
        "",
    ),
    "page-locked, registered and managed memory": (
        "kept = [driver.pagelocked_empty(1000, np.int8), driver.managed_empty(1000, np.int8,\n"
        "    mem_flags=driver.mem_attach_flags.GLOBAL)]\n"
        "source = np.ones(1 << 16)\nregistered = driver.register_host_memory(source)",
        0,
        "",
    ),
    "kernels of users, scans and random numbers": (
        "from PyGPU import curandom, elementwise, reduction, scan\n"
        "double = elementwise.ElementwiseKernel('double *x', 'x[i] *= 2'); double(array)\n"
        "sums = reduction.ReductionKernel(np.float64, '0', 'a + b', arguments='double *in')\n"
        "total = sums(array)\n"
        "numbers = curandom.XORWOWRandomNumberGenerator().gen_uniform(10, np.float32)",
        0,
        "",
    ),
    "capsules that nobody took": (
        "capsule, sys.capsule = array.__dlpack__(), (array + 1).__dlpack__()\n"
        "view = gpuarray.from_dlpack(array); knot = [capsule, view]; knot.append(knot)",
        0,
        "",
    ),
    "contexts that nobody popped": (
        "context = driver.Device(0).make_context()\nagain = driver.Device(0).make_context()",
        0,
        "",
    ),
    "another program": ("os.execv(sys.executable, [sys.executable, '-c', 'exit(9)'])", 9, ""),
    "a forked child": (
        "import warnings; warnings.simplefilter('ignore')\n"
        "child = os.fork()\n"
        "if child == 0: sys.exit(7)\n"
        "sys.exit(os.WEXITSTATUS(os.waitpid(child, 0)[1]))",
        7,
        "",
    ),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)\nsignal.pause()", -signal.SIGTERM, ""),
    "SIGINT among launches": (
        # A shell without job control has the processes in its background ignore it.
        KERNEL + "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def interrupt():\n"
        "    started.wait()\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "started = threading.Event()\n"
        "threading.Thread(target=interrupt).start()\n"
        "while True:\n"
        "    add.prepared_call((64, 1), (32, 1, 1), array.gpudata)\n"
        "    started.set()",
        INTERRUPTED,
        "KeyboardInterrupt\n",
    ),
    "SIGINT that a handler turns into a status": (
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(8))\n"
        "threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "while True: array += 1",
        8,
        "",
    ),
}

#: Objects that live at the end. They are tested together in each run, and one by one in campaigns.
ALIVE = [
    *("arrays in cycles, with finalizers", "a generator and a frame that are not done"),
    *("work on streams that nobody waited for", "modules, functions and their globals", "pools"),
    *("page-locked, registered and managed memory", "capsules that nobody took"),
    *("kernels of users, scans and random numbers", "contexts that nobody popped"),
]
TOGETHER = "much that lives"
SCENARIOS[TOGETHER] = (
    f"scopes = []\nfor text in {[SCENARIOS[name][0] for name in ALIVE]!r}:\n"
    "    scopes.append({**globals()})\n    exec(text, scopes[-1])",
    0,
    "",
)


@pytest.mark.parametrize("name", rare_but({*SCENARIOS} - {*ALIVE}, SCENARIOS))
def test_exit(python, name):
    program, status, last = SCENARIOS[name]
    if "os.fork" in program and not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    done = python(BEGIN + program, expect=status)
    assert done.stdout == ""
    assert done.stderr.endswith(last) if last else done.stderr == ""
    for word in ("PyGPU.", "terminate", "Exception ignored", "Fatal", "cudaError"):
        assert word not in done.stderr
