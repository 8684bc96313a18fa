"""Kernel texts through NVRTC and HIPRTC, for devices that are not here: those that the tests share
(kernel_sources.py) for the oldest architecture of each, those that PyGPU itself compiles when it is
used (built_in_texts.py, one a call) for a newer one. Forms that only a GPU gets:
test_kernel_texts.py and the other tests that are called "compiles"."""

import json
import os
import subprocess
import sys
from pathlib import Path

import kernel_sources
import pytest
from everywhere import COMPILERS, build, by_backend, require
from kernel_sources import Text

from PyGPU import errors
from PyGPU._compile.compilers import build as _build

pytestmark = pytest.mark.no_device

TEXTS = kernel_sources.REGISTRY
OLDEST, NEWER = COMPILERS[::2], COMPILERS[1::2]


def assert_compiles(text, backend, arch, options=()):
    entry = build(text, backend, arch, options=options)
    assert entry.image.startswith((b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__"))
    assert entry.log == "", "kernels compile without warnings"
    assert set(entry.names) == set(text.expressions)
    for lowered in entry.names.values():
        assert lowered.encode() in entry.image


@pytest.mark.parametrize(("prefix", "backend", "arch"), OLDEST, ids=lambda value: value)
@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_the_tests(name, prefix, backend, arch):
    require(prefix)
    assert_compiles(TEXTS[name], backend, arch)


@pytest.fixture(scope="module")
def built_in_texts():
    """{what was called: one of its texts}, as the host machine gets them."""
    program = Path(kernel_sources.__file__).with_name("built_in_texts.py")
    environment = {**os.environ, "PYGPU_TARGET": "host"}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    caught = json.loads(done.stdout)
    found = {what: Text(one, c, tuple(names)) for what, one, c, names in caught}
    assert len(found) > 20 and len(caught) > 60
    return found


@pytest.mark.parametrize(("prefix", "backend", "arch"), NEWER, ids=lambda value: value)
def test_texts_of_pygpu(request, prefix, backend, arch):
    require(prefix)
    built_in_texts = request.getfixturevalue("built_in_texts")
    options = (
        ("-diag-suppress=161",) if prefix == "nvrtc" else ()
    )  # pragmas for the host's compiler
    for what, text in built_in_texts.items():
        try:
            assert_compiles(text, backend, arch, options)
        except errors.CompileError as error:
            pytest.fail(f"{what}: {error.stderr}\n{text.source}")


def test_ptx():
    require("nvrtc")
    entry = build(TEXTS["POINTERS"], "cuda", "sm_90", want="ptx")
    assert b".target sm_90" in entry.image and b".entry twice" in entry.image


def test_no_ptx_of_amd():
    with pytest.raises(NotImplementedError, match="PTX"):
        build(TEXTS["POINTERS"], "hip", "gfx90a", want="ptx")


@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS[1:3], ids=lambda value: value)
def test_line_numbers_are_the_users(prefix, backend, arch):
    require(prefix)
    source = "#include <stdint.h>\n\n#include <math.h>\n__global__ void f()\n{\n  nonsense();\n}\n"
    with pytest.raises(errors.CompileError) as caught:
        build(kernel_sources.Text(source), backend, arch)
    first = caught.value.stderr.splitlines()[0]
    assert first.startswith(("kernel.cu(6)", "kernel.cu:6:")), caught.value.stderr
    assert "nonsense" in caught.value.stderr


@pytest.mark.parametrize("arch", ["sm_11", "sm_999"])
def test_an_architecture_that_nvrtc_does_not_know(arch):
    require("nvrtc")
    with pytest.raises(errors.CompileError, match=f"arch='{arch}'.*compiles for .*sm_90"):
        build(TEXTS["POINTERS"], "cuda", arch)


@pytest.mark.parametrize("arch", ["gfx1", "gfx9999"])
def test_an_architecture_that_hiprtc_does_not_know(arch):
    require("hiprtc")
    with pytest.raises(errors.CompileError, match=f"arch='{arch}'.*does not know"):
        build(TEXTS["POINTERS"], "hip", arch)


def test_options_reach_nvrtc():
    require("nvrtc")
    options = [
        *["-DN=3", "-O3", "-lineinfo", "--use_fast_math", "-maxrregcount=32", "-Xptxas", "-v"],
        *["-std=c++14", "-Xcompiler", "-fPIC", "-ftz=true", "-diag-suppress=177"],
    ]
    source = 'static_assert(N == 3 && __cplusplus == 201402L, "options"); __global__ void f() {}'
    request = _build.Request(source, cache_dir=False)
    assert by_backend("cuda", request, options, "sm_90").image.startswith(b"\x7fELF")


def test_options_reach_hiprtc():
    require("hiprtc")
    options = [
        *["-DN=3", "-O3", "-lineinfo", "--use_fast_math", "-std=c++14", "-Xcompiler", "-fPIC"],
        *["-fmad=false", "-prec-div=true", "--ptxas-options=-v"],
    ]
    source = 'static_assert(N == 3 && __cplusplus == 201402L, "options"); __global__ void f() {}'
    request = _build.Request(source, cache_dir=False)
    assert by_backend("hip", request, options, "gfx90a").image
