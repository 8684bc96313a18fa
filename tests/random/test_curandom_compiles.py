"""The texts of the random number generators compile for GPUs, with the vendors' headers too."""

import re

import needs
import pytest
from everywhere import by_backend

from PyGPU._compile.compilers import build as _build
from PyGPU._random import curand, philox, pseudo, sobol

pytestmark = pytest.mark.no_device

PHILOX = [
    *[(name, code) for name in ("uniform", "normal", "log_normal") for code in ("f2", "f4", "f8")],
    *[("bits", "u4"), ("bits", "u8"), ("half_open", "f4"), ("poisson", "u4"), ("poisson_of", "f8")],
]
TEXTS = {
    **{f"philox {name} {code}": philox.text(name, code) for name, code in PHILOX},
    "sobol 32": sobol.text(32),
    "sobol 64": sobol.text(64),
    "XORWOW": pseudo.text("pygpu", "XORWOW", pseudo.SKIPS[:2]),
    "MRG32k3a": pseudo.text("pygpu", "MRG32k3a", pseudo.SKIPS),
}
FEW = ["philox log_normal f8", "philox uniform f2", "sobol 64", "XORWOW", "MRG32k3a"]


def compiled(text, prefix, arch, want="cubin", include_dirs=()):
    needs.compiler(prefix)
    request = _build.Request(text, arch=arch, extern_c=False, want=want, cache_dir=False)
    options = ["-w", *(f"-I{folder}" for folder in include_dirs)] if include_dirs else []
    entry = by_backend({"nvrtc": "cuda", "hiprtc": "hip"}[prefix], request, options, arch)
    assert entry.log == "", "kernels compile without warnings"
    return entry.image


@pytest.mark.parametrize("name", FEW[1:])
def test_for_nvidia(name):
    assert compiled(TEXTS[name], "nvrtc", "sm_75").startswith(b"\x7fELF")


@pytest.mark.parametrize("name", FEW)
def test_for_amd(name):
    assert compiled(TEXTS[name], "hiprtc", "gfx90a")


@pytest.mark.parametrize("name", [name for name in TEXTS if name.startswith("philox")])
def test_philox_stores_sixteen_bytes_at_once(name):
    """One wide store for each of a thread's counters."""
    image = compiled(TEXTS[name], "nvrtc", "sm_90", want="ptx").decode()
    stores = re.findall(r"st\.global\.(v\d)\.\w(\d+)", image)
    if "poisson" in name:
        assert stores == []
        return
    width = 64 if "normal f2" in name else 128
    assert [int(many[1:]) * int(bits) for many, bits in stores] == [width] * 2


@pytest.mark.parametrize(("name", "skips"), [("XORWOW", pseudo.SKIPS[:2])])
def test_with_curands_header(name, skips, monkeypatch):
    monkeypatch.setattr(curand.capabilities, "compiles_vendor_headers", True)
    folders = curand.include_dirs.__wrapped__()
    if folders is None:
        needs.missing("curand", "curand_kernel.h or NVRTC is not found")
    text = pseudo.text("curand", name, skips)
    assert compiled(text, "nvrtc", "sm_90", include_dirs=folders).startswith(b"\x7fELF")
