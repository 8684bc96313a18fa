"""What every test shares. The suite runs on the target in use (see PYGPU_TARGET)."""

import contextlib
import fcntl
import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import host_memory
import hypothesis
import needs
import pytest
from strategies import LONG

import PyGPU
from PyGPU._runtime import core

# CI's examples are the same each time; "long" draws others at every run, and many of them.
profiles = hypothesis.settings
UNTIMED = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
profiles.register_profile("suite", max_examples=40, derandomize=True, **UNTIMED)
profiles.register_profile("long", max_examples=40 * LONG, print_blob=True, **UNTIMED)
profiles.load_profile(os.environ.get("PYGPU_HYPOTHESIS", "suite"))

# Hundreds of tests start interpreters: they need not all compile PyGPU's modules, nor start the
# threads of NumPy's linear algebra, which wait for work by spinning.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A shell starts what runs in the background with SIGINT ignored, which processes of tests inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SUPPORT = Path(__file__).parent / "support"  # what tests share


def device_count():
    return PyGPU.cudaGetDeviceCount()[0]


def pytest_configure(config):
    if unknown := needs.required() - needs.KNOWN:
        known = ", ".join(sorted(needs.KNOWN))
        raise pytest.UsageError(f"PYGPU_REQUIRE names {', '.join(unknown)}; known are {known}")
    for marker in (
        "no_device: checks a target on a machine where it has no device; needs none",
        "alone: measures or takes all memory of the device, while no other test runs",
        "campaign: takes long for what it finds; left out unless asked for by -m",
    ):
        config.addinivalue_line("markers", marker)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """The whole suite, asked for without a word on workers, runs on all cores by pytest-xdist."""
    option = config.option
    whole = getattr(config, "args_source", None) == pytest.Config.ArgsSource.TESTPATHS
    if (
        not whole
        or getattr(option, "numprocesses", 1) is not None
        or hasattr(config, "workerinput")
        or option.usepdb
        or option.collectonly
    ):
        return
    option.numprocesses = min(len(os.sched_getaffinity(0)), MOST_WORKERS)
    if option.dist == "no":
        option.dist = "loadfile"


MOST_WORKERS = 10


@pytest.fixture(autouse=True)
def comparisons():
    """Undo PYGPU_COMPARISONS=pycuda, which install_as_pycuda() sets for the process."""
    has_arrays = hasattr(core, "GPUArray")
    before = has_arrays and core._compares_as_pycuda()
    yield
    if has_arrays:
        core._compare_as_pycuda(before)


@contextlib.contextmanager
def locked(path, kind):
    with path.open("w") as file:
        fcntl.flock(file, kind)
        yield


@pytest.fixture(autouse=True)
def device_memory(request, tmp_path_factory):
    """Among workers of a run that share a GPU, tests marked `alone` have it to themselves."""
    if PyGPU.target == "host" or not hasattr(request.config, "workerinput"):
        yield
        return
    shared = tmp_path_factory.getbasetemp().parent
    door, room = shared / "door", shared / "room"
    with contextlib.ExitStack() as until_done:
        if request.node.get_closest_marker("alone"):
            until_done.enter_context(locked(door, fcntl.LOCK_EX))  # nobody comes after
            until_done.enter_context(locked(room, fcntl.LOCK_EX))  # and all have left
        else:
            with locked(door, fcntl.LOCK_EX):
                until_done.enter_context(locked(room, fcntl.LOCK_SH))
        yield


def pytest_collection_modifyitems(items):
    """A GPU target without a device can run only the tests that are about that."""
    if device_count() > 0:
        return
    skip = pytest.mark.skip(reason=f"the target {PyGPU.target} has no device here")
    for item in items:
        if "no_device" not in item.keywords:
            item.add_marker(skip)


def pytest_collection_finish(session):
    set_aside()


def set_aside():
    """Keep the objects that live now out of later collections of garbage.

    Pytest keeps some objects of each test. Without this, a collection after thousands of tests
    takes a tenth of a second, and many tests ask for hundreds of collections.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def clean_state():
    """A test that provokes errors leaves none to the next; each begins on the first device."""
    yield
    PyGPU.cudaGetLastError()
    device = PyGPU.cudaGetDevice()[0]
    if device != 0:
        PyGPU.cudaSetDevice(0)
        pytest.fail(f"the test left the thread on device {device}")


@pytest.fixture(scope="module", autouse=True)
def memory_is_back(request):
    """What the tests of a module have taken from the device is free when they are done.

    Of GPUs nobody counts all that a process holds; the host machine does.
    """
    set_aside()
    if PyGPU.target != "host":
        yield
        return
    before, failed = host_memory.used(), request.session.testsfailed
    yield
    if host_memory.used() <= before + host_memory.KEPT or request.session.testsfailed > failed:
        return  # tracebacks keep what the tests that failed have left
    gc.collect()
    left = host_memory.used() - before
    assert left <= host_memory.KEPT, (
        f"the tests of {request.node.name} have left {left} bytes on the device"
    )


@pytest.fixture
def python():
    """Run a program in a fresh interpreter on this target: python(source, **environment)."""

    def run(source, expect=0, **environment):
        env = {**os.environ, "PYGPU_TARGET": PyGPU.target}
        folders = [environment.pop("PYTHONPATH", ""), str(SUPPORT), env.get("PYTHONPATH", "")]
        env["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
        env.update({name: str(value) for name, value in environment.items()})
        done = subprocess.run(
            [sys.executable, "-c", source], env=env, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def two_devices(python):
    """The same with two devices, which the host machine has where it is asked for them."""
    if PyGPU.target != "host" and device_count() < 2:
        needs.missing("devices", f"the target {PyGPU.target} has only one device here")
    return lambda source: python(source, PYGPU_HOST_DEVICES=2)
