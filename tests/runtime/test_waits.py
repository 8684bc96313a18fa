"""While a call waits for the device, other threads of Python run; a handle is released once."""

import re

import preload
import pytest

import PyGPU

pytestmark = pytest.mark.skipif(
    PyGPU.target != "host", reason="only the host's machine can be stood before"
)

# A call that waits until a thread of Python lets it go on.
GATE = """
static volatile int closed, inside, calls, stuck;
void close_gate(void) { closed = 1; inside = calls = stuck = 0; }
int is_inside(void) { return inside; }
void open_gate(void) { closed = 0; }
int count_calls(void) { return calls; }
int was_stuck(void) { return stuck; }
static void pass(void)
{
  if (!closed) return;
  __sync_fetch_and_add(&calls, 1);
  inside = 1;
  for (int i = 0; closed && i < 3000; ++i) usleep(10000);
  if (closed) stuck = 1;
}
"""


def gate_of(*declarations):
    """Return the text of a library in which these calls wait for the gate."""
    text = GATE
    for declared in declarations:
        given = ", ".join(re.findall(r"(\w+)[,)]", declared))
        text += f"""
int PyGPU_host_{declared}
{{
  int (*call)() = machine(__func__);
  pass();
  return call({given});
}}
"""
    return text


BEGIN = """
import ctypes, gc, threading, time
import numpy as np
import PyGPU
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule

gate = ctypes.CDLL(PATH)

def opener():
    while not gate.is_inside():
        time.sleep(0.001)
    gate.open_gate()

def held(work):
    thread = threading.Thread(target=opener, daemon=True)
    gate.close_gate()  # first, since the thread must not see that the last call was inside
    thread.start()
    work()
    entered = gate.is_inside()
    gate.open_gate()
    print("waited" if entered else "never waited", "stuck" if gate.was_stuck() else "free")
"""

CASES = {
    "device memory": "m = [drv.mem_alloc(64)]; held(m.clear)",
    "device memory by free()": "m = drv.mem_alloc(64); held(m.free)",
    "memory by an allocator": "m = [PyGPU.empty(9, np.int8, drv.mem_alloc)]; held(m.clear)",
    "page-locked memory": "m = [drv.pagelocked_empty(9, np.int8)]; held(m.clear)",
    "a page-locked result": "m = [PyGPU.zeros(9).get(pagelocked=True)]; held(m.clear)",
    "managed memory": "m = [drv.managed_empty(9, np.int8)]; held(m.clear)",
    "memory for textures": "m = [drv.np_to_array(np.ones((4, 4), np.float32), 'C')]; held(m.clear)",
    "a module": "m = [SourceModule('__global__ void f() {}')]; held(m.clear)",
    "a shortage of memory": """
def fail():
    try:
        PyGPU.empty(1 << 60, np.int8)
    except PyGPU.driver.MemoryError:
        pass
held(fail)
""",
}


@pytest.fixture(scope="module")
def gate(tmp_path_factory):
    text = gate_of(
        "cudaFree(void *address)",
        "cudaFreeHost(void *address)",
        "cudaFreeArray(void *array)",
        "cudaStreamSynchronize(void *stream)",
        "cudaHostUnloadModule(void *module)",
    )
    return preload.library(tmp_path_factory.mktemp("gate"), text)


def test_other_threads_run_meanwhile(gate):
    program = BEGIN.replace("PATH", repr(str(gate)))
    program += "".join(f"print({name!r}, end=': ')\n{text}\n" for name, text in CASES.items())
    assert preload.output(gate, program).splitlines() == [f"{name}: waited free" for name in CASES]


def test_two_threads_free_one_allocation(gate):
    """The second comes while the first still waits in the runtime."""
    program = (
        BEGIN.replace("PATH", repr(str(gate)))
        + """
memory = drv.mem_alloc(64)
gate.close_gate()
first = threading.Thread(target=memory.free)
first.start()
while not gate.is_inside():
    time.sleep(0.001)
try:
    memory.free()
except drv.LogicError as error:
    print("freed before" in str(error))
gate.open_gate()
first.join()
print(gate.count_calls())
"""
    )
    assert preload.output(gate, program) == "True\n1\n"


def test_other_threads_run_while_cached_blocks_are_freed(tmp_path, monkeypatch):
    monkeypatch.setenv("PYGPU_BLOCK_CACHE", "1")
    gate = preload.library(tmp_path, gate_of("cudaFreeAsync(void *address, void *stream)"))
    program = BEGIN.replace("PATH", repr(str(gate)))
    program += "PyGPU.zeros(9)" + CASES["a shortage of memory"]
    assert preload.output(gate, program) == "waited free\n"


def test_a_device_scope_that_another_thread_is_entering(tmp_path, monkeypatch):
    monkeypatch.setenv("PYGPU_HOST_DEVICES", "2")
    gate = preload.library(tmp_path, gate_of("cudaSetDevice(int device)"))
    program = (
        BEGIN.replace("PATH", repr(str(gate)))
        + """
scope = PyGPU.device(1)

def work():
    with scope:
        print(PyGPU.cudaGetDevice()[0])
    print(PyGPU.cudaGetDevice()[0])

PyGPU.cudaGetDevice()
gate.close_gate()
first = threading.Thread(target=work)
first.start()
while not gate.is_inside():
    time.sleep(0.001)
threading.Timer(1, gate.open_gate).start()
try:
    scope.__enter__()
except RuntimeError as error:
    print("has not ended" in str(error))
gate.open_gate()
first.join()
print(gate.count_calls(), PyGPU.cudaGetDevice()[0])
"""
    )
    assert preload.output(gate, program) == "True\n1\n0\n1 0\n"
