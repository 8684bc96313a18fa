"""The programs of examples/frameworks, each where its framework is installed."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import needs
import numpy as np
import pytest

import PyGPU

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "frameworks"


def output(name, *arguments):
    done = subprocess.run(
        [sys.executable, FOLDER / name, *arguments],
        env={**os.environ, "PYGPU_TARGET": PyGPU.target},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("linker", ["py", "cvm", "numba"])
def test_pytensor(linker):
    needs.module("pytensor")
    if linker == "numba":
        needs.module("numba")
    assert output("pytensor_op.py", "--linker", linker).endswith(f"by the linker {linker}\n")


@pytest.mark.filterwarnings("ignore")  # PyTensor's about its compilers
@pytest.mark.parametrize("linker", ["py", "cvm"])
@pytest.mark.parametrize("order", [0, 1])
def test_gradients_of_the_pytensor_op(linker, order):
    needs.module("pytensor")
    from pytensor.compile.mode import Mode
    from pytensor.gradient import verify_grad

    bump = runpy.run_path(str(FOLDER / "pytensor_op.py"))["Bump"](order)
    random = np.random.default_rng(0)
    verify_grad(bump, [random.normal(size=(3, 4))], rng=random, mode=Mode(linker))


def test_pytensor_keeps_arrays_on_the_device():
    needs.module("pytensor")
    assert output("pytensor_device.py").count("agree with NumPy") == 2


@pytest.mark.filterwarnings("ignore")
def test_pytensor_uploads_and_downloads_once():
    needs.module("pytensor")
    import pytensor
    import pytensor.tensor as pt
    from pytensor.compile.mode import Mode

    names = runpy.run_path(str(FOLDER / "pytensor_device.py"))
    x = pt.vector("x", dtype="float64")
    on_device = names["to_device"](x)
    y = names["to_host"](names["multiply"](on_device, names["exp"](on_device)))
    f = pytensor.function([x], y, mode=Mode("cvm"))
    ops = [node.op for node in f.maker.fgraph.toposort()]
    assert [ops.count(names[name]) for name in ("to_device", "to_host")] == [1, 1]
    np.testing.assert_allclose(f([0.0, 1.0]), [0, np.e])
    with pytest.raises(TypeError, match="expected a GPUArray, got ndarray"):
        names["DeviceType"]().filter(np.zeros(2))


def test_torch():
    torch = needs.module("torch")
    if PyGPU.target == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch finds no GPU")
    assert "opcheck finds nothing" in output("torch_op.py")


def test_jax():
    needs.module("jax")
    # In a process of its own: JAX leaves another device current.
    ask = [sys.executable, "-c", "import jax; print(jax.default_backend())"]
    backend = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.split()[-1]
    if PyGPU.target != "host" and backend == "cpu":
        pytest.skip("JAX finds no GPU: its buffers are on the host")
    assert output("jax_callbacks.py").count("agrees with NumPy") == 2


def test_cupy():
    cupy = needs.module("cupy")
    if PyGPU.target != "cuda":
        pytest.skip("CuPy shares the target cuda")
    assert cupy.cuda.runtime.getDeviceCount() > 0
    assert "agree with NumPy" in output("cupy_functions.py")
