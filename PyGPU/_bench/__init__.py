"""The benchmark suite behind ``python -m PyGPU bench``; nothing else imports it."""

from PyGPU._bench.command import main

__all__ = ["main"]
