"""The memory, times and configuration of a running program, for prompts, notebooks and profilers.

The functions and context managers are also attributes of the package: ``PyGPU.memory_stats()``.
"""

from __future__ import annotations

from PyGPU._driver.diagnostics import MemoryStats as MemoryStats
from PyGPU._driver.diagnostics import annotate as annotate
from PyGPU._driver.diagnostics import memory_stats as memory_stats
from PyGPU._driver.diagnostics import timer as timer
from PyGPU._runtime.configuration import show_config as show_config

__all__ = ["MemoryStats", "annotate", "memory_stats", "show_config", "timer"]
