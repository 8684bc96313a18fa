"""Where this installation's own files lie."""

from __future__ import annotations

from pathlib import Path

#: Folder of the package: its compiled modules and libPyGPU_host.so are there.
PACKAGE = Path(__file__).resolve().parent.parent


def include_root() -> Path:
    """Folder of PyGPU's C++ headers: in the package, or in the checkout of ``pip install -e``."""
    installed = PACKAGE / "include"
    return installed if installed.is_dir() else PACKAGE.parent / "include"
