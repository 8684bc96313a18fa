"""``python -m PyGPU report``: one text file about a machine and what works there (command.py)."""

from PyGPU._report import facts, runner

__all__ = ["facts", "runner"]
