"""The tables of docs/amd.md: rows of differences name a test, and every named test exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "amd.md").read_text()
TEST = re.compile(r"`(tests/[^`\s]+?\.(?:py|cpp)(?:::\w+)?)`")


def section(heading):
    return TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(heading):
    """Cells of each row of a section's tables, without the rows above the dashes."""
    lines = section(heading).splitlines()
    heads = {above for above, below in zip(lines, lines[1:]) if below.startswith("|---")}
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in lines
        if line.startswith("| ") and line not in heads
    ]


DIFFERENCES = rows("What differs from CUDA")
MET = rows("What ROCm users meet")


def assert_exists(test):
    path, _, name = test.partition("::")
    text = (ROOT / path).read_text()
    assert not name or re.search(rf"^def {name}\(", text, re.M), f"{path} has no {name}"


def test_there_are_rows():
    assert len(DIFFERENCES) > 15 and all(len(row) == 3 for row in DIFFERENCES)
    assert len(MET) > 30 and all(len(row) == 4 for row in MET)


@pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: row[0])
def test_each_row_has_its_test(row):
    assert_exists(TEST.fullmatch(row[2]).group(1))


@pytest.mark.parametrize("row", MET, ids=lambda row: row[0])
def test_each_row_has_a_test_or_says_that_it_has_none(row):
    test = TEST.fullmatch(row[3])
    if test:
        assert_exists(test.group(1))
    else:
        assert re.match("unknown|by hand", row[3])


def test_links_within_the_page():
    headings = re.findall(r"^##+ (.+)$", TEXT, re.M)
    anchors = {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings}
    assert set(re.findall(r"\]\(#(.+?)\)", TEXT)) <= anchors
