"""The kernels of indexing: they compile everywhere, and run on the arrays' device."""

import pytest
from everywhere import COMPILERS, build, require
from kernel_sources import Text

from PyGPU._kernels.text import compaction, gather

FORMS = {
    "rows": (16, 1, False, False, ("int32",), (1,), "raise", 256, 4),
    "reported": (4, 2, False, False, ("int64",), (2,), "report", 256, 1),
    "reported, several words": (4, 2, False, False, ("int64",), (2,), "report", 256, 4),
    "polled": (4, 1, False, False, ("uint32",), (1,), "poll", 256, 4),
    "a polled block": (4, 1, False, False, ("uint32",), (1,), "poll block", 1024, 1),
    "behind a check": (4, 1, False, False, ("uint32",), (1,), "checked", 256, 4),
    "both sides": (2, 3, True, False, ("int32", "int64"), (1, 2), "wrap", 256, 4),
    "a run": (16, 2, False, False, ("int32",), (1,), "report", 1, 4096),
    "a masked run": (4, 3, True, True, ("int64",), (2,), "wrap", 1, 4096),
    "masked": (4, 6, False, True, ("uint32",), (3,), "clip", 256, 4),
}
TEXTS = {
    **{name: gather.source(*form) for name, form in FORMS.items()},
    "mask, 32": compaction.one_block(4, 32, 1024),
    "mask, 64": compaction.one_block(16, 64, 1024),
    "mask, one thread": compaction.one_block(1, 32, 1),
    "join": gather.join_source(3, 16, 0),
    "join, bytes": gather.join_source(8, 1, 0),
    "join in turn": gather.join_source(2, 4, 2),
    "join in turn, bytes": gather.join_source(3, 1, 16),
    "join in turn, not aligned": gather.join_source(2, 16, 1),
    "check": gather.check_source("uint32", 256, 8, polled=False),
    "polled check": gather.check_source("uint32", 256, 8, polled=True),
}


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS[1:3], ids=lambda value: value)
@pytest.mark.parametrize("name", TEXTS)
def test_compiles(name, prefix, backend, arch):
    require(prefix)
    if name == "mask, 64" and prefix == "nvrtc":
        pytest.skip("NVIDIA's warps have 32 lanes")
    assert build(Text(TEXTS[name], extern_c=False), backend, arch).log == ""


PROGRAM = """
import numpy as np, PyGPU
from PyGPU.gpuarray import concatenate, multi_take, put, stack, take, to_gpu

def device_of(array):
    return PyGPU.cudaPointerGetAttributes(array)[0]["device"]

x = np.arange(12.0).reshape(3, 4)
assert not PyGPU.cudaSetDevice(1)
there = to_gpu(x)
index = to_gpu(np.array([2, 0]))
assert not PyGPU.cudaSetDevice(0)
for made, expected in [
    (there[index], x[[2, 0]]),
    (there[x > 5], x[x > 5]),
    (take(there, index), x.take([2, 0])),
    (multi_take([there], [2, 0])[0], x.take([2, 0])),
    (concatenate([there, there]), np.concatenate([x, x])),
    (stack([there, there]), np.stack([x, x])),
    (there.reverse(), x[::-1, ::-1]),
]:
    assert device_of(made) == 1
    assert (made.get() == expected).all()
there[[0, 1]] = 5.0
put(there, [0], 6.0)
x[[0, 1]] = 5
x[0, 0] = 6
assert (there.get() == x).all()
assert PyGPU.cudaGetDevice() == (0, 0)
"""


def test_two_devices_have_their_own(two_devices):
    two_devices(PROGRAM)
