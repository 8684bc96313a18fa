"""Implementation of GPUArray's functions.

The methods and properties that are Python are imported when one of them is first used.
"""

from __future__ import annotations

from typing import Any

from PyGPU._runtime import core

_NUMPY_NAMES = ("__array_ufunc__", "__array_function__", "round")
NAMES = (
    *_NUMPY_NAMES,
    *("sum", "prod", "mean", "min", "max", "any", "all", "dot", "clip", "mul_add"),
    *("real", "imag", "conj", "conjugate", "take", "put", "reverse", "_axpbyz", "_axpbz"),
    *("bind_to_texref", "bind_to_texref_ext", "_grid", "_block", "_repr_html_"),
    *("__reduce__", "__copy__", "__deepcopy__", "__init_subclass__"),
)


class _Member:
    """A placeholder in the class, which the method or property replaces at its first use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, array: core.GPUArray | None, owner: type) -> Any:
        _install(self._name)
        return vars(core.GPUArray)[self._name].__get__(array, owner)


def _install(name: str) -> None:
    """Import the modules of a placeholder, and replace all placeholders of these modules."""
    modules: tuple[Any, ...]
    if name in _NUMPY_NAMES:
        from PyGPU._arrays import numpy_dispatch, numpy_functions

        modules = (numpy_dispatch, numpy_functions)
    else:
        from PyGPU._arrays import (
            bound_arrays,
            gather,
            html,
            joining,
            methods,
            pickling,
            reductions,
            subclassing,
        )
        from PyGPU._kernels import launch_shape

        modules = (bound_arrays, gather, html, joining, launch_shape, methods, pickling)
        modules += (reductions, subclassing)
    for module in modules:
        for name, member in module.METHODS.items():
            setattr(core.GPUArray, name, member)


def defer_members() -> None:
    """Add placeholders of the methods and properties to the class."""
    for name in NAMES:
        setattr(core.GPUArray, name, _Member(name))
    functions = (core.empty, core.empty_like, core.to_gpu, core.to_gpu_async, core.zeros)
    for public in (core.GPUArray, *functions, core.zeros_like):
        public.__module__ = "PyGPU.gpuarray"
