"""``python -m PyGPU report``: one text file about a machine and what works there (command.py)."""

from PyGPU._report import choice, facts, runner

__all__ = ["choice", "facts", "runner"]
