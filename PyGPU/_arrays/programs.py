"""Programs of traced functions: their kernels, and the work of a call."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays.functions import checked_out, run
from PyGPU._arrays.traces import Argument, Literal, Result, Trace
from PyGPU._kernels import fused
from PyGPU._runtime import core, errors

if TYPE_CHECKING:
    from PyGPU._types import StreamLike

#: Maximum numbers of operands and results of a kernel.
MAX_OPERANDS, MAX_RESULTS = core._max_operands, core._max_results


class _Kernel:
    """An operation that computes some of a trace's results.

    Parameters
    ----------
    trace : Trace
        The recorded steps.
    results : list of Result
        The results to compute.
    """

    def __init__(self, trace: Trace, results: Sequence[Result]) -> None:
        arguments, inside = _reached(trace, results)
        self.arrays = _arrays(arguments)
        self.count = len(arguments)
        self.operation: Any = None  # None: too many operands for a kernel
        slots = [one.slot for one in arguments]
        self.pick = operator.itemgetter(*(slots if len(slots) > 1 else [_only(*slots)]))
        if self.count <= MAX_OPERANDS:
            self.operation = _operation(trace, arguments, inside, results)

    def __call__(self, values: tuple[Any, ...], out: Any, stream: StreamLike) -> Any:
        return core._run_fused(self.operation, self.pick(values), out, stream)


def _arrays(arguments: Sequence[Argument]) -> set[int]:
    return {one.slot for one in arguments if one.is_array}


def _only(slot: int) -> slice:
    """Return an index that selects a tuple of one element from a tuple."""
    return slice(slot, slot + 1)


def _reached(trace: Trace, results: Sequence[Result]) -> tuple[list[Argument], list[int]]:
    """Return the arguments that results depend on, in order of first use, and the steps."""
    arguments: dict[Argument, None] = {}
    inside: set[int] = set()
    left: list[Any] = list(reversed(results))
    while left:
        one = left.pop()
        if isinstance(one, Argument):
            arguments.setdefault(one)
        elif isinstance(one, Result) and one.step not in inside:
            inside.add(one.step)
            left += reversed(trace.steps[one.step].operands)
    return list(arguments), sorted(inside)


def _operation(
    trace: Trace, arguments: Sequence[Argument], inside: Iterable[int], results: Sequence[Result]
) -> int:
    """Return the number of the operation whose kernel text consists of these steps."""
    from PyGPU._runtime import digests

    places: dict[Any, int] = {one: k for k, one in enumerate(arguments)}
    texts: dict[Any, fused.Value] = {
        one: fused.Value(name, one.dtype)
        for one, name in zip(arguments, fused.names(len(arguments)))
    }
    needed = {*results, *(one for k in inside for one in trace.steps[k].operands)}
    steps: list[fused.Step] = []
    layouts: list[tuple[int, ...]] = []
    for k in inside:
        name, operands, compute, dtypes = trace.steps[k]
        mine = [Result(k, number, dtype) for number, dtype in enumerate(dtypes)]
        own = [(one if one in needed else None) for one in mine]
        joined = [places[one] for one in operands if not _is_number(one)]
        for one in filter(None, own):
            places[one] = MAX_OPERANDS + len(layouts)
            texts[one] = fused.Value(f"v{len(texts)}", one.dtype)
        layouts.append(tuple(joined))
        values = tuple(
            [fused.literal(*one) if isinstance(one, Literal) else texts[one] for one in operands]
        )
        steps.append(fused.Step(name, values, compute, tuple([texts.get(one) for one in own])))
    body = fused.Body(tuple(steps), tuple([texts[one] for one in results]))
    compute = tuple([one.dtype for one in arguments])
    content = body, compute, [one.is_array for one in arguments]
    name = f"fused_{digests.of(repr(content).encode()).hex()[:20]}"
    fused.BODIES[name] = body
    return core._fused_operation(
        name,
        compute,
        tuple([one.dtype for one in results]),
        tuple(layouts),
        tuple([places[one] for one in results]),
    )


def _is_number(operand: object) -> bool:
    return isinstance(operand, Literal) or (isinstance(operand, Argument) and not operand.is_array)


class Program:
    """The work of a call: computing numbers on the host, and launching one or several kernels."""

    def __init__(
        self, trace: Trace, results: Sequence[Result], container: Callable[[Any], Any] | None
    ) -> None:
        self._computed, self._conditions = trace.computed, list(trace.conditions.values())
        self._container, self.dtypes = container, [one.dtype for one in results]
        self._whole = _Kernel(trace, results)
        # Results that depend on different arrays may have different shapes, and then need a launch
        # each.
        self._parts: list[tuple[_Kernel, list[int]]] = []
        if len(results) > 1:
            of = {one: frozenset(_arrays(_reached(trace, [one])[0])) for one in results}
            if len(set(of.values())) > 1:
                for arrays in dict.fromkeys(of[one] for one in results):
                    at = [k for k, one in enumerate(results) if of[one] == arrays]
                    self._parts.append((_Kernel(trace, [results[k] for k in at]), at))
        self.is_plain = not (self._parts or self._computed or self._conditions)
        self.is_one = self.is_plain and container is None
        self.operation, self.pick = self._whole.operation, self._whole.pick
        kernels = [part for part, _ in self._parts] or [self._whole]
        self.max_operands = max(one.count for one in kernels)

    def values(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of a call, followed by the numbers that the host computes."""
        if self.is_plain:
            return given
        values = list(given)
        for function, slots in self._computed:
            values.append(function(*[values[slot] for slot in slots]))
        return tuple(values)

    def holds(self, values: tuple[Any, ...]) -> bool:
        """Test whether the trace is valid for these values."""
        for slot, function, expected in self._conditions:
            if function(values[slot]) != expected:
                return False
        return True

    def __call__(self, values: tuple[Any, ...], out: Any, stream: StreamLike) -> Any:
        whole = self._whole
        if out is not None:
            out = self._checked(out)
        if self._parts and (whole.operation is None or _differ(values, whole.arrays)):
            made: Any = [None] * len(self.dtypes)
            for kernel, at in self._parts:
                some = kernel(values, None, stream)
                for k, one in zip(at, some if len(at) > 1 else (some,)):
                    made[k] = one
            # Several results have a container.
            return self._container(  # type: ignore[misc]
                made if out is None else _copied(made, out, stream)
            )
        made = whole(values, out, stream)
        return (
            made
            if self._container is None
            else self._container(made if len(self.dtypes) > 1 else (made,))
        )

    def _checked(self, out: Any) -> tuple[core.GPUArray | None, ...]:
        given = (out,) if self._container is None else out
        count = len(self.dtypes)
        if not isinstance(given, (tuple, list)) or len(given) != count:
            raise TypeError(f"out: expected {count} arrays or None, in a tuple, got {out!r}")
        return tuple(
            [
                None if one is None else checked_out(one, dtype, "same_kind")
                for one, dtype in zip(given, self.dtypes)
            ]
        )


def _broadcasts_to(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, other) == other
    except ValueError:
        return False


def _copied(
    made: list[core.GPUArray], out: Sequence[core.GPUArray | None], stream: StreamLike
) -> list[core.GPUArray]:
    """Copy the results to the arrays in `out`, after all kernels have read their operands."""
    given = [one for one in out if one is not None]
    if any(core._overlap(*pair) for pair in itertools.combinations(given, 2)):
        raise ValueError("out: the results overlap")
    for result, target in zip(made, out):
        if target is not None and not _broadcasts_to(result.shape, target.shape):
            raise errors.ShapeError(f"out: expected shape {result.shape}, got {target.shape}")
    for k, (result, target) in enumerate(zip(made, out)):
        if target is not None:
            core._keep_for_callers_graph(result, stream)
            made[k] = run("copy", (result,), (result.dtype,), (target.dtype,), target, stream)
    return made


def _differ(values: tuple[Any, ...], slots: Iterable[int]) -> bool:
    return len({values[slot].shape for slot in slots}) > 1
