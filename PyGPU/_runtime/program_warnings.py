"""Warnings that point at the line of the program, not at PyGPU's own."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

# Packages whose frames lie between the program's line and the warning. The module pycuda is
# PyGPU's under PyCUDA's name; Python's own two run imports and ``with`` blocks of ours.
_SKIPPED = {"PyGPU", "pycuda", "importlib", "_frozen_importlib", "contextlib"}


def _is_skipped(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__")
    return isinstance(name, str) and name.partition(".")[0] in _SKIPPED


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside of PyGPU.

    ``warnings.warn`` has no way to say this before Python 3.12 (``skip_file_prefixes``), and a
    fixed ``stacklevel`` is right for one way to the warning only.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_skipped(frame):
        frame = frame.f_back
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    module = names.get("__name__") or "<unknown>"
    code = frame.f_code.co_filename
    warnings.warn_explicit(message, category, code, frame.f_lineno, module, registry)
