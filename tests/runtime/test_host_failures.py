"""Each call of the runtime fails in turn, on the host machine: clean errors, nothing leaked."""

import pytest


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("kinds", "devices"), [(["cold", "warm"], 1), (["warm"], 2)], ids=["one device", "two devices"]
)
def test_whatever_call_fails_ends_in_an_exception_and_leaks_nothing(python, kinds, devices):
    """Also as a whole: what is live in the end is what is live where nothing failed."""
    program = "import failing_calls; failing_calls.report({})"
    settings = {"PYGPU_TARGET": "host", "PYGPU_HOST_DEVICES": devices}
    done = python(program.format(kinds), **settings)
    plain = python(program.format([]), **settings)
    assert done.stdout.splitlines()[-1] == plain.stdout.strip()
    lines = set(done.stderr.splitlines())  # of destructors, which cannot raise
    assert all(line.startswith("PyGPU: releasing ") for line in lines), lines


def test_the_call_that_fails_may_be_chosen(python):
    text = """
import PyGPU
print([PyGPU.cudaMalloc(100)[-1].code for _ in range(4)], PyGPU.cudaMemGetInfo()[-1].code)
print([PyGPU.cudaDeviceSynchronize().code for _ in range(3)])
"""
    for wanted, codes in (
        ("3:cudaMalloc", "[0, 0, 2, 0] 0\n[0, 0, 0]\n"),
        ("2:cudaDeviceSynchronize", "[0, 0, 0, 0] 0\n[0, 999, 0]\n"),
        ("", "[0, 0, 0, 0] 0\n[0, 0, 0]\n"),
    ):
        done = python(text, PYGPU_TARGET="host", PYGPU_HOST_FAIL=wanted)
        assert done.stdout == codes and done.stderr == "", wanted
