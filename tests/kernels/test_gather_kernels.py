"""The kernels of indexing and of ranges: they compile everywhere, and run on the arrays' device."""

import pytest
from everywhere import COMPILERS, build, require
from kernel_sources import Text

from PyGPU._arrays import ranges
from PyGPU._kernels import moves

BY_INT = ("int", 1)
FORMS = {
    "rows": moves.Form(16, 1, False, False, (BY_INT,), "raise"),
    "both sides": moves.Form(2, 3, True, False, (BY_INT, ("long long", 2)), "wrap"),
    "masked": moves.Form(4, 6, False, True, (("unsigned int", 3),), "clip"),
}
TEXTS = {
    **{name: moves.source(form) for name, form in FORMS.items()},
    "check": moves.check_source("unsigned int"),
    **{f"range {kind}{n}": ranges.range_source(kind, n) for kind, n in [("u", 8), ("f", 2)]},
}


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS[1:3], ids=lambda value: value)
@pytest.mark.parametrize("name", TEXTS)
def test_compiles(name, prefix, backend, arch):
    require(prefix)
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
