"""Smoke test of an installed wheel: python tests/wheel.py PART [NAME=VALUE ...]

    bare      without any compiler: the targets, arrays and calls that need none, and messages
    kernels   on the target in use: kernels from text, arithmetic, the README's blocks on host
    no_device the target in use without its device
    images    kernels compiled ahead of time, without a device: arch=sm_90 or arch=gfx90a

module=_hip6 names the module that must be in use.

.ci/wheels runs the parts in fresh environments. A part ends with an AssertionError if PyGPU does
not do what is expected.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

START = time.perf_counter()

import numpy as np  # noqa: E402

import PyGPU  # noqa: E402
from PyGPU import driver, gpuarray  # noqa: E402
from PyGPU.compiler import SourceModule  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
TEXT = """
__global__ void scale(float* a, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= factor;
}
"""


def command(*words, **environment):
    """Run `python -m PyGPU` and return its output."""
    done = subprocess.run(
        [sys.executable, "-m", "PyGPU", *words],
        cwd=sys.prefix,  # not in the source folder, which would hide the wheel
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def require_installed():
    """The source folder must not hide the wheel."""
    package = Path(PyGPU.__file__).resolve().parent
    assert "site-packages" in package.parts, f"{package} is not the wheel's"


def copies():
    """Arrays, views, copies, streams and events need no compiler."""
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    on_device = gpuarray.to_gpu(a)
    assert np.array_equal(on_device.get(), a)
    assert np.array_equal(on_device[1].get(), a[1])
    stream, event = driver.Stream(), driver.Event()
    driver.memset_d32_async(on_device.ptr, 0, a.size, stream=stream)
    event.record(stream)
    event.synchronize()
    assert not on_device.get().any()
    twin = PyGPU.DeviceArray_float32(a)
    assert not twin.allocate() and not twin.to_device()
    a[:] = 0
    assert not twin.to_host() and a[2, 3] == 11


def bare():
    """On the host machine without a compiler."""
    facts = json.loads(command("--json", PYGPU_TARGET=""))
    assert facts["built"] == ["cuda", "hip", "host"], facts["built"]
    print("chosen without PYGPU_TARGET:", facts["target"])
    for target, why in facts["refused"].items():
        print(f"{target} is not available: {why}")
        assert why and "\n" not in why
    assert PyGPU.target == "host"
    copies()
    try:
        SourceModule(TEXT)
    except PyGPU.errors.CompilerMissing as error:
        reason, command_line = str(error).splitlines()
        print("a kernel from text:", reason)
        assert "apt-get install g++" in reason and "g++" in command_line
    else:
        raise AssertionError("a compiler was found")


def kernels():
    """Kernels from text and arithmetic."""
    copies()
    a = np.arange(1000, dtype=np.float32)
    on_device = gpuarray.to_gpu(a)
    scale = SourceModule(TEXT).get_function("scale")
    scale(on_device, np.int32(a.size), np.float32(3), block=(256, 1, 1), grid=(4, 1))
    assert np.array_equal(on_device.get(), 3 * a)
    print(f"first kernel on {PyGPU.target}: {time.perf_counter() - START:.1f} s after the start")
    assert (on_device - 1).sum().get() == (3 * a - 1).sum()
    if PyGPU.target == "host":
        sys.path.insert(0, str(ROOT / "tests" / "support"))
        import pages

        with tempfile.TemporaryDirectory() as folder:
            pages.run(ROOT / "README.md", folder)
        print("the README's blocks run")


def no_device():
    """The vendor's runtime reports that there is no device, and nothing fails."""
    count, status = PyGPU.cudaGetDeviceCount()
    print(f"{PyGPU.target} without a device: ({count}, {status})")
    assert count == 0 and status
    assert PyGPU.target in command()


def images(arch):
    """A kernel for a device that is not here."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "scale.cu").write_text(TEXT)
        command("compile", f"{folder}/scale.cu", "--arch", arch, "-o", folder)
        made = [path.name for path in Path(folder).iterdir() if arch in path.name]
    assert len(made) == 1, made
    print("compiled ahead of time:", *made)


if __name__ == "__main__":
    part, *options = sys.argv[1:]
    values = dict(one.split("=", 1) for one in options)
    require_installed()
    wanted = values.pop("module", f"_{PyGPU.target}" if PyGPU.target != "hip" else None)
    module = PyGPU._core.__name__
    assert wanted is None or module == f"PyGPU.{wanted}", module
    {"bare": bare, "kernels": kernels, "no_device": no_device, "images": images}[part](**values)
