"""fill() with numbers: the bytes of each element, and nothing beside the array."""

import numpy as np
import pytest

import PyGPU
from PyGPU import gpuarray

NUMBERS = {"b": [True, False], "u": [0, 1, 255], "i": [0, -1, 1, 77], "f": [0, -0.0, 1.5, np.nan]}
NUMBERS["c"] = [0, complex(1.5, -0.0), complex(1.5, 1.5), complex(np.nan, 2)]
PARTS = {
    "all": lambda a: a,
    "rows": lambda a: a[2:4],
    "columns": lambda a: a[:, 1:3],
    "transposed": lambda a: a.T,
    "backwards": lambda a: a[::-1, ::-1],
    "one": lambda a: a[3:4, 2:3],
    "none": lambda a: a[3:3],
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dtype", PyGPU.SUPPORTED_DTYPES)
def test_the_elements_of_a_part_become_the_number(dtype, part):
    for number in NUMBERS[np.dtype(dtype).kind]:
        host = np.full((6, 5), 2, dtype)
        array = gpuarray.to_gpu(host)
        PARTS[part](array).fill(number)
        PARTS[part](host)[...] = number
        assert array.get().tobytes() == host.tobytes(), number
