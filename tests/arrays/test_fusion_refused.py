"""PyGPU.fuse: what cannot be part of a kernel is an error that names the line."""

import re
from sys import version_info

import fusion_tools
import numpy as np
import pytest
from fusion_tools import X

import PyGPU
from PyGPU import TraceError, cumath, errors, gpuarray

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

a, b = fusion_tools.a, fusion_tools.b  # the fixtures


CASES = [
    ("if a > 0: pass", "numpy.where"),
    ("while a.any(): pass", "any .* cannot be traced"),
    ("float(a)", "the elements are not known"),
    ("int(a)", "the elements are not known"),
    ("len(a)", "of any shape"),
    ("a.shape", "of any shape"),
    ("[x for x in a]", "index the arrays before"),
    ("a[0]", "index the arrays before"),
    ("a[0] = 1", "index the arrays before"),
    ("a.sum()", "sum of an array cannot be traced"),
    ("np.sum(a)", "numpy.sum is not element-wise"),
    ("np.add.reduce(a)", "numpy.add.reduce is not element-wise"),
    ("gpuarray.sum(a)", "a function that is not element-wise, or reads"),
    ("a.get()", "get of an array"),
    ("a += 1", "write a = a [+] b"),
    ("a.reshape(12)", "reshape of an array"),
    ("a.T", "T of an array"),
    ("a.fill(1)", "fill of an array"),
    ("a @ a", "@ is not element-wise"),
    ("a + OTHER", "is not an argument of the fused function"),
    ("OTHER + a", "is not an argument of the fused function"),
    ("np.where(OTHER, a, 1)", "is not an argument of the fused function"),
    ("a + X", "numpy.ndarray"),
    ("a + 'text'", "unsupported operand"),
    ("np.add(a, 1, out=a)", "out= is an argument of the fused function"),
    ("cumath.sin(a, stream=1)", "stream= is an argument of the fused function"),
    ("np.sort(a)", "numpy.sort is not element-wise"),
    ("np.sin(a.astype('?'), dtype='i4')", "sin is not defined"),
    ("np.asarray(a)", "GPUArray|__array__"),
]
if version_info >= (3, 10):  # Python tells what lacks the attribute
    CASES.append(("a.undefined", "'GPUArray' object has no attribute 'undefined'"))


class TestWhatCannotBeTraced:
    @pytest.mark.parametrize(("line", "text"), CASES, ids=[line for line, _ in CASES])
    def test_the_error_names_the_line(self, a, tmp_path, line, text):
        path = tmp_path / "theirs.py"
        path.write_text(f"def f(a):\n    b = a + 1\n    {line}\n    return b\n")
        names = {"np": np, "gpuarray": gpuarray, "cumath": cumath, "OTHER": a, "X": X}
        exec(compile(path.read_text(), path, "exec"), names)
        with pytest.raises(TraceError, match=text) as caught:
            PyGPU.fuse(names["f"])(a)
        said = re.escape(f'File "{path}", line 3, in ') + r"(f|<listcomp>)\n    " + re.escape(line)
        assert re.search(said + "$", str(caught.value))

    def test_a_symbol_that_was_kept(self, a):
        kept = []
        PyGPU.fuse(lambda a: kept.append(a) or a + 1)(a)
        with pytest.raises(TraceError, match="used after the end of its trace"):
            kept[0] + 1
        with pytest.raises(TraceError, match="belongs to the trace of another function"):
            PyGPU.fuse(lambda a: a + kept[0])(a)

    def test_more_than_a_kernel_takes(self, a):
        f = PyGPU.fuse(lambda *some: sum(some))
        np.testing.assert_array_equal(f(*[a] * 8).get(), 8 * X)
        with pytest.raises(TraceError, match=r"9 arrays and numbers: a kernel takes 8(.|\n)*line"):
            f(*[a] * 9)

        def long(a):
            for _ in range(1000):
                a = a + 1
            return a

        with pytest.raises(TraceError, match=r"more than 512 operations(.|\n)*a = a \+ 1"):
            PyGPU.fuse(long)(a)

    def test_errors_of_the_function_are_its_own(self, a):
        with pytest.raises(KeyError):
            PyGPU.fuse(lambda a: {}["x"])(a)
        with pytest.raises(AttributeError, match="'dict' object has no attribute 'undefined'"):
            PyGPU.fuse(lambda a: {}.undefined)(a)
        assert PyGPU.fuse(lambda a: a + hasattr(a, "undefined"))(a).get().sum() == X.sum()
        with pytest.raises(TypeError, match="missing 1 required positional"):
            PyGPU.fuse(lambda a, b: a + b)(a)
        with pytest.raises(errors.ShapeError):
            PyGPU.fuse(lambda a, b: a + b)(a, a[:, :3])

    def test_what_is_no_function(self):
        with pytest.raises(TypeError, match="function: expected a callable, got 3"):
            PyGPU.fuse(3)
        with pytest.raises(TypeError, match=r"has parameters \['out'\]"):
            PyGPU.fuse(lambda a, out=None: a)
