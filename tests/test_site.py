"""The site: its reference has every public name, and its pages lead to files that exist."""

import collections
import re
import sys
from pathlib import Path

import public_api
import pytest

pytestmark = pytest.mark.no_device

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def reference_pages():
    sys.path.insert(0, str(DOCS))
    try:
        import reference_pages
    finally:
        sys.path.remove(str(DOCS))
    return reference_pages


def test_every_public_name_is_in_one_table(reference_pages):
    listed = collections.Counter(
        f"{module}.{name}"
        for module in reference_pages.TITLES
        for name in re.findall(r"^   (\w+)$", reference_pages.page(module), re.M)
    )
    assert listed == collections.Counter(public_api.objects().keys())


def test_every_public_name_has_a_page_with_its_members(reference_pages):
    pages = reference_pages.pages()
    for path, thing in public_api.objects().items():
        text = pages[f"api/{path}.rst"]
        members = (
            [member for member, _ in public_api.members(path, thing)]
            if isinstance(thing, type)
            else []
        )
        documented = re.findall(r"^   \.\. auto(?:method|attribute):: ([\w.]+)$", text, re.M)
        assert (
            re.search(r"^\.\. auto(class|exception|function):: (\w+)$", text, re.M)[2]
            == (path.rpartition(".")[2])
        )
        assert sorted(documented) == sorted(
            ".".join(member.rsplit(".", 2)[1:]) for member in members
        )


def test_further_names_are_few(reference_pages):
    """A new public name belongs into a group of its module."""
    for module in reference_pages.TITLES:
        for title, names in reference_pages.tables(module):
            assert title != "Further names" or len(names) <= 3, names
