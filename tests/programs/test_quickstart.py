"""The quickstart and the library that it builds: what a newcomer runs first has to work."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU import driver, errors, gpuarray
from PyGPU._compile.compilers import code_object
from PyGPU._library import toolchains

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


SOURCE = EXAMPLES / "user_library" / "lombscargle.cu"
COMPILERS = {"host": "g++", "cuda": "nvcc", "hip": "hipcc"}


def require_compiler(target):
    try:
        return toolchains.of(target).compiler()
    except errors.CompilerMissing as missing:
        needs.missing(COMPILERS[target], str(missing))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    require_compiler(PyGPU.target)
    return PyGPU.load(SOURCE, cache_dir=tmp_path_factory.mktemp("library"))


def spectrum(library, times, values, frequencies):
    times_gpu, values_gpu, frequencies_gpu = map(gpuarray.to_gpu, (times, values, frequencies))
    power = gpuarray.empty(frequencies.shape, np.float64)
    library.lombscargle(times_gpu, values_gpu, times.size, frequencies_gpu, power, frequencies.size)
    return power.get()


def fitted(times, values, frequency):
    """The share of the sum of squares that a least-squares sinusoid explains."""
    phase = 2 * np.pi * frequency * times
    columns = np.stack([np.cos(phase), np.sin(phase)], axis=1)
    fit = columns @ np.linalg.lstsq(columns, values, rcond=1e-9)[0]
    return 1 - ((values - fit) ** 2).sum() / (values**2).sum()


def run_quickstart(folder, *arguments):
    require_compiler(PyGPU.target)
    return subprocess.run(
        [sys.executable, EXAMPLES / "quickstart.py", *arguments],
        cwd=folder,
        env={**os.environ, "PYGPU_TARGET": PyGPU.target},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_quickstart_finds_the_sunspot_cycle(tmp_path):
    done = run_quickstart(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"target: {PyGPU.target}" in done.stdout
    assert PyGPU.cudaDeviceProp(0).name() in done.stdout
    assert "[ 2  4  6  8 10 12]" in done.stdout
    period = float(re.search(r"strongest period: ([\d.]+) years", done.stdout).group(1))
    assert period == pytest.approx(11, abs=0.1)
    has_matplotlib = importlib.util.find_spec("matplotlib") is not None
    assert (tmp_path / "sunspots.png").exists() == has_matplotlib
    assert ("matplotlib is not installed" in done.stdout) != has_matplotlib


def test_quickstart_leaves_nothing_untracked():
    """Its picture lies where it is started, which is the checkout in the README's command."""
    default = re.search(r'"--plot", default="([^"]+)"', (EXAMPLES / "quickstart.py").read_text())
    assert default[1] in (EXAMPLES.parent / ".gitignore").read_text().split()


def test_quickstart_plots_where_it_is_told(tmp_path):
    needs.module("matplotlib")
    done = run_quickstart(tmp_path, "--plot", "spectrum.png")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "spectrum.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "sunspots.png").exists()


def test_spectrum_of_an_irregular_series_is_that_of_least_squares(library):
    rng = np.random.default_rng(1)
    times = rng.uniform(-50, 50, 200)
    values = np.sin(0.7 * times + 0.3) + rng.normal(0, 0.5, times.size)
    values -= values.mean()
    frequencies = rng.uniform(0.01, 3, 1000)
    expected = [fitted(times, values, frequency) for frequency in frequencies]
    power = spectrum(library, times, values, frequencies)
    np.testing.assert_allclose(power, expected, rtol=1e-8, atol=1e-11)


def test_spectrum_of_a_sinusoid_is_one_at_its_frequency(library):
    times = np.random.default_rng(2).uniform(0, 100, 50)
    power = spectrum(library, times, np.cos(2 * np.pi * 0.3 * times + 1), np.array([0.3]))
    np.testing.assert_allclose(power, 1, rtol=1e-12)


def test_spectrum_at_the_nyquist_frequency_of_regular_samples(library):
    times = np.arange(100.0)  # the sine is zero at every one of them
    values = np.random.default_rng(3).normal(size=times.size)
    power = spectrum(library, times, values, np.array([0.5]))
    np.testing.assert_allclose(power, fitted(times, values, 0.5), rtol=1e-9)


@pytest.mark.parametrize("count", [-1, 2**39, 2**62])
def test_a_refused_launch_raises_and_leaves_no_error_behind(library, count):
    data, values = gpuarray.to_gpu(np.arange(4)), gpuarray.zeros(4, np.float64)
    with pytest.raises(errors.Error, match="double_int64 failed"):
        library.double_int64(data, count)
    with pytest.raises(errors.Error, match="lombscargle failed"):
        library.lombscargle(values, values, 4, values, values, count)
    assert not PyGPU.cudaGetLastError()
    np.testing.assert_array_equal(data.get(), np.arange(4))


def test_nothing_to_compute_is_no_error(library):
    library.lombscargle(None, None, 0, None, None, 0)
    library.double_int64(None, 0)


def test_integers_are_doubled_on_any_stream(library):
    stream = driver.Stream()
    data = gpuarray.to_gpu_async(np.arange(1000), stream=stream)
    library.double_int64(data, data.size, stream=stream)
    np.testing.assert_array_equal(data.get(), 2 * np.arange(1000))


def assert_amds_kernels_are_in(library):
    """Read back from the bundle in the library, as the runtime would."""
    bundle = library[library.index(b"__CLANG_OFFLOAD_BUNDLE__") :]
    for arch in filter(None, PyGPU.architectures.split(",")):
        assert b"amdgcn-amd-amdhsa--" + arch.encode() in bundle
    kernels = {one[".name"]: one for one in code_object._metadata(bundle)["amdhsa.kernels"]}
    for name in re.findall(r"__global__ void (\w+)", SOURCE.read_text()):
        (found,) = (one for mangled, one in kernels.items() if name in mangled)
        assert found[".wavefront_size"] == 64 and found[".group_segment_fixed_size"] <= 64 << 10
        sizes = [one[".size"] for one in found[".args"] if "hidden" not in one[".value_kind"]]
        assert sizes and set(sizes) == {8}


@pytest.mark.campaign
@pytest.mark.no_device
@pytest.mark.parametrize("target", ["cuda", "hip", "host"])
def test_the_source_compiles_with_every_compiler_here(target, tmp_path):
    require_compiler(target)
    arch = {"cuda": "sm_90", "hip": PyGPU.architectures.split(",") if PyGPU.architectures else []}
    path = PyGPU.build(SOURCE, out=tmp_path / "built.so", target=target, arch=arch.get(target, []))
    if target == "hip" and not needs.STANDIN:  # whose compiler is not AMD's
        assert_amds_kernels_are_in(path.read_bytes())
