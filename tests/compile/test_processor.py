"""The instructions that PyGPU's own kernels use on the target `host`."""

import platform

import pytest

from PyGPU._compile.cache.entries import Entry
from PyGPU._compile.compilers import build, host, processor
from PyGPU._runtime import core

FIRST, FMA, SECOND, THIRD = (" ".join(names) for names, _ in processor._GROUPS)


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """machine(name, lines) makes it a machine with that list of processors; None: no list."""

    def be(name, lines):
        path = tmp_path / "cpuinfo"
        path.unlink(missing_ok=True)
        if lines is not None:
            path.write_text(lines)
        monkeypatch.setattr(platform, "machine", lambda: name)
        monkeypatch.setattr(processor, "_LIST", str(path))
        processor._groups.cache_clear()
        return processor.flags("")

    yield be
    processor._groups.cache_clear()


def test_what_it_has_decides(machine):
    assert machine("x86_64", f"processor\t: 0\nflags\t\t: fpu {FIRST}\n\n")[-1] == "-mbmi2"
    assert machine("x86_64", f"flags\t\t: fpu {FIRST} {FMA}\n")[-1] == "-mfma"
    words = machine("x86_64", f"flags : {FIRST} {FMA} {SECOND}\n")
    assert "-mavx512vl" in words and words[-1] == "-mprefer-vector-width=256"
    words = machine("AMD64", f"flags : {FIRST} {FMA} {SECOND} {THIRD}\n")
    assert words[-2:] == ("-mprefer-vector-width=512", "-DPYGPU_LIBMVEC_BYTES=64")
    words = machine("AMD64", f"flags : {FIRST} {FMA} avx512f\nflags : {SECOND}\n")
    assert words[-1] == "-mfma"  # the first processor counts


def test_complex_numbers_do_without_fused_operations(machine):
    machine("x86_64", f"flags : {FIRST} {FMA} {SECOND}\n")
    assert processor.flags("pycuda::complex<float>")[-1] == "-mbmi2"
    machine("x86_64", f"flags : {FIRST} {FMA} {SECOND} {THIRD}\n")
    words = processor.flags("pycuda::complex<float>")  # but call the functions that others call
    assert words[-2:] == ("-mbmi2", "-DPYGPU_LIBMVEC_BYTES=64")


@pytest.mark.parametrize("lines", [None, "", "flags : fpu sse2\n", f"flags : {SECOND}\n"])
def test_without_them_it_is_any_processor(machine, lines):
    assert machine("x86_64", lines) == ("-ffp-contract=off",)
    assert machine("aarch64", f"flags : {FIRST}\n") == ()


@pytest.mark.skipif(core.target != "host", reason="the target host compiles for the processor")
def test_the_processor_belongs_to_the_key(machine, tmp_path, monkeypatch):
    monkeypatch.delenv("PYGPU_DISABLE_CACHE", raising=False)
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path / "cache"))
    made = []
    monkeypatch.setattr(
        host.Host, "make", lambda self, job, *_: made.append(job.options) or Entry(b"image", "", {})
    )
    users = build.Request("__global__ void f() {}")
    request = build.Request("__global__ void f() {}", tuned=True)
    for lines, count in (
        (f"flags : {FIRST}\n", 1),
        ("flags : fpu\n", 2),
        (f"flags : {FIRST}\n", 2),
    ):
        machine("x86_64", lines)
        build.build(request)
        assert len(made) == count
    build.build(users)
    assert "-mavx2" in made[0].processor and made[2].processor == ()
