"""ReductionKernel: a reduction of all elements by expressions in C."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._compile.source import declarations
from PyGPU._kernels.stages import get_reduction_kernel_and_types
from PyGPU._kernels.text.common import Element
from PyGPU._kernels.text.indexed import always_uses_element
from PyGPU._kernels.text.reduction import own_text, user_source
from PyGPU._kernels.text.scan import literal
from PyGPU._kernels.types import (
    ScalarArg,
    VectorArg,
    dtype_to_ctype,
    parse_c_arg,
    require_elements,
    require_free_names,
)
from PyGPU._runtime import Rebuilt, core, docstrings, errors, on_device_of_first, require_array

if TYPE_CHECKING:
    from PyGPU._driver import Function
    from PyGPU._types import AllocatorLike, DType, DTypeLike, StreamLike


def _neutral_text(neutral: str | complex, dtype: DType) -> str:
    """Return C for the neutral element: a literal of the dtype, or a cast for the compiler."""
    try:
        return literal(neutral, dtype)
    except ValueError:
        return f"({dtype_to_ctype(dtype)})({neutral})"


class ReductionKernel(Rebuilt):
    """A reduction of ``map_expr`` over all elements by ``reduce_expr``, compiled when it is made.

    :param dtype_out: Dtype of the result and of the accumulator. A structure must be registered
        (:func:`PyGPU.tools.get_or_register_dtype`) and defined in `preamble`.
    :param str or number neutral: Neutral element of the operation, as C: the result for arrays
        without elements.
    :param reduce_expr: C expression that combines two values `a` and `b` of type ``out_type``. It
        must be associative and commutative: elements are combined in no particular order.
    :param map_expr: C expression of the index `i` and the arguments; ``in[i]`` by default.
    :param str or sequence of VectorArg and ScalarArg arguments: Declarations in C with at least one
        pointer, as in ``const float *x, float factor``. The names `i`, `n` (the number of elements)
        and ``out_type`` belong to the kernel.
    :param name: Prefix of the kernels' names.
    :param keep: Keep the text and the image in a folder, and print its name.
    :param options: Options for the compiler.
    :param preamble: C++ before the kernels, after ``<pycuda-complex.hpp>``.
    :raises CompileError: An expression is not valid C++.
    :raises ValueError: An argument cannot be parsed, its name is taken, or a type has no name in C.

    >>> from PyGPU import gpuarray
    >>> from PyGPU.reduction import ReductionKernel
    >>> squares = ReductionKernel(np.float32, "0", "a + b", "x[i] * x[i]", "const float *x")
    >>> squares(gpuarray.to_gpu(np.array([1, 2, 3], np.float32)))
    array(14., dtype=float32)
    """

    def __init__(
        self,
        dtype_out: DTypeLike,
        neutral: str | complex,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | Sequence[VectorArg | ScalarArg] | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
    ) -> None:
        self.dtype_out = np.dtype(dtype_out)
        self._arguments = _parsed(arguments)
        self._map = map_expr or "in[i]"
        self._vectors = [
            (position, one.dtype, always_uses_element(one.name, self._map))
            for position, one in enumerate(self._arguments)
            if isinstance(one, VectorArg)
        ]
        if not self._vectors:
            raise AssertionError(
                f"arguments={arguments!r}: expected at least one pointer, such as 'const float *x'"
            )
        names = [one.name for one in self._arguments]
        require_free_names(names, ("i", "n", "out_type"), own_text())
        self.block_size = core._reduction_block(self.dtype_out.itemsize)
        self._unroll = 8 if self.dtype_out.itemsize <= 8 else 4
        out = VectorArg(self.dtype_out, "out")
        size = ScalarArg(np.dtype(np.uint64), "n")
        chunk = ScalarArg(np.dtype(np.uint64), "chunk")
        parts = VectorArg(self.dtype_out, "parts")
        result = VectorArg(self.dtype_out, "result")
        done = VectorArg(np.dtype(np.uint32), "done")
        self._first_types = [out, *self._arguments, chunk, size, result, done]
        self._last_types = [out, parts, *self._arguments, chunk, size]
        out_type, start = dtype_to_ctype(self.dtype_out), _neutral_text(neutral, self.dtype_out)
        text = arguments if isinstance(arguments, str) else _declared(self._arguments)
        self._source = user_source(
            *(name, out_type, start, reduce_expr, self._map, text, preamble),
            [Element(one.dtype) for one in self._first_types if one.dtype.kind != "V"],
            self.block_size,
            self._unroll,
        )
        self._name, self._options = name, options
        self._of_stages = (out_type, self.block_size, start, reduce_expr), text, preamble
        # By core._current_device_key().
        self._launchers: dict[int, core._ReductionLauncher] = {}
        self._launcher(keep)
        self._remember(
            *(ReductionKernel, dtype_out, neutral, reduce_expr, map_expr, arguments),
            *(self._name, keep, options, preamble),
        )

    def _launcher(self, keep: bool = False) -> core._ReductionLauncher:
        """Return the launcher of the current device; compile the kernels at the first call."""
        here = core._current_device_key()
        found = self._launchers.get(here)
        if found is None:
            from PyGPU._driver import SourceModule

            module = SourceModule(self._source, options=self._options, keep=keep, no_extern_c=True)
            first, last = (
                module.get_function(f"{self._name}_{stage}").prepare(_promises(types))
                for stage, types in (
                    ("first", self._first_types),
                    ("last", self._last_types),
                )
            )
            made = core._ReductionLauncher(
                *(first, last, len(self._arguments), self._vectors),
                *(self.dtype_out, first.num_regs, self._unroll),
            )
            found = self._launchers.setdefault(here, made)  # another thread may have added one
        return found

    # PyCUDA's stages, for programs that launch them themselves; a call does not use them.

    @functools.cached_property
    def _stages(self) -> list[tuple[Function, list[str]]]:
        """Return PyCUDA's two kernels on the current device, with their arguments' types."""
        first, arguments, preamble = self._of_stages
        return [
            get_reduction_kernel_and_types(
                *(number, *first, self._map if number == 1 else None, arguments),
                *(f"{self._name}_stage{number}", False, self._options, preamble),
            )
            for number in (1, 2)
        ]

    @functools.cached_property
    def stage1_func(self) -> Callable[..., None]:
        """The launching function of PyCUDA's first stage, compiled for the current device.

        Its parameters are ``grid, block, stream, out, *arguments, seq_count, n, shared_size=0``;
        see :func:`PyGPU.reduction.get_reduction_kernel_and_types`.
        """
        return self._stages[0][0].prepared_async_call

    @functools.cached_property
    def stage2_func(self) -> Callable[..., None]:
        """The launching function of PyCUDA's second stage, which reduces the first stage's result.

        Its parameters are ``grid, block, stream, out, parts, *arguments, seq_count, n,
        shared_size=0``.
        """
        return self._stages[1][0].prepared_async_call

    @functools.cached_property
    def stage1_arg_types(self) -> list[str]:
        """Type characters (:mod:`struct`) of the first stage's arguments, without the last two."""
        return self._stages[0][1]

    @functools.cached_property
    def stage2_arg_types(self) -> list[str]:
        """Type characters (:mod:`struct`) of the second stage's arguments, without the last two."""
        return self._stages[1][1]

    def __call__(
        self,
        *args: Any,
        stream: StreamLike = None,
        out: core.GPUArray | None = None,
        allocator: AllocatorLike | None = None,
        kernel_wrapper: Callable[[Any], Any] | None = None,
    ) -> core.GPUArray:
        """Enqueue the reduction.

        Parameters
        ----------
        *args
            A GPUArray for each pointer and a number for each other argument. The first array sets
            the number of elements. Arrays must be contiguous and all in the same order.
        stream : Stream, optional
            Stream to launch on; the null stream by default.
        out : GPUArray, optional
            Array whose first element receives the result.
        allocator : callable(nbytes), optional
            Allocator of a new result; by default that of the first array.
        kernel_wrapper : callable, optional
            Function that is called with each launching function and returns a replacement for it.

        Returns
        -------
        GPUArray
            `out`, or a new zero-dimensional array.

        Raises
        ------
        ArgumentError
            The number of arguments is wrong, or an array has too few elements.
        RuntimeError
            An array is not contiguous, or the arrays have different orders.
        ValueError
            `out` has another dtype or no elements.
        """
        if out is not None:
            if require_array("out", out).dtype != self.dtype_out:
                raise ValueError(f"out: expected dtype {self.dtype_out}, got {out.dtype}")
            if out.size == 0:
                raise ValueError("out: expected at least one element, for the result; got none")
        rest = (stream, args, out, allocator, kernel_wrapper)
        result = self._launcher().launch(*rest)
        return self._launch_checked(*rest) if result is None else result

    def _launch_checked(
        self, stream: StreamLike, args: tuple[Any, ...], *rest: Any
    ) -> core.GPUArray:
        if len(args) != len(self._arguments):
            raise errors.ArgumentError(
                f"{self._name} takes {len(self._arguments)} arguments, not {len(args)}"
            )
        vectors = [args[position] for position, *_ in self._vectors]
        self._check(vectors)
        return _launch(vectors, self, stream, args, *rest)

    def _check(self, vectors: Sequence[core.GPUArray]) -> None:
        for (position, dtype, always), value in zip(self._vectors, vectors):
            name = f"{self._name}: {self._arguments[position].name}"
            require_array(name, value)
            if not value.flags.forc:
                raise RuntimeError(
                    f"{name}: only contiguous arrays may be used, got shape "
                    f"{value.shape} with strides {value.strides}; copy() it"
                )
            require_elements(name, value, dtype, vectors[0]._size if always else 0)
        if len(vectors) > 1:
            flags = [value.flags for value in vectors]
            if not all(f.c_contiguous for f in flags) and not all(f.f_contiguous for f in flags):
                raise RuntimeError(
                    f"{self._name}: some arrays are in C order and others in Fortran order; "
                    "expected one order, in which equal indices select equal elements"
                )


@on_device_of_first
def _launch(
    vectors: Sequence[core.GPUArray],
    kernel: ReductionKernel,
    stream: StreamLike,
    args: tuple[Any, ...],
    out: core.GPUArray | None,
    allocator: AllocatorLike | None,
    wrap: Callable[[Any], Any] | None,
) -> core.GPUArray:
    return kernel._launcher().launch(stream, args, out, allocator, wrap, True)


def _parsed(arguments: str | Sequence[VectorArg | ScalarArg] | None) -> list[VectorArg | ScalarArg]:
    if isinstance(arguments, str):
        return [parse_c_arg(text) for text in declarations.split_top(arguments)]
    return list(arguments or ())


def _declared(arguments: Sequence[VectorArg | ScalarArg]) -> str:
    return ", ".join(one.declarator() for one in arguments)


def _promises(types: Sequence[VectorArg | ScalarArg]) -> list[str | DType]:
    """Return the types for Function.prepare: "P" for a pointer, or a scalar's dtype."""
    return ["P" if isinstance(one, VectorArg) else one.dtype for one in types]


docstrings.complete(__name__)
