"""Support for PyInstaller: the entry point ``pyinstaller40`` names the folder of the hook."""

from __future__ import annotations

import os


def hook_folders() -> list[str]:
    """Return the folders with PyInstaller's hooks."""
    return [os.path.dirname(__file__)]
