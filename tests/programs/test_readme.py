"""Programs of the README and of the pages of the site, run as they are printed."""

import ctypes
import os
import re
import shlex
import subprocess
import sys

import needs
import numpy as np
import pages
import pytest

import PyGPU
from PyGPU.compiler import SourceModule

DOCS = pages.ROOT / "docs"
COMPILERS = {"host": "g++", "cuda": "nvcc", "hip": "hipcc"}
#: Pages with tests of their own.
OWN_TESTS = {"docs/arrays.md", "docs/grow.md"}
PAGES = sorted(
    str(path.relative_to(pages.ROOT))
    for path in (pages.ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("[!_]*/*.md"))
    if {"python", "sh run"} & {fence for fence, _, _ in pages.blocks(path)}
)
#: Pages that show what the host machine does.
OF_HOST = {f"docs/guide/{name}.md" for name in ("devices", "debugging", "interop")}


@pytest.mark.parametrize("name", sorted({*PAGES} - OWN_TESTS))
def test_the_blocks_of_a_page(name, python, tmp_path):
    if name in OF_HOST and PyGPU.target != "host":
        pytest.skip("the page shows what the host machine does")
    needs.program(COMPILERS[PyGPU.target])
    path = pages.ROOT / name
    python(f"import pages; pages.run({str(path)!r}, {str(tmp_path)!r})", **pages.environment(path))


@pytest.mark.no_device
def test_a_wrong_output_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    for fence, line in (("python", "print(1 + 1)"), ("sh run", "echo 2")):
        for output, is_right in (("2", True), ("3", False)):
            page.write_text(f"```{fence}\n{line}\n```\n\n```text\n{output}\n```\n")
            if is_right:
                pages.run(page, tmp_path)
            else:
                with pytest.raises(AssertionError, match=r"page\.md, line 2: expected"):
                    pages.run(page, tmp_path)


@pytest.mark.no_device
def test_every_page_with_programs_is_run():
    assert len(PAGES) >= 20 and {*PAGES} >= OWN_TESTS


