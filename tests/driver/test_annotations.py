"""PyGPU.annotate: ranges for profilers, by the functions of a library that these tests build."""

import subprocess

import needs
import pytest

import PyGPU

SOURCE = """
#include <cstdio>
extern "C" int PREFIXRangePushA(const char *name) { return std::printf("push %s\\n", name); }
extern "C" int PREFIXRangePop() { return std::printf("pop\\n"); }
"""
PROGRAM = """
import PyGPU
from PyGPU._driver import diagnostics
diagnostics.capabilities.profiler_ranges = "KIND"
if "STEM":  # this machine may have another one
    interface = diagnostics._INTERFACES["KIND"]
    files = tuple(one for one in interface.files if one[0] == "STEM")
    diagnostics._INTERFACES["KIND"] = interface._replace(files=files)
@PyGPU.annotate("double")
def double(x):
    return 2 * x
with PyGPU.annotate("outer"):
    with PyGPU.annotate("größer"):
        assert double(3) == 6
try:
    with PyGPU.annotate("failing"):
        raise KeyError
except KeyError:
    pass
"""
LIBRARIES = [
    ("nvtx", "libnvtx3interop.so.1", "CUDA_PATH"),
    ("nvtx", "libnvToolsExt.so.1", "CUDA_PATH"),
    ("roctx", "librocprofiler-sdk-roctx.so.1", "ROCM_PATH"),
    ("roctx", "libroctx64.so.4", "ROCM_PATH"),
]


@pytest.mark.no_device
@pytest.mark.parametrize(("kind", "file", "variable"), LIBRARIES, ids=lambda value: value)
def test_ranges_reach_the_library(python, tmp_path, kind, file, variable):
    compiler = needs.program("g++")
    folder = tmp_path / "lib64"
    folder.mkdir()
    source = tmp_path / "ranges.cpp"
    source.write_text(SOURCE.replace("PREFIX", kind))
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", folder / file], check=True)
    program = PROGRAM.replace("KIND", kind).replace("STEM", file.partition(".")[0])
    done = python(program, **{variable: tmp_path})
    pushed = ["push outer", "push größer", "push double", "pop", "pop", "pop"]
    assert done.stdout.splitlines() == [*pushed, "push failing", "pop"]


@pytest.mark.no_device
def test_without_a_library_nothing_happens(python):
    done = python(PROGRAM.replace("KIND", "").replace("STEM", ""))
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.no_device
def test_a_toolkit_that_is_not_there_is_no_error(python, tmp_path):
    program = PROGRAM.replace("KIND", "nvtx").replace("STEM", "")
    python(program, CUDA_PATH=tmp_path / "nowhere")


@pytest.mark.no_device
def test_a_decorated_function_stays_itself():
    @PyGPU.annotate("named")
    def named(a, *, b=1):
        """Return both."""
        return a, b

    assert named(1, b=2) == (1, 2)
    assert (named.__name__, named.__doc__) == ("named", "Return both.")


@pytest.mark.no_device
def test_bad_names_and_functions():
    with pytest.raises(TypeError, match="name: expected a str, got 3"):
        PyGPU.annotate(3)
    with pytest.raises(ValueError, match="without null characters"):
        PyGPU.annotate("a\0b")
    with pytest.raises(TypeError, match="function: expected a callable, got 3"):
        PyGPU.annotate("a")(3)

    async def coroutine():
        pass

    def generator():
        yield

    for function in (coroutine, generator):
        with pytest.raises(TypeError, match="runs in one piece"):
            PyGPU.annotate("a")(function)
    assert repr(PyGPU.annotate("a")) == "annotate('a')"
