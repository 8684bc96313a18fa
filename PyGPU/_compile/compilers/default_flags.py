"""Options of compilations that are given none: DEFAULT_NVCC_FLAGS of ``PyGPU.compiler``."""

from __future__ import annotations

from collections.abc import Callable

from PyGPU._runtime import settings


def of_environment() -> list[str]:
    """Return the options in PYGPU_DEFAULT_NVCC_FLAGS or PYCUDA_DEFAULT_NVCC_FLAGS."""
    return (settings.value("PYGPU_DEFAULT_NVCC_FLAGS") or "").split()


_defaults = of_environment()
_provider: Callable[[], list[str]] = lambda: _defaults  # noqa: E731


def defaults() -> list[str]:
    """Return the options of compilations without options of their own."""
    return _provider()


def set_defaults(provider: Callable[[], list[str]]) -> None:
    """Set the function that returns these options, so that a program may replace the list."""
    global _provider
    _provider = provider