@pytest.mark.no_device
def test_the_readme_is_short():
    assert len((pages.ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.no_device
def test_links_to_files():
    """The site's builder checks the anchors; the README's readers have the files alone."""
    for path in (pages.ROOT / "README.md", *DOCS.rglob("*.md")):
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            is_built = {"gallery", "reference", "_build"} & set(link.split("/"))
            assert is_built or (path.parent / link).exists(), (path.name, link)


def block_with(name, fence, text):
    return pages.block_with(pages.ROOT / name, fence, text)


def test_arithmetic_and_kernels_by_expression():
    names = {}
    exec(block_with("docs/guide/arrays.md", "python", "ReductionKernel"), names)
    a, b = names["a"].get(), names["b"].get()
    expected = 2 * a + a[:, :1]
    expected[a > 0] = 0
    np.testing.assert_array_equal(b, expected)
    np.testing.assert_array_equal(names["c"].get(), np.concatenate([a, b[[2, 0]]]))
    np.testing.assert_allclose(names["out"].get(), 0.5 * a + b, rtol=1e-6)


def test_transfers(capsys):
    names = {"np": np}
    with PyGPU.transfer.configure() as before:
        exec(block_with("docs/guide/transfers.md", "python", "transfer.configure(threads"), names)
        assert PyGPU.transfer.configure() == before._replace(threads=4, chunk_bytes=1 << 20)
    assert capsys.readouterr().out == f"{before!r}\n"
    np.testing.assert_array_equal(names["a"].get(), np.ones((2000, 1500)))


def test_the_low_level(capsys):
    names = {}
    exec(block_with("docs/guide/low_level.md", "python", "DeviceArray_int64(A)"), names)
    assert capsys.readouterr().out == 3 * "<cudaError: code=0>\n"
    assert type(names["pointer"]) is PyGPU.pointer_wrapper_int64
    assert names["A"].tolist() == [0, 0, 3, 4, 5, 6]


def test_what_it_says_of_the_low_level():
    free, total, error = PyGPU.cudaMemGetInfo()
    assert 0 < free <= total and not error
    assert PyGPU.DeviceArray_float32([1, 2]).shape() == (1, 2)
    assert not hasattr(PyGPU, "cudaStreamCreate") and not hasattr(PyGPU, "cudaEventCreate")
    stream, event = PyGPU.cudaStream_t(0, 0), PyGPU.cudaEvent_t(0)
    assert not PyGPU.cudaEventRecord(event, stream) and not PyGPU.cudaStreamSynchronize(stream)
    assert isinstance(PyGPU.cudaDeviceProp(0).name(), str)


def test_your_own_kernels(tmp_path, monkeypatch):
    compiler = COMPILERS[PyGPU.target]
    needs.program(compiler)
    (tmp_path / "mine.cu").write_text(block_with("docs/your_kernels.md", "cpp", "scale_kernel"))
    lines = (
        block_with("docs/your_kernels.md", "sh", "-lPyGPU_host").replace("\\\n", " ").splitlines()
    )
    paths = [line for line in lines if re.match("INCLUDE=|LIBRARY=", line)]
    (command,) = [line for line in lines if line.startswith(compiler)]
    script = "\n".join([*paths, command]).replace("(python ", f"({shlex.quote(sys.executable)} ")
    subprocess.run(script, shell=True, check=True, cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(block_with("docs/your_kernels.md", "python library", "libmine.so"), names)
    np.testing.assert_array_equal(names["a"].get(), 2 * np.arange(1000.0))


def test_your_own_kernels_by_load(tmp_path, monkeypatch, capsys):
    needs.program(COMPILERS[PyGPU.target])
    (tmp_path / "norm.cu").write_text(
        block_with("docs/your_kernels.md", "cpp", "PYGPU_EXPORT_AS(scale_f64")
    )
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(block_with("docs/your_kernels.md", "python", "norm.cu"), names)
    np.testing.assert_array_equal(names["a"].get(), 2 * np.arange(1000.0))
    assert capsys.readouterr().out == "cudaError_t scale_f64(double*, int64_t, double, stream)\n"
    with pytest.raises(PyGPU.errors.ArgumentError):
        names["norm"].scale_f32(names["a"], 1000, 2.0)


def test_shared_memory_and_templates_in_your_own_kernels(tmp_path):
    """The page's statements about both hold for a user's source."""
    compiler = COMPILERS[PyGPU.target]
    needs.program(compiler)
    (tmp_path / "mine.cu").write_text("""
        #include <PyGPU/gpu.h>
        template <class T, int n> __global__ void reversed(T* a) {
          PYGPU_DYNAMIC_SHARED(T, part);
          part[threadIdx.x] = n * a[threadIdx.x];
          __syncthreads();
          a[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
        }
        extern "C" void reverse(double* a, long n) {
          PYGPU_LAUNCH((reversed<double, 2>), 1, n, n * sizeof(double), nullptr)(a);
        }
    """)
    lines = (
        block_with("docs/your_kernels.md", "sh", "-lPyGPU_host").replace("\\\n", " ").splitlines()
    )
    (command,) = [line for line in lines if line.startswith(compiler)]
    paths = {"INCLUDE": PyGPU.get_include(), "LIBRARY": PyGPU.get_library_dir()}
    subprocess.run(command, shell=True, check=True, cwd=tmp_path, env={**os.environ, **paths})
    library = ctypes.CDLL(str(tmp_path / "libmine.so"))
    library.reverse.argtypes = [ctypes.c_void_p, ctypes.c_long]
    a = PyGPU.to_gpu(np.arange(8.0))
    library.reverse(a.ptr, 8)
    np.testing.assert_array_equal(a.get(), 2 * np.arange(8.0)[::-1])


def test_fused_functions():
    names = {}
    exec(block_with("docs/guide/arrays.md", "python", "@PyGPU.fuse"), names)
    t = names["t"].get()
    expected = np.exp(-1.5 * t) * np.where(t < 0, 0, np.sin(880 * t))
    np.testing.assert_allclose(names["y"].get(), expected, rtol=1e-9, atol=1e-12)


def test_what_it_says_of_fused_functions():
    kept = 2

    @PyGPU.fuse
    def scaled(a):
        return kept * a

    a = PyGPU.to_gpu(np.ones(3))
    assert scaled(a).tolist() == [2, 2, 2]
    kept = 5
    assert scaled(a).tolist() == [2, 2, 2]
    for most, given in ((lambda *nine: sum(nine), 9 * [a]), (lambda a: 5 * (a + 1,), [a])):
        with pytest.raises(PyGPU.TraceError):
            PyGPU.fuse(most)(*given)
    assert len(PyGPU.fuse(lambda a: 4 * (a + 1,))(a)) == 4


def test_a_view_with_gaps_is_passed_by_its_address():
    module = SourceModule("__global__ void f(float *a) { a[threadIdx.x] = 1; }")
    a = PyGPU.zeros(8, np.float32)
    module.get_function("f")(a[::2], block=(4, 1, 1))
    assert a.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]


def test_graphs(capsys):
    names = {}
    exec(block_with("docs/guide/graphs.md", "python", "stream.capture() as graph"), names)
    assert np.isfinite(names["norm"].get())


@pytest.mark.skipif(PyGPU.target != "host", reason="what the host machine detects")
def test_threads_at_different_kinds_of_barriers():
    module = SourceModule("""__global__ void f(int *a) {
      if (threadIdx.x < 16) __syncthreads();
      else a[threadIdx.x] = __shfl_sync(0xffffffff, 1, 2);
    }""")
    with pytest.raises(PyGPU.errors.LaunchError, match="wait at different calls"):
        module.get_function("f")(PyGPU.zeros(32, np.int32), block=(32, 1, 1))


def test_kernels_from_source_text():
    names = {}
    exec(block_with("docs/guide/kernels.md", "python", "axpy.prepare("), names)
    expected = 2 * np.arange(1000, dtype=np.float32)
    np.testing.assert_array_equal(names["host"], expected + 1)
    np.testing.assert_array_equal(names["y"].get(), 2 * expected)  # the prepared call adds again
