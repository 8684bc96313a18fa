"""The table of differences in docs/amd.md: each row names a test that is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "amd.md").read_text()
TABLE = TEXT.partition("## What differs from CUDA")[2].partition("\nPyGPU's own")[0]
ROWS = [line.split("|")[1:-1] for line in TABLE.splitlines() if line.startswith("| ")][1:]


def test_there_are_rows():
    assert len(ROWS) > 15 and all(len(row) == 3 for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_each_row_has_its_test(row):
    path, _, name = re.search(r"`(.+)`", row[2]).group(1).partition("::")
    text = (ROOT / path).read_text()
    assert not name or re.search(rf"^def {name}\(", text, re.M), f"{path} has no {name}"
