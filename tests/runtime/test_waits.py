"""While a call waits for the device, other threads of Python run; a handle is released once."""

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
for declared, given in [
    ("cudaFree(void *address)", "address"),
    ("cudaFreeHost(void *address)", "address"),
    ("cudaFreeArray(void *array)", "array"),
    ("cudaStreamSynchronize(void *stream)", "stream"),
    ("cudaHostUnloadModule(void *module)", "module"),
]:
    GATE += f"""
int PyGPU_host_{declared}
{{
  int (*call)() = machine(__func__);
  pass();
  return call({given});
}}
"""

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
    return preload.library(tmp_path_factory.mktemp("gate"), GATE)


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
