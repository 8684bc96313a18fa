"""Functions of a library that do not return: they end their thread, or throw what is no class."""

LEAVES = """
#include <pthread.h>
#include <PyGPU/export.h>
extern "C" void leave_plainly(void) { pthread_exit(nullptr); }
void leave() { pthread_exit(nullptr); }
PYGPU_EXPORT(leave);
void throws_a_number() { throw 7; }
PYGPU_EXPORT(throws_a_number);
"""


def test_pthread_exit_ends_the_thread(tmp_path, python):
    (tmp_path / "leaves.cpp").write_text(LEAVES)
    program = """
import os, threading, time
import PyGPU
from PyGPU import gpuarray

library = PyGPU.load("leaves.cpp", "void leave_plainly(void);")
for leave in (library.leave_plainly, library.leave):
    thread = threading.Thread(target=leave, daemon=True)
    thread.start()
    ends = time.monotonic() + 30
    while os.path.exists(f"/proc/self/task/{thread.native_id}") and time.monotonic() < ends:
        time.sleep(0.001)
    print(time.monotonic() < ends, gpuarray.zeros(3).get().sum())
try:
    library.throws_a_number()
except RuntimeError as error:
    print(error)
"""
    done = python(f"import os; os.chdir({str(tmp_path)!r})\n{program}")
    text = "throws_a_number(): a C++ exception that is no std::exception"
    assert done.stdout.splitlines() == ["True 0.0", "True 0.0", text]
