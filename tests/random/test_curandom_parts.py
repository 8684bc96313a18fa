"""Philox: an array filled in parts is the array filled at once, wherever a part begins and ends,
and nothing beside a part is written."""

import numpy as np
import pytest

from PyGPU import gpuarray
from PyGPU._random import philox

KEY, SEQUENCE, MARK = 0xF8E7D6C5B4A39281, 3, 77
BORDERS = (0, 1, 2, 3, 7, 8, 9, 511, 2047, 4096, 16383, 16384, 16385, 32768)


def words_of_one(distribution, code):
    """How many words of 32 bits a number takes."""
    return 1 if (code == "f2" and "normal" in distribution) else np.dtype(code).itemsize / 4


@pytest.mark.parametrize(("distribution", "code"), philox._KINDS)
def test_parts(distribution, code):
    parameters = (0.0, 1.0) if distribution == "log_normal" else ()
    whole = gpuarray.empty(40_000, code)
    philox.fill_words(distribution, code, whole, KEY, 0, SEQUENCE, parameters)
    expected, rng = whole.get(), np.random.default_rng(5)
    for start in BORDERS:
        count, before = int(rng.choice((1, 2, 5, 16, 4095, 16384, 7000))), int(rng.integers(9))
        start += start % 2 if code == "f2" else 0  # whole words
        around = gpuarray.empty(before + count + 8, code)
        around.fill(MARK)
        word = int(start * words_of_one(distribution, code))
        part = around[before : before + count]
        philox.fill_words(distribution, code, part, KEY, word, SEQUENCE, parameters)
        got = around.get()
        np.testing.assert_array_equal(got[before : before + count], expected[start : start + count])
        assert (got[:before] == MARK).all() and (got[before + count :] == MARK).all()
