"""Configuration of the site: sphinx-build -W docs docs/_build (the extra `site` has the packages).

The build runs on the host machine. `reference_pages.py` writes the pages of the reference first.
Where ``docs/gallery`` is kept, the next build runs only the programs of the gallery that have
changed, or all if PyGPU has: `gallery_cache.py`.
"""

import os
import sys
import urllib.request
from pathlib import Path

DOCS = Path(__file__).resolve().parent
os.environ["PYGPU_TARGET"] = "host"
sys.path[:0] = [str(DOCS), str(DOCS.parent / "tests" / "support")]

import gallery_cache  # noqa: E402
import reference_pages  # noqa: E402
import shown_pages  # noqa: E402

import PyGPU  # noqa: E402

project = "PyGPU"
author = "The PyGPU developers"
copyright = "The PyGPU developers"
version = release = PyGPU.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "**/GALLERY_HEADER.rst"]

# Names of PyGPU that lead nowhere are errors of the build.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!PyGPU\b|cuda[A-Z]).*")]
default_role = "autolink"

autosummary_generate = False
autodoc_typehints = "none"
numpydoc_show_class_members = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

copybutton_exclude = ".linenos, .gp, .go"

# A program of the gallery runs at the build if it, or PyGPU, has changed since the last one; a
# program that fails fails the build.
gallery_cache.forget_stale(DOCS / "gallery", gallery_cache.digest(DOCS.parent))
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "doc_module": ("PyGPU",),
    "reference_url": {"PyGPU": None},
}

html_theme = "furo"
html_title = "PyGPU"
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


def inventories(addresses, seconds=5):
    """Return intersphinx's mapping of those inventories that can be fetched.

    Names of other projects are plain text where their inventory cannot be reached.
    """
    found = {}
    for name, address in addresses.items():
        path = DOCS / "_build" / "inventories" / f"{name}.inv"
        if not path.exists():
            try:
                with urllib.request.urlopen(f"{address}objects.inv", timeout=seconds) as answer:
                    text = answer.read()
            except OSError as error:
                print(f"no links to {address}: {error}")
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        found[name] = (address, str(path))
    return found


intersphinx_mapping = inventories(
    {
        "python": "https://docs.python.org/3/",
        "numpy": "https://numpy.org/doc/stable/",
    }
)

reference_pages.write(DOCS / "reference")


def resolve_spelling(app, env, node, text):
    """Return the link of a name that several modules export, such as PyGPU.load."""
    path = reference_pages.SPELLINGS.get(node.get("reftarget"))
    if node.get("refdomain") != "py" or path is None:
        return None
    python = env.get_domain("py")
    return python.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], path, node, text)


NAVIGATION = {}


def share_navigation(app, name, template, context, doctree):
    """Build the navigation of the pages of names once: it is the same on all of them.

    To build it for each page takes a quarter of the site's time.
    """
    build = context.get("toctree")
    if name.startswith("reference/api/") and build:

        def shared(**options):
            key = tuple(sorted(options.items()))
            if key not in NAVIGATION:
                NAVIGATION[key] = build(**options)
            return NAVIGATION[key]

        context["toctree"] = shared


def setup(app):
    """Connect the functions above."""
    app.connect("html-page-context", share_navigation, priority=400)  # before furo's
    app.connect("missing-reference", resolve_spelling)
    app.connect("source-read", shown_pages.read_source)
