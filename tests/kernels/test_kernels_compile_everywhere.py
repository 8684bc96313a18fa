"""Every kernel text of the tests and of PyGPU compiles with every compiler that is found."""

import kernel_sources
import pytest
from everywhere import COMPILERS, build, require

from PyGPU import characterize, compiler, errors
from PyGPU._compile import build as _build

pytestmark = pytest.mark.no_device

TEXTS = dict(kernel_sources.REGISTRY)


def built_in_texts():
    """The texts that PyGPU itself compiles, caught on their way."""
    caught = []

    class Caught(Exception):
        pass

    def catch(source, **settings):
        caught.append((source, settings))
        raise Caught

    patch = pytest.MonkeyPatch()
    patch.setattr(compiler, "SourceModule", catch)
    try:
        with pytest.raises(Caught):
            characterize.sizeof.__wrapped__(
                "pycuda::complex<float>", "#include <pycuda-complex.hpp>"
            )
    finally:
        patch.undo()
    return {
        f"characterize {i}": kernel_sources.Text(source, not settings.get("no_extern_c", False))
        for i, (source, settings) in enumerate(caught)
    }


TEXTS.update(built_in_texts())


def test_the_registry_is_whole():
    assert len(kernel_sources.REGISTRY) >= 10
    assert any(name.startswith("characterize") for name in TEXTS)


@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS[::2], ids=lambda value: value)
@pytest.mark.parametrize("name", TEXTS)
def test_compiles(name, prefix, backend, arch):
    require(prefix)
    entry = build(TEXTS[name], backend, arch)
    assert entry.image.startswith((b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__"))
    assert entry.log == "", "kernels compile without warnings"
    assert set(entry.names) == set(TEXTS[name].expressions)
    for lowered in entry.names.values():
        assert lowered.encode() in entry.image


def test_ptx():
    require("nvrtc")
    entry = build(TEXTS["POINTERS"], "_cuda", "sm_90", want="ptx")
    assert b".target sm_90" in entry.image and b".entry twice" in entry.image


def test_no_ptx_of_amd():
    with pytest.raises(NotImplementedError, match="PTX"):
        build(TEXTS["POINTERS"], "_hip", "gfx90a", want="ptx")


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
        build(TEXTS["POINTERS"], "_cuda", arch)


def test_options_reach_nvrtc():
    require("nvrtc")
    options = _build._options.parse(
        ["-DN=3", "-O3", "-lineinfo", "--use_fast_math", "-maxrregcount=32", "-Xptxas", "-v"]
        + ["-std=c++14", "-Xcompiler", "-fPIC", "-ftz=true", "-diag-suppress=177"]
    )
    source = 'static_assert(N == 3 && __cplusplus == 201402L, "options"); __global__ void f() {}'
    request = _build.Request(source, cache_dir=False)
    assert _build._cuda(request, options, "sm_90").image.startswith(b"\x7fELF")


def test_options_reach_hiprtc():
    require("hiprtc")
    options = _build._options.parse(
        ["-DN=3", "-O3", "-lineinfo", "--use_fast_math", "-std=c++14", "-Xcompiler", "-fPIC"]
    )
    source = 'static_assert(N == 3 && __cplusplus == 201402L, "options"); __global__ void f() {}'
    request = _build.Request(source, cache_dir=False)
    assert _build._hip(request, options, "gfx90a").image
