"""Folders of this installation."""

from __future__ import annotations

from pathlib import Path

#: Folder of the package, with its compiled modules and libPyGPU_host.so.
PACKAGE = Path(__file__).resolve().parent.parent


def include_root() -> Path:
    """Return the folder of PyGPU's C++ headers, in the package or in a checkout in use."""
    installed = PACKAGE / "include"
    return installed if installed.is_dir() else PACKAGE.parent / "include"
