"""Faults of kernels beside others' signal handlers: an error of the launch, and others' signals
still reach the handlers that the program has chosen."""

import signal

import pytest
from cases import in_turn

import PyGPU

pytestmark = pytest.mark.skipif(PyGPU.target != "host", reason="faults are signals on host alone")

BEGIN = """
import ctypes, faulthandler, mmap, os, signal, sys, threading
import numpy as np
import PyGPU.autoinit
from PyGPU import driver, gpuarray
from PyGPU.compiler import SourceModule

module = SourceModule('''
#include <cassert>
__global__ void sound(int *a) { a[2] = 1; }
__global__ void divide(int *a) { a[2] = 7 / a[1]; }
__global__ void wild(int *a) { *(volatile int *)8 = 1; }
__global__ void trap(int *a) { __trap(); }
__global__ void refuse(int *a) { assert(a == nullptr); }
__device__ int deep(volatile int *a, int n) {
  volatile int local[64];
  local[n % 64] = n;
  return n == a[0] ? 0 : deep(a, n + 1) + local[n % 64];
}
__global__ void recurse(int *a) { a[1] = deep(a, 0); }
''')
a = gpuarray.to_gpu(np.array([-1, 0, 0], np.int32))
FATAL = [signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT]

def launch(name):
    module.get_function(name)(a, block=(1, 1, 1))

def sound():
    a[2:].fill(0)
    launch("sound")
    assert a.get()[2] == 1

def faults():
    for name in ("divide", "wild", "trap", "refuse", "recurse"):
        try:
            launch(name)
        except driver.Error:
            continue
        raise SystemExit(f"{name} did not fail")
    sound()

class Stack(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]

libc = ctypes.CDLL(None)
memory = mmap.mmap(-1, 1 << 16)
own = Stack(ctypes.addressof(ctypes.c_char.from_buffer(memory)), 0, 1 << 16)

def has_own_stack():
    now = Stack()
    libc.sigaltstack(None, ctypes.byref(now))
    return (now.address, now.flags) == (own.address, 0)

def in_thread(function):
    done = []
    thread = threading.Thread(target=lambda: done.append(function()))
    thread.start()
    thread.join()
    assert done
"""

HANDLERS = [f"for s in FATAL: signal.signal(s, {h})" for h in ("signal.SIG_DFL", "signal.SIG_IGN")]
HANDLERS += ["for s in FATAL: signal.signal(s, lambda *_: None)"]
DROPPED = "libc.sigaltstack(ctypes.byref(Stack(None, 2, 0)), None)"
OWN = "assert libc.sigaltstack(ctypes.byref(own), None) == 0"
CASES = {
    "enabled first": "faulthandler.enable(); faults(); faulthandler.disable(); faults()",
    "enabled later": "faults(); faulthandler.enable(); faults(); faulthandler.disable(); faults()",
    "in turn": """
for _ in range(3):
    faulthandler.enable()
    faults()
    faulthandler.disable()
    sound()
""",
    "in threads": """
faulthandler.enable()
in_thread(faults)
faulthandler.disable()
in_thread(faults)
""",
    **{f"{text} first": f"{text}\nfaults()" for text in HANDLERS},
    **{f"{text} later": f"faults()\n{text}\nfaults()" for text in HANDLERS},
    "returns": "\n".join(
        f"sound(); signal.signal(signal.{name}, lambda *_: None); faults()"
        for name in ("SIGFPE", "SIGILL", "SIGBUS", "SIGSEGV")
    ),
    "blocked": "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()); faults()",
    "blocked in a thread": """
def run():
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    faults()
in_thread(run)
""",
    "own stack first": f"{OWN}; faults(); assert has_own_stack(); {DROPPED}; faults()",
    "own stack later": f"faults(); {OWN}; faults(); assert has_own_stack(); {DROPPED}; faults()",
    "handled": """
found = []
for _ in range(2):
    signal.signal(signal.SIGSEGV, lambda *_: found.append(1))
    faults()
    signal.raise_signal(signal.SIGSEGV)
    assert found.pop()
""",
}


@pytest.mark.parametrize("name", CASES)
def test_faults_stay_errors(python, name):
    done = python(in_turn(BEGIN, {name: CASES[name]}))
    assert "Fatal Python error" not in done.stderr


@pytest.mark.parametrize(
    ("order", "reports"),
    [
        ("faults(); faulthandler.enable()", 1),
        ("faulthandler.enable(); faults()", 1),
        ("faults(); faulthandler.enable(); faults()", 1),
        ("faults(); faulthandler.enable(); faults(); faulthandler.disable()", 0),
        ("faulthandler.enable(); faults(); faulthandler.disable(); faults()", 0),
    ],
)
def test_crashes_outside_of_kernels_are_the_process_s(python, order, reports):
    done = python(f"{BEGIN}\n{order}\nctypes.string_at(8)", expect=-signal.SIGSEGV)
    assert done.stderr.count("Fatal Python error") == reports
