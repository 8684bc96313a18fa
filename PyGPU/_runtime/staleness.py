"""Warning at import if the checkout's C++ sources are others than those of the compiled module.

setup.py runs this file by its path for the sources' checksum.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType


def checksum(root: Path) -> int:
    """Return the CRC of the C++ files that bind Python, in the order of their names."""
    import zlib  # only needed after a build or a pull

    crc = 0
    for path in sorted(root.glob("src/python/**/*")):
        if path.suffix in (".h", ".cpp"):
            crc = zlib.crc32(path.read_bytes(), crc)
    return crc


def warn_if_stale(module: ModuleType) -> None:
    """Warn if a compiled module was built from other sources: the Python files may not fit it."""
    root, file = Path(__file__).parents[2], str(module.__file__)
    git = root / ".git"
    try:
        if git.is_file():  # of a work tree: its text is "gitdir: " and the path of the folder
            git = Path(git.read_text()[8:].strip())
        # git writes its index at each pull and checkout, so a newer build needs no search.
        if os.stat(git / "index").st_mtime_ns <= os.stat(file).st_mtime_ns:
            return
    except OSError:  # no checkout
        return
    found = checksum(root)
    if found and found != getattr(module, "_sources", None):
        from PyGPU._runtime.exceptions import warn

        warn(
            f"{file} was built from other sources, so it may not fit the Python files: build PyGPU "
            "again with 'pip install -e .'",
            RuntimeWarning,
        )
