"""Functions that streams call, Ctrl-C, forks and the end of the interpreter."""

import os

import pytest
from host_functions import captures

BEGIN = """
import os, signal, sys, threading, time
import PyGPU
import PyGPU.driver as drv
stream = drv.Stream()
"""
ENDS = {
    "nothing is pending": (
        "stream.add_callback(print, 'called')\nstream.synchronize()",
        "called\n",
    ),
    "the last call is not awaited": ("stream.add_callback(int)", ""),
    "in a function at exit": (
        "import atexit\n"
        "@atexit.register\n"
        "def last():\n"
        "    stream.add_callback(int)\n"
        "    stream.synchronize()\n"
        "    print('last')\n",
        "last\n",
    ),
}


@pytest.mark.parametrize(("program", "shown"), ENDS.values(), ids=ENDS)
def test_the_interpreter_ends_silently(python, program, shown):
    done = python(BEGIN + program)
    assert (done.stdout, done.stderr) == (shown, "")


@captures
def test_a_graph_is_left_at_the_end(python):
    program = """
with stream.capture() as graph:
    stream.add_callback(print, "called")
graph.launch(stream)
stream.synchronize()
graph.launch(stream)
stream.synchronize()
"""
    done = python(BEGIN + program)
    assert (done.stdout, done.stderr) == ("called\n" * 2, "")


PENDING = """
begun = threading.Event()

def slow():
    begun.set()
    time.sleep(0.5)
    print("finished", flush=True)

def enqueue():
    stream.add_callback(slow)
    for _ in range(100):
        stream.add_callback(never)

def never():
    print("never", flush=True)

threading.Thread(target=enqueue, daemon=True).start()
begun.wait()
memory = drv.mem_alloc(64)
"""


def test_a_call_in_progress_ends_and_pending_ones_are_not_made(python):
    done = python(BEGIN + PENDING)
    assert (done.stdout, done.stderr) == ("finished\n", "")


def test_ctrl_c_in_a_function_interrupts_the_main_thread(python):
    program = """
try:
    stream.add_callback(os.kill, os.getpid(), signal.SIGINT)
    stream.synchronize()
    time.sleep(30)
except KeyboardInterrupt:
    print("interrupted")
stream.add_callback(int)
stream.synchronize()
print(stream.is_done())
"""
    done = python(BEGIN + program)
    assert (done.stdout, done.stderr) == ("interrupted\nTrue\n", "")


def test_a_function_that_raises_keyboard_interrupt(python):
    program = """
def interrupt():
    raise KeyboardInterrupt
try:
    stream.add_callback(interrupt)
    stream.synchronize()
    time.sleep(30)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = python(BEGIN + program)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_ctrl_c_ends_the_wait_at_exit(python):
    """A function that never returns holds up the end until Ctrl-C."""
    program = """
begun, forever = threading.Event(), threading.Event()

def hang():
    begun.set()
    forever.wait()

threading.Thread(target=stream.add_callback, args=(hang,), daemon=True).start()
begun.wait()
threading.Thread(
    target=lambda: (time.sleep(0.5), os.kill(os.getpid(), signal.SIGINT)), daemon=True
).start()
print("end", flush=True)
"""
    done = python(BEGIN + program)
    assert done.stdout == "end\n" and "KeyboardInterrupt" in done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_ends(python):
    """The child does not make the calls that its parent enqueued."""
    program = """
begun, end = threading.Event(), threading.Event()

def wait():
    begun.set()
    end.wait()

thread = threading.Thread(target=stream.add_callback, args=(wait,))
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    sys.exit(7)
status = os.waitpid(child, 0)[1]
end.set()
thread.join()
stream.synchronize()
print(os.WEXITSTATUS(status))
"""
    done = python(BEGIN + program)
    assert done.stdout == "7\n"
