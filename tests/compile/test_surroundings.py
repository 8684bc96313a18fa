"""Compilation where the locale or the cache's folder is not what one expects."""

import pytest

import PyGPU

pytestmark = pytest.mark.skipif(
    PyGPU.target != "host", reason="about the files that the host's compiler reads"
)

PROGRAM = """
import numpy as np
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
out = gpuarray.zeros(1, np.int32)
text = '/* \\u03a9 */ __global__ void f(int *x) { *x = sizeof("\\u00fc"); }'
SourceModule(text).get_function("f")(out, block=(1, 1, 1))
assert (out + 1).get() == [4], out
"""


@pytest.mark.parametrize("locale", ["POSIX", "C.UTF-8"])
def test_a_text_is_utf_8_in_every_locale(python, cache, locale):
    variables = {"LC_ALL": locale, "PYTHONCOERCECLOCALE": 0, "PYTHONUTF8": 0}
    python(PROGRAM, PYGPU_CACHE_DIR=cache, **variables)


def test_a_cache_whose_folder_cannot_be_looked_at(python, tmp_path):
    """Like a HOME that the user may not enter; it costs a compilation and nothing else."""
    python(PROGRAM, PYGPU_CACHE_DIR=tmp_path / ("long" * 100))
