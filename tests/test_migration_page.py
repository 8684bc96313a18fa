"""docs/migration.md: every "after" runs, and every "before" is of yesterday."""

import re
from pathlib import Path

import pytest

import PyGPU

PAGE = Path(__file__).resolve().parent.parent / "docs" / "migration.md"
TEXT = PAGE.read_text("utf-8")
HEADING = re.compile(r"^#+ (.*)$", re.M)
FENCE = re.compile(r"^```python (before|after|setup)\n(.*?)^```$", re.M | re.S)


def blocks():
    """[(heading, kind, text)], in the order of the page."""
    found = []
    for match in FENCE.finditer(TEXT):
        heading = HEADING.findall(TEXT[: match.start()])[-1]
        found.append((heading, match[1], match[2]))
    return found


BLOCKS = blocks()
SETUP = [text for _, kind, text in BLOCKS if kind == "setup"]
AFTER = [(heading, text) for heading, kind, text in BLOCKS if kind == "after"]
BEFORE = [(heading, text) for heading, kind, text in BLOCKS if kind == "before"]


@pytest.fixture
def program():
    """program(text): run it behind the page's beginning, with PyGPU as pycuda."""
    with PyGPU.install_as_pycuda():

        def run(text):
            names = {}
            exec(SETUP[0], names)
            exec(text, names)

        yield run


@pytest.mark.parametrize("heading, text", AFTER, ids=[heading for heading, _ in AFTER])
def test_what_stands_after(program, heading, text):
    program(text)


@pytest.mark.parametrize("heading, text", BEFORE, ids=[heading for heading, _ in BEFORE])
def test_what_stood_before(program, heading, text):
    """It fails, or warns, which is an error in these tests."""
    if heading == "Options of nvcc" and PyGPU.target == "host":
        pytest.skip("the host machine has no architectures")
    if heading == "Threads of a warp" and PyGPU.target != "cuda":
        pytest.skip("NVIDIA's compiler alone lacks a warp's functions without a mask")
    with pytest.raises(Exception):  # noqa: B017, of many kinds
        program(text)


@pytest.mark.no_device
def test_each_before_has_an_after():
    assert len(SETUP) == 1 and len(BEFORE) >= 20
    kinds = [(heading, kind) for heading, kind, _ in BLOCKS]
    for here, behind in zip(kinds, kinds[1:]):
        if here[1] == "before":
            assert behind == (here[0], "after"), here
    assert kinds[-1][1] == "after"


@pytest.mark.no_device
def test_all_of_its_programs_are_run():
    fences = re.findall(r"^```(.+)$", TEXT, re.M)
    assert set(fences) == {"sh", "python before", "python after", "python setup"}


@pytest.mark.no_device
def test_links_to_it():
    for page in ("README.md", "docs/pycuda.md"):
        assert "migration.md" in (PAGE.parent.parent / page).read_text("utf-8"), page
