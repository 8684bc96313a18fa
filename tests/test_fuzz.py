"""tests/fuzz.py finds what differs from NumPy, and makes it short; what rounding may change."""

import fuzz
import numpy as np
import pytest
from fuzz_programs import Step

from PyGPU.gpuarray import to_gpu

PROGRAM = [
    Step("v0 = put(np.resize(np.array([1, 2, 5, 3], 'h'), (2, 4)))", "v0"),
    Step("v1 = put(np.resize(np.array([7], 'h'), (4,)))", "v1"),
    Step("v2 = v0.T", "v2"),
    Step("v1[::2] = 4", "v1"),
]


def without_fives(array):
    return to_gpu(np.where(array == 5, 6, array).astype(array.dtype))


def test_a_program_that_does_as_numpy():
    assert fuzz.replay(PROGRAM) is None
    assert fuzz.shrunk(PROGRAM) == PROGRAM


def test_a_fault_is_found_and_made_short(monkeypatch, capsys):
    monkeypatch.setattr(fuzz, "to_gpu", without_fives)
    assert "other values" in str(fuzz.replay(PROGRAM))
    (step,) = fuzz.shrunk(PROGRAM)
    assert step.text == "v0 = put(np.resize(np.array([ 5], 'h'), (1,1)))"
    exec(fuzz.script([step]), {})
    assert capsys.readouterr().out == (
        "NumPy: array([[5]], dtype=int16)\nPyGPU: array([[5]], dtype=int16)\n"
    )


def test_a_statement_that_changes_another_variable(monkeypatch):
    first = []

    def always_the_first(array):
        first[:] = first or [to_gpu(array)]
        return first[0]

    monkeypatch.setattr(fuzz, "to_gpu", always_the_first)
    steps = [Step(f"v{k} = put(np.resize(np.array([1], 'h'), (4,)))", f"v{k}") for k in (0, 1)]
    steps.append(Step("v1[...] = 3", "v1"))
    assert "v0 at the end" in str(fuzz.replay(steps))


def test_what_both_refuse_is_left_out():
    both = fuzz.Both()
    for step in (*PROGRAM[:2], Step("v2 = v0[9]", "v2"), Step("v2 = v0 + v1[:3]", "v2")):
        both.run(step)
    assert (both.steps, both.refused) == (PROGRAM[:2], 2)
    both.ours["v0"] = to_gpu(np.zeros(9))
    with pytest.raises(fuzz.Mismatch, match="NumPy raises IndexError"):
        both.run(Step("v2 = v0[8]", "v2"))


def test_rounding():
    one = np.array([1, 0, np.inf, np.nan], "f4")
    next_one = np.array([1 + 2**-23, 1e-45, np.inf, np.nan], "f4")
    assert not fuzz.difference(one, one, 0, None)
    assert fuzz.difference(next_one, one, 0, None) and fuzz.difference(next_one, one, 0.5, None)
    assert not fuzz.difference(next_one, one, 1, None)
    assert fuzz.difference(-one, one, 16, None) and fuzz.difference(one.astype("f8"), one, 16, None)
    zero = np.zeros(1)
    assert fuzz.difference(-zero, zero, 0, None) and not fuzz.difference(-zero, zero, 0.5, None)
    assert not fuzz.difference(zero + 1e-13, zero, 4, np.array([1000.0]))
    assert fuzz.difference(zero + 1e-11, zero, 4, np.array([1000.0]))


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="needs NumPy 2")
def test_some_programs(capsys):
    assert fuzz.main(["--seed", "1", "--most", "5"]) == 0
    assert "seed 1, " in capsys.readouterr().out
