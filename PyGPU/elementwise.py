"""Kernels from an expression: the names of ``pycuda.elementwise``."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import compiler
from PyGPU._driver.module import Function
from PyGPU._driver.splay import splay
from PyGPU._kernels import getters
from PyGPU._kernels.getters import *  # noqa: F403
from PyGPU._kernels.text.indexed import (
    arguments_of,
    can_be_batched,
    get_batched_kernel_and_types,
    get_elwise_kernel,
    get_elwise_kernel_and_types,
    get_elwise_module,
    get_elwise_range_module,
    is_always_used_by_element,
)
from PyGPU._kernels.types import ScalarArg, VectorArg, dtype_to_ctype, require_elements
from PyGPU._runtime import errors
from PyGPU._runtime.arguments import integer
from PyGPU._runtime.memoize import context_dependent_memoize
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import StreamLike, TextureReference

__all__ = [
    "ElementwiseKernel",
    "ScalarArg",
    "VectorArg",
    "context_dependent_memoize",
    "dtype_to_ctype",
    "get_elwise_kernel",
    "get_elwise_kernel_and_types",
    "get_elwise_module",
    "get_elwise_range_module",
    "splay",
    *getters.__all__,
]

_NEVER = (1 << 63) - 1
_MANY = 1 << 19 if core.target != "host" else _NEVER  # indices worth a kernel of their own


_MOST = 1 << 62  # so that differences of indices have 64 bits


def _index(name, value, default):
    if value is None:
        return default
    number = integer(name, value)
    if not -_MOST <= number <= _MOST:
        raise OverflowError(f"{name}: expected a number of 62 bits, got {number}")
    return number


def _indices(absolute, relative, n):
    """(start, stop, step) of what a call says by range= and slice=."""
    if absolute is not None and relative is not None:
        raise TypeError("range and slice: expected at most one of them")
    if relative is not None:
        if not isinstance(relative, slice):
            raise TypeError(f"slice: expected a slice, got {relative!r}")
        start, stop, step = relative.indices(n)
        return start, stop, min(max(step, -_MOST), _MOST)
    if not isinstance(absolute, (slice, range)):
        raise TypeError(f"range: expected a slice, got {absolute!r}")
    step = _index("range: step", absolute.step, 1)
    if step == 0:
        raise ValueError("range: step is 0")
    start = _index("range: start", absolute.start, 0 if step > 0 else n - 1)
    return start, _index("range: stop", absolute.stop, n if step > 0 else -1), step


def _ranged_kernel(arguments, operation, **settings):
    arguments = [*arguments, ScalarArg(np.uintp, "n")]
    return get_elwise_kernel_and_types(arguments, operation, use_range=True, **settings)


def _batched_kernel(arguments, operation, preamble, loop_prep, after_loop, **settings):
    return get_batched_kernel_and_types(arguments, operation, **settings)


_MAKERS = {
    "plain": get_elwise_kernel_and_types,
    "ranged": _ranged_kernel,
    "batched": _batched_kernel,
}


class _Variant:
    """A kernel as it is compiled for a device."""

    def __init__(self, module, function, arguments, given, operation, many):
        self.parts = module, function, arguments
        self.names = [one.name for one in arguments[:given]]
        self.vectors = [
            (place, one.dtype, is_always_used_by_element(one.name, operation))
            for place, one in enumerate(arguments[:given])
            if isinstance(one, VectorArg)
        ]
        self.launcher = core._ElementwiseLauncher(function, given, self.vectors, many)


class ElementwiseKernel:
    """An operation on the elements of arrays, compiled when it is first called.

    ``kernel(*args, range=None, slice=None, stream=None)`` does it for each index ``i`` of the first
    array, or for those of `range`, a slice of numbers as they are, or of `slice`, which counts from
    the end of the array where negative. Arrays are gone through in the order of their memory:
    those of one shape must all be in C order, or all in Fortran order. Their dtypes are up to the
    caller. Scalars are converted as :mod:`struct` does: an int serves for a float, not the other
    way round.

    Parameters
    ----------
    arguments : str or list of VectorArg and ScalarArg
        In C, as in ``"float a, float *x, float *z"``.
    operation : str
        In C, as in ``"z[i] = a * x[i]"``. It may also use ``n``, the size of the first array, and
        ``tid, total_threads, cta_start``: the thread in its block, all threads, those of the blocks
        before.
    name : str
        Of the kernel.
    keep : bool
        Leave the text and the image in a folder whose name is printed.
    options : list of str, optional
        The compiler's.
    preamble : str
        Text before the kernel: functions, ``#include`` lines. It comes after
        <pycuda-complex.hpp>.
    loop_prep, after_loop : str
        What each thread does before its first index and after its last.

    Raises
    ------
    ArgumentError
        In the call: for a wrong number of arguments, and those that do not fit.
    RuntimeError
        In the call: for arrays that are not contiguous, or not in one order.
    CompileError, ValueError, AssertionError
        In the first call: for bad C, a bad declaration, no array among the arguments.
    """

    def __init__(
        self,
        arguments: str | Sequence[VectorArg | ScalarArg],
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None:
        self._arguments = arguments if isinstance(arguments, str) else list(arguments)
        self._operation = operation
        self._settings = {
            **{"name": name, "keep": keep, "options": options},
            **{"preamble": preamble, "loop_prep": loop_prep, "after_loop": after_loop},
        }
        self._variants: dict[tuple[int, str], Any] = {}  # (core._here(), form) -> _Variant
        self._many = _MANY

    def __call__(
        self,
        *args: Any,
        range: slice | range | None = None,
        slice: slice | None = None,
        stream: StreamLike = None,
    ) -> None:
        if range is not None or slice is not None:
            self._call_over(args, range, slice, stream)
            return
        variant = self._variants.get((core._here(), "plain")) or self._variant("plain")
        launcher = variant.launcher
        if launcher.launch(stream, args):
            return
        self._check(variant, args, self._size(variant, args))
        if launcher.launch(stream, args, True) is None:
            launcher.set_batched(self._variant("batched").parts[1])
            launcher.launch(stream, args, True)

    def _call_over(self, args, absolute, relative, stream):
        variant = self._variant("ranged")
        n = self._size(variant, args)
        indices = _indices(absolute, relative, n)
        if variant.launcher.launch_over(stream, args, *indices):
            return
        numbers = builtins.range(*indices)
        lowest, highest = sorted((numbers[0], numbers[-1])) if numbers else (0, -1)
        self._check(variant, args, highest + 1)
        if lowest < 0 and any(always for *_, always in variant.vectors):
            raise errors.ArgumentError(
                f"{self._settings['name']}: range: indices from {lowest} on are used, before the "
                "arrays' first elements"
            )
        variant.launcher.launch_over(stream, args, *indices, True)

    def _size(self, variant, args):
        """Of the first array, once the arguments are as many as declared, and arrays where they
        must be."""
        if len(args) != len(variant.names):
            raise _wrong_count(self._settings["name"], variant.names, len(args))
        for place, *_ in variant.vectors:
            if not isinstance(args[place], core.GPUArray):
                raise _no_array(variant.names[place], args[place])
        return args[variant.vectors[0][0]]._size

    def _check(self, variant, args, needed):
        for place, dtype, always in variant.vectors:
            name = f"{self._settings['name']}: {variant.names[place]}"
            require_elements(name, args[place], dtype, needed if always else 0)
        _check_orders([(variant.names[place], args[place]) for place, *_ in variant.vectors])

    @functools.cached_property
    def _may_be_batched(self):
        vectors = [one for one in arguments_of(self._arguments) if isinstance(one, VectorArg)]
        around = [self._settings[text] for text in ("preamble", "loop_prep", "after_loop")]
        return can_be_batched([one.name for one in vectors], self._operation, *around)

    def _variant(self, form):
        key = core._here(), form
        if key not in self._variants:
            arguments = arguments_of(self._arguments)
            given = len(arguments)
            if not any(isinstance(one, VectorArg) for one in arguments):
                raise AssertionError("ElementwiseKernel: no array is among the arguments")
            make = _MAKERS[form]
            made = make(arguments, self._operation, **self._settings)
            many = self._many if self._may_be_batched else _NEVER
            # Another thread may have been faster.
            self._variants.setdefault(key, _Variant(*made, given, self._operation, many))
        return self._variants[key]

    def generate_stride_kernel_and_types(
        self, use_range: bool
    ) -> tuple[compiler.SourceModule, Function, list[VectorArg | ScalarArg]]:
        """(module, Function, list of Argument) on the current device; the arguments end with ``n``
        or, with `use_range`, ``n, start, stop, step``."""
        return self._variant("ranged" if use_range else "plain").parts

    def get_texref(self, name: str, use_range: bool = False) -> TextureReference:
        """The texture reference of that name, which the preamble declares, on the current device;
        calls with range= or slice= have others, with `use_range`."""
        return self.generate_stride_kernel_and_types(use_range)[0].get_texref(name)


def _wrong_count(kernel, names, count):
    extra = f"without {', '.join(names[count:])}" if count < len(names) else "too many"
    return errors.ArgumentError(
        f"{kernel}({', '.join(names)}) takes {len(names)} arguments, not {count}: {extra}"
    )


def _no_array(name, value):
    advice = "; gpuarray.to_gpu() makes one" if isinstance(value, np.ndarray) else ""
    return errors.ArgumentError(f"{name}: expected a GPUArray, got {type(value)!r}{advice}")


def _check_orders(vectors):
    """RuntimeError unless equal places in memory are equal indices."""
    orders = {}  # shape -> an array's name, and whether it is in C order
    for name, vector in vectors:
        flags = vector.flags
        if not flags.forc:
            raise RuntimeError(
                f"elementwise kernel cannot deal with non-contiguous arrays: {name} has shape "
                f"{vector.shape} and strides {vector.strides}"
            )
        if flags.c_contiguous and flags.f_contiguous:
            continue
        shape = tuple(length for length in vector.shape if length != 1)
        other, order = orders.setdefault(shape, (name, flags.c_contiguous))
        if order != flags.c_contiguous:
            raise RuntimeError(
                "elementwise kernel cannot deal with arrays of different orders: of shape "
                f"{vector.shape}, {other} and {name} are one in C order, the other in Fortran order"
            )
