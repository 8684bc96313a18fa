"""Docstrings of the low level: every function and class has examples, and they run."""

import inspect

import pytest

import PyGPU
from PyGPU._runtime import core

FAMILIES = (
    "pointer_wrapper",
    "Allocator",
    "HostAllocator",
    "DeviceAllocator",
    "PagelockedAllocator",
    "DeviceArray",
)
NAMES = [
    name
    for name, value in vars(PyGPU).items()
    if callable(value) and name.startswith(("cuda", *FAMILIES))
]

RUN = f"""
import doctest, sys
import PyGPU
parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
for name in {NAMES}:
    runner.run(parser.get_doctest(getattr(PyGPU, name).__doc__, {{}}, name, None, 0))
results = runner.summarize(verbose=False)
assert results.attempted > {2 * len(NAMES)}
sys.exit(results.failed)
"""


@pytest.mark.no_device
@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_has_a_summary_and_examples(name):
    doc = inspect.cleandoc(getattr(PyGPU, name).__doc__)
    summary = doc.splitlines()[0]
    assert summary.endswith(".") and not summary.startswith(f"{name}(")
    assert "\nExamples\n--------\n>>> " in doc


def test_the_examples_run(python):
    if core.target != "host":
        pytest.skip("the examples show what the host machine returns")
    python(RUN)  # in another process, because cudaDeviceReset has an example, too
