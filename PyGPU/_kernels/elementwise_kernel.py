"""ElementwiseKernel: an operation on the elements of arrays, from an expression in C."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._kernels.text.indexed import (
    always_uses_element,
    arguments_of,
    can_be_batched,
    get_batched_kernel_and_types,
    get_elwise_kernel_and_types,
)
from PyGPU._kernels.types import ScalarArg, VectorArg, require_elements
from PyGPU._runtime import Rebuilt, as_list, capabilities, core, docstrings, errors, integer

if TYPE_CHECKING:
    from PyGPU._driver import Function, SourceModule
    from PyGPU._types import Int, StreamLike, TextureReference

    _Made = tuple[SourceModule, Function, list[VectorArg | ScalarArg]]


_NEVER = (1 << 63) - 1
# Number of indices that pay for the batched kernel.
_MANY = _NEVER if capabilities.runs_threads_serially else 1 << 19


_MOST = 1 << 62  # limit of indices, so that their differences fit in 64 bits


def _index(name: str, value: Int | None, default: int) -> int:
    if value is None:
        return default
    number = integer(name, value)
    if not -_MOST <= number <= _MOST:
        raise OverflowError(f"{name}: expected a number of 62 bits, got {number}")
    return number


def _indices(
    absolute: slice | range | None, relative: slice | None, n: int
) -> tuple[int, int, int]:
    """Return the (start, stop, step) that range= or slice= of a call selects."""
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
        raise ValueError("range: step=0: expected a nonzero number")
    start = _index("range: start", absolute.start, 0 if step > 0 else n - 1)
    return start, _index("range: stop", absolute.stop, n if step > 0 else -1), step


def _ranged_kernel(
    arguments: list[VectorArg | ScalarArg], operation: str, **settings: Any
) -> _Made:
    arguments = [*arguments, ScalarArg(np.uintp, "n")]
    return get_elwise_kernel_and_types(arguments, operation, use_range=True, **settings)


def _batched_kernel(
    arguments: list[VectorArg | ScalarArg],
    operation: str,
    preamble: str,
    loop_prep: str,
    after_loop: str,
    **settings: Any,
) -> _Made:
    return get_batched_kernel_and_types(arguments, operation, **settings)


_MAKERS: dict[str, Callable[..., _Made]] = {
    "plain": get_elwise_kernel_and_types,
    "ranged": _ranged_kernel,
    "batched": _batched_kernel,
}


class _Variant:
    """A kernel compiled for one device."""

    def __init__(
        self,
        module: SourceModule,
        function: Function,
        arguments: list[VectorArg | ScalarArg],
        given: int,
        operation: str,
        many: int,
    ) -> None:
        self.parts = module, function, arguments
        self.names = [one.name for one in arguments[:given]]
        self.vectors = [
            (position, one.dtype, always_uses_element(one.name, operation))
            for position, one in enumerate(arguments[:given])
            if isinstance(one, VectorArg)
        ]
        self.launcher = core._ElementwiseLauncher(function, given, self.vectors, many)


class ElementwiseKernel(Rebuilt):
    """An operation on the elements of arrays, compiled into a kernel at the first call.

    A call, ``kernel(*args, range=None, slice=None, stream=None)``, runs the operation for each
    index ``i`` of the first array. With `range`, a slice or range of numbers, it runs for those
    numbers only. With `slice`, it runs for the selected indices of the array, where negative
    numbers count from the end.

    Elements are visited in memory order. Arrays must be contiguous, and arrays of one shape must
    all be in C order, or all in Fortran order. The dtypes of arrays are not checked. Scalars are
    converted as :mod:`struct` does: an int can be passed for a float, but not a float for an int.

    :param str or list of VectorArg and ScalarArg arguments: Declarations in C, as in ``"float a,
        float *x, float *z"``.
    :param operation: Statement in C, as in ``"z[i] = a * x[i]"``. It may also use ``n``, the size
        of the first array; ``tid``, the thread's index in its block; ``total_threads``, the number
        of threads; and ``cta_start``, the number of threads in the blocks before.
    :param name: Name of the kernel.
    :param keep: Keep the text and the image in a folder, and print its name.
    :param options: Options for the compiler.
    :param preamble: Text before the kernel, such as functions and ``#include`` lines. It comes
        after <pycuda-complex.hpp>.
    :param loop_prep, after_loop: Statements that each thread runs before its first index and after
        its last.
    :raises ArgumentError: At a call: the number of arguments is wrong, or an argument does not
        match.
    :raises RuntimeError: At a call: an array is not contiguous, or the arrays have different
        orders.
    :raises CompileError, ValueError, AssertionError: At the first call: the C code does not
        compile, a declaration cannot be parsed, or no argument is an array.

    >>> from PyGPU import gpuarray
    >>> from PyGPU.elementwise import ElementwiseKernel
    >>> axpb = ElementwiseKernel("float a, float *x, float b, float *z", "z[i] = a * x[i] + b")
    >>> x = gpuarray.to_gpu(np.array([1, 2, 3], np.float32))
    >>> z = gpuarray.empty_like(x)
    >>> axpb(10, x, 5, z)
    >>> z
    array([15., 25., 35.], dtype=float32)
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
        self._arguments = (
            arguments if isinstance(arguments, str) else as_list("arguments", arguments)
        )
        self._operation = operation
        self._settings: dict[str, Any] = {
            **{"name": name, "keep": keep, "options": options},
            **{"preamble": preamble, "loop_prep": loop_prep, "after_loop": after_loop},
        }
        # By (core._current_device_key(), kind).
        self._variants: dict[tuple[int, str], _Variant] = {}
        self._many = _MANY
        self._remember(
            *(ElementwiseKernel, self._arguments, operation, name, keep, options),
            *(preamble, loop_prep, after_loop),
        )

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
        variant = self._variants.get((core._current_device_key(), "plain")) or self._variant(
            "plain"
        )
        launcher = variant.launcher
        if launcher.launch(stream, args):
            return
        self._check(variant, args, self._size(variant, args))
        if launcher.launch(stream, args, True) is None:
            launcher.set_batched(self._variant("batched").parts[1])
            launcher.launch(stream, args, True)

    def _call_over(
        self,
        args: tuple[Any, ...],
        absolute: slice | range | None,
        relative: slice | None,
        stream: StreamLike,
    ) -> None:
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
                f"{self._settings['name']}: range: the lowest index, {lowest}, is before the "
                "arrays' first elements; expected indices from 0 on"
            )
        variant.launcher.launch_over(stream, args, *indices, True)

    def _size(self, variant: _Variant, args: tuple[Any, ...]) -> int:
        """Return the size of the first array, after checking the arguments' number and types."""
        if len(args) != len(variant.names):
            raise _wrong_count(self._settings["name"], variant.names, len(args))
        for position, *_ in variant.vectors:
            if not isinstance(args[position], core.GPUArray):
                raise _no_array(variant.names[position], args[position])
        first: core.GPUArray = args[variant.vectors[0][0]]
        return first._size

    def _check(self, variant: _Variant, args: tuple[Any, ...], needed: int) -> None:
        for position, dtype, always in variant.vectors:
            name = f"{self._settings['name']}: {variant.names[position]}"
            require_elements(name, args[position], dtype, needed if always else 0)
        _check_orders(
            [(variant.names[position], args[position]) for position, *_ in variant.vectors]
        )

    @functools.cached_property
    def _may_be_batched(self) -> bool:
        vectors = [one for one in arguments_of(self._arguments) if isinstance(one, VectorArg)]
        around = [self._settings[text] for text in ("preamble", "loop_prep", "after_loop")]
        return can_be_batched([one.name for one in vectors], self._operation, *around)

    def _variant(self, kind: str) -> _Variant:
        key = core._current_device_key(), kind
        if key not in self._variants:
            arguments = arguments_of(self._arguments)
            given = len(arguments)
            if not any(isinstance(one, VectorArg) for one in arguments):
                raise AssertionError(
                    f"arguments={self._arguments!r}: expected at least one pointer, such as "
                    "'float *x'"
                )
            make = _MAKERS[kind]
            made = make(arguments, self._operation, **self._settings)
            many = self._many if self._may_be_batched else _NEVER
            # setdefault, because another thread may have compiled the same kernel meanwhile.
            self._variants.setdefault(key, _Variant(*made, given, self._operation, many))
        return self._variants[key]

    def generate_stride_kernel_and_types(
        self, use_range: bool
    ) -> tuple[SourceModule, Function, list[VectorArg | ScalarArg]]:
        """Compile the kernel for the current device.

        :param use_range: Compile the kernel for calls with range= or slice=.
        :returns tuple of (SourceModule, Function, list of VectorArg and ScalarArg): Module, kernel
            and arguments. The arguments end with ``n`` or, with `use_range`, with ``n, start, stop,
            step``.

        >>> from PyGPU.elementwise import ElementwiseKernel
        >>> twice = ElementwiseKernel("float *x", "x[i] *= 2")
        >>> module, kernel, arguments = twice.generate_stride_kernel_and_types(False)
        >>> arguments
        [VectorArg('x', float32), ScalarArg('n', uint64)]
        """
        return self._variant("ranged" if use_range else "plain").parts

    def get_texref(self, name: str, use_range: bool = False) -> TextureReference:
        """Return a texture reference that the preamble declares, on the current device.

        :param name: Name of the texture reference.
        :param use_range: Return the reference of calls with range= or slice=, which use another
            kernel.
        :returns: The texture reference.
        """
        return self.generate_stride_kernel_and_types(use_range)[0].get_texref(name)


def _wrong_count(kernel: str, names: Sequence[str], count: int) -> errors.ArgumentError:
    extra = f"missing {', '.join(names[count:])}" if count < len(names) else "too many"
    return errors.ArgumentError(
        f"{kernel}({', '.join(names)}) takes {len(names)} arguments, not {count}: {extra}"
    )


def _no_array(name: str, value: object) -> errors.ArgumentError:
    advice = "; gpuarray.to_gpu() makes one" if isinstance(value, np.ndarray) else ""
    return errors.ArgumentError(f"{name}: expected a GPUArray, got {type(value)!r}{advice}")


def _check_orders(vectors: Iterable[tuple[str, core.GPUArray]]) -> None:
    """Raise RuntimeError unless equal indices select equal positions in memory."""
    # An array's name, and whether it is in C order, by shape.
    orders: dict[tuple[int, ...], tuple[str, bool]] = {}
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


docstrings.complete(__name__)
