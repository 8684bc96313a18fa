"""docs/architecture.md and its picture show the code as it is."""

import importlib.util
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_device

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text()


def test_the_picture_is_up_to_date():
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "docs/architecture.py")
    drawing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drawing)
    assert drawing.PICTURE.read_text() == drawing.svg(), "run: python docs/architecture.py"


NAMED = set(re.findall(r"`((?:PyGPU|src|include|tests|docs)/[\w./*]+)`", PAGE))
NAMED = {name for name in NAMED if "NAME" not in name}  # of a target to come


@pytest.mark.parametrize("name", sorted(NAMED))
def test_the_files_that_it_names_exist(name):
    assert list(ROOT.glob(name.rstrip("/")))


def test_every_package_is_in_the_tree():
    packages = {path.parent.name for path in (ROOT / "PyGPU").glob("*/__init__.py")}
    missing = {name for name in packages if f"`PyGPU/{name}/`" not in PAGE}
    assert missing <= {"_as_pycuda"}  # a name for others, not a layer
    assert {path.name for path in (ROOT / "src").iterdir()} <= set(re.findall(r"src/(\w+)/", PAGE))
