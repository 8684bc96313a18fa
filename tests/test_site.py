"""The site: its reference has every public name, and its pages lead to files that exist."""

import collections
import importlib
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from urllib.parse import unquote

import needs
import public_api
import pytest

from PyGPU.__main__ import COMMANDS

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
        for module in reference_pages.MODULES
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
    for module in reference_pages.MODULES:
        for title, names in reference_pages.tables(module):
            assert title != "Further names" or len(names) <= 3, names


def test_every_exception_has_a_cause_and_a_remedy():
    rows = re.findall(r"^\| `(\w+)`.*? \| (.+) \| (.+) \|$", (DOCS / "errors.md").read_text(), re.M)
    listed = {name for name, *_ in rows}
    exceptions = {
        thing.__name__
        for thing in public_api.objects().values()
        if isinstance(thing, type) and issubclass(thing, BaseException)
    }
    assert listed >= exceptions, exceptions - listed


def test_every_command_is_on_its_page():
    text = (DOCS / "command_line.md").read_text()
    assert set(re.findall(r"^\| `(\w+)", text, re.M)) == set(COMMANDS)


@pytest.fixture
def gallery_cache(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("gallery_cache")


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("PyGPU/new.py", True),
        ("PyGPU/_compile/new.py", True),
        ("include/PyGPU/new.h", True),
        ("src/core/new.cpp", True),
        ("setup.py", True),
        ("docs/new.md", False),
        ("tests/new.py", False),
        ("PyGPU/_host.so", False),
    ],
)
def test_the_gallery_is_that_of_pygpus_sources(gallery_cache, monkeypatch, tmp_path, path, counts):
    monkeypatch.setattr(gallery_cache.importlib.metadata, "version", lambda name: "1")
    before = gallery_cache.digest(tmp_path)
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("new")
    assert (gallery_cache.digest(tmp_path) != before) == counts
    monkeypatch.setattr(gallery_cache.importlib.metadata, "version", lambda name: "2")
    assert gallery_cache.digest(tmp_path) != before


CONF = """
import sys
sys.path.insert(0, {docs!r})
import gallery_cache
from pathlib import Path
here = Path({folder!r})
gallery_cache.forget_stale(here / "gallery", gallery_cache.digest(here))
extensions = ["sphinx_gallery.gen_gallery"]
project = "P"
sphinx_gallery_conf = dict(examples_dirs="programs", gallery_dirs="gallery")
"""


def test_a_second_build_runs_the_programs_that_changed(tmp_path):
    needs.module("sphinx_gallery")
    log = tmp_path / "log"
    for name in ("a", "b"):
        text = f'"""\nTitle\n=====\n"""\nopen({str(log)!r}, "a").write({name!r})\n'
        made = tmp_path / "programs" / f"plot_{name}.py"
        made.parent.mkdir(exist_ok=True)
        made.write_text(text)
    (tmp_path / "programs" / "GALLERY_HEADER.rst").write_text("Programs\n========\n")
    (tmp_path / "index.rst").write_text("P\n=\n\n.. toctree::\n\n   gallery/index\n")
    (tmp_path / "conf.py").write_text(CONF.format(docs=str(DOCS), folder=str(tmp_path)))

    def ran():
        log.write_text("")
        words = [sys.executable, "-m", "sphinx", "-q", str(tmp_path), str(tmp_path / "html")]
        subprocess.run(words, check=True)
        return log.read_text()

    assert ran() == "ab" and ran() == ""
    with open(tmp_path / "programs" / "plot_b.py", "a") as program:
        program.write("\n#########\n# More.\nx = 1\n")
    assert ran() == "b"
    (tmp_path / "PyGPU").mkdir()
    (tmp_path / "PyGPU" / "new.py").write_text("")
    assert ran() == "ab" and ran() == ""


@pytest.fixture(scope="module")
def built():
    """The folder of the built site, which .ci/site names."""
    folder = os.environ.get("PYGPU_SITE")
    if not folder:
        pytest.skip("PYGPU_SITE names no folder with the built site; .ci/site builds one")
    return Path(folder)


def test_the_site_documents_every_public_name(built):
    """Sphinx's inventory lists the objects that the pages document."""
    data = (built / "objects.inv").read_bytes()
    header, lines = data.split(b"zlib.\n")
    assert header.startswith(b"# Sphinx inventory version 2")
    listed = {line.split()[0] for line in zlib.decompress(lines).decode().splitlines()}
    wanted = set()
    for path, thing in public_api.objects().items():
        members = public_api.members(path, thing) if isinstance(thing, type) else ()
        wanted |= {path, *(member for member, _ in members)}
    assert not wanted - listed, sorted(wanted - listed)[:20]


def test_the_site_links_to_files_that_it_has(built):
    missing = set()
    for page in built.rglob("*.html"):
        text = re.sub(r"<pre>.*?</pre>", "", page.read_text(), flags=re.S)
        for link in re.findall(r'(?:href|src)="([^"#?]+)', text):
            if not re.match(r"[a-z]+:", link) and not (page.parent / unquote(link)).exists():
                missing.add((str(page.relative_to(built)), link))
    assert not missing, sorted(missing)[:20]


def test_the_site_shows_a_picture_of_every_program_of_the_gallery(built):
    for program in (ROOT / "examples" / "gallery").glob("plot_*.py"):
        text = (built / "gallery" / f"{program.stem}.html").read_text()
        assert f"_images/sphx_glr_{program.stem}_001.png" in text, program.name


def test_the_search_finds_a_function(built):
    assert "memcpy_htod" in (built / "searchindex.js").read_text()
