"""Decide which programs of the gallery the next build runs: those that changed, or all.

sphinx-gallery runs a program if its text differs from that of the last build, whose pages it finds
in ``docs/gallery``. It does not see that PyGPU itself changed. So conf.py removes that folder if
PyGPU's sources, or the versions of the packages that draw the pictures, are others than at the last
build.
"""

import hashlib
import importlib.metadata
import platform
import shutil
from pathlib import Path

#: Folders of PyGPU's sources, and the patterns of their files.
SOURCES = {"PyGPU": "*.py", "include": "*", "src": "*", ".": "setup.py"}
PACKAGES = ("numpy", "matplotlib", "sphinx-gallery")
NAME = "built-from"


def digest(root: Path) -> str:
    """Return a text that changes with PyGPU's sources, Python and the packages.

    Parameters
    ----------
    root : Path
        Folder of the checkout.
    """
    found = hashlib.sha256(platform.python_version().encode())
    for package in PACKAGES:
        found.update(f"\0{package} {importlib.metadata.version(package)}".encode())
    for folder, pattern in SOURCES.items():
        files = (root / folder).glob(pattern) if folder == "." else (root / folder).rglob(pattern)
        for path in sorted(path for path in files if path.is_file()):
            found.update(f"\0{path.relative_to(root)}\0".encode() + path.read_bytes())
    return found.hexdigest()


def forget_stale(gallery: Path, text: str) -> bool:
    """Remove the pages of the last build if it was another PyGPU's, and note the present one.

    Parameters
    ----------
    gallery : Path
        Folder of the gallery's pages.
    text : str
        Result of `digest`.

    Returns
    -------
    bool
        Whether the pages of the last build are kept.
    """
    note = gallery / NAME
    if note.is_file() and note.read_text() == text:
        return True
    shutil.rmtree(gallery, ignore_errors=True)
    gallery.mkdir(parents=True)
    note.write_text(text)
    return False
