"""Functions of arrays, element by element: NumPy's by name, and those of PyGPU.gpuarray.

Operands are arrays of shapes that broadcast, and numbers. Python's numbers are weak, as in NumPy;
NumPy's scalars and ndarrays without axes count as arrays.
"""

import numpy as np

from PyGPU._arrays import tracing
from PyGPU._driver import Event
from PyGPU._kernels import COMPARISONS, NAMES, asked, promoted
from PyGPU._runtime import core, require_array

__all__ = ["if_positive", "logical_and", "logical_not", "logical_or", "maximum", "minimum", "where"]

GPUArray = core.GPUArray
_apply, _empty_for, _map = core._apply, core._empty_for, core._map
_OPERATIONS = {name: core._operation(name) for name in NAMES}
_BOOL = np.dtype(np.bool_)
_DTYPES = frozenset(map(np.dtype, core.SUPPORTED_DTYPES))


def kind_of(operand):
    """An operand, as `promoted` takes it: a dtype, or the type and value of a Python number.

    Values count for integers alone: NumPy refuses those that do not fit.
    """
    if isinstance(operand, GPUArray):
        return operand.dtype
    if type(operand) in (int, bool):
        return type(operand), operand
    if type(operand) in (float, complex):
        return type(operand), 1
    if isinstance(operand, np.ndarray) and operand.ndim > 0:
        raise TypeError(
            "an operation between a GPUArray and a numpy.ndarray: send the ndarray to the device "
            "with to_gpu(), or fetch the GPUArray with .get()"
        )
    if isinstance(operand, (np.generic, np.ndarray)) and operand.dtype in _DTYPES:
        return operand.dtype
    if isinstance(operand, tracing.Number):
        return kind_of(operand.now)
    if isinstance(operand, (int, float, complex)) and not isinstance(operand, np.generic):
        return np.asarray(operand).dtype
    raise TypeError(f"expected arrays and numbers, got {operand!r}")


def _fitting(operand, dtype):
    """An operand as the engine takes it: any number can be true or false."""
    return operand if dtype != _BOOL or isinstance(operand, GPUArray) else bool(operand)


def checked_out(out, dtype, casting):
    if not isinstance(out, GPUArray):
        raise TypeError(f"out: expected a GPUArray, got {type(out).__name__}; see .get()")
    fits = np.can_cast(dtype, out.dtype, casting) and (dtype.kind != "c" or out.dtype.kind == "c")
    if not fits:
        raise TypeError(f"out: results of {dtype} do not fit into {out.dtype} ({casting=})")
    return out


def run(
    name, operands, compute, results, out=None, stream=None, allocator=None, casting="same_kind"
):
    """Run an operation of PyGPU._kernels.operations.

    Parameters
    ----------
    name : str
    operands : tuple of GPUArray and numbers
    compute, results : tuple of numpy.dtype
    out : GPUArray or tuple of GPUArray and None, optional
        Of the shape that the operands give together, or one that this stretches to.
    stream : optional
    allocator : callable, optional
        The first array's by default.
    casting : str
        Which dtypes of `out` will do, as in numpy.can_cast.

    Returns
    -------
    GPUArray or tuple of GPUArray
    """
    if tracing.traced(operands):
        return tracing.record(
            name, operands, compute, results, out=out, stream=stream, allocator=allocator
        )
    arrays = [one for one in operands if isinstance(one, GPUArray)]
    if len(arrays) < len(operands):
        if not arrays and out is None:
            raise TypeError(f"{name}: expected at least one GPUArray, got {operands!r}")
        operands = tuple(map(_fitting, operands, compute))
    if out is None:
        made = tuple([_empty_for(operands, dtype, allocator) for dtype in results])
    else:
        made = tuple(
            [
                _empty_for(operands, dtype, allocator)
                if one is None
                else checked_out(one, dtype, casting)
                for one, dtype in zip(out if isinstance(out, tuple) else (out,), results)
            ]
        )
    _map(name, operands, compute, made, stream)
    return made[0] if len(made) == 1 else made


def typed(name, operands, dtype=None, casting="same_kind"):
    """(operands, compute, results) of a function of NumPy's: what :func:`run` takes."""
    try:
        return operands, *promoted(name, tuple(map(kind_of, operands)), dtype, casting)
    except OverflowError:
        if name not in COMPARISONS:
            raise
        # An integer that its partner's dtype does not hold compares like an infinity.
        tracing.require_values(operands)
        operands = tuple([tracing.computed(_as_infinity, one) for one in operands])
        return operands, *promoted(name, tuple(map(kind_of, operands)), dtype, casting)


def _as_infinity(operand):
    return np.copysign(np.inf, operand) if type(operand) is int else operand


def apply(name, *operands, out=None, stream=None, allocator=None, dtype=None, casting="same_kind"):
    """A function of NumPy's on arrays and numbers; the dtypes are NumPy's. See :func:`run`."""
    if dtype is None:
        try:
            done = _apply(_OPERATIONS[name], operands, stream, allocator, out)
            if done is not NotImplemented:  # else `out` needs a look
                return done
        except TypeError:
            if not tracing.traced(operands):
                raise
    operands, compute, results = typed(name, operands, dtype, casting)
    return run(name, operands, compute, results, out, stream, allocator, casting)


def where(criterion, then_, else_, out=None, stream=None):
    """Elements of `then_` where `criterion` is not zero, of `else_` elsewhere.

    Parameters
    ----------
    criterion, then_, else_ : GPUArray or number
        Of any dtypes; the shapes broadcast.
    out : GPUArray, optional
    stream : Stream, optional

    Returns
    -------
    GPUArray
        Of the dtype to which NumPy promotes `then_` and `else_`.
    """
    return apply("where", criterion, then_, else_, out=out, stream=stream)


def if_positive(criterion, then_, else_, out=None, stream=None):
    """Elements of `then_` where `criterion` is greater than zero. See :func:`where`."""
    return apply("if_positive", criterion, then_, else_, out=out, stream=stream)


def _weak(value):
    """NumPy's scalars as Python's numbers: the result keeps the array's dtype."""
    if isinstance(value, tracing.Number):
        return tracing.computed(_weak, value)
    return value.item() if isinstance(value, np.generic) else value


def maximum(a, b, out=None, stream=None):
    """The larger of two elements; not-a-number gives way to any number.

    Parameters
    ----------
    a, b : GPUArray or number
        A number does not change the array's dtype within its kind, be it Python's or NumPy's.
    out : GPUArray, optional
    stream : Stream, optional
    """
    return apply("fmax", _weak(a), _weak(b), out=out, stream=stream)


def minimum(a, b, out=None, stream=None):
    """The smaller of two elements. See :func:`maximum`."""
    return apply("fmin", _weak(a), _weak(b), out=out, stream=stream)


def _truth(number):
    kind_of(number)  # a TypeError for what is none
    return bool(number)


def _logical(name, operands, out, allocator):
    if out is not None and require_array("out", out).dtype != _BOOL:
        raise TypeError(f"out: expected bool, got {out.dtype}")
    kept = GPUArray, tracing.Number
    operands = [one if isinstance(one, kept) else _truth(one) for one in operands]
    if not any(isinstance(one, kept) for one in operands):
        operands[0] = core.to_gpu(np.array(operands[0]))
    return apply(name, *operands, out=out, allocator=allocator)


def logical_and(x1, x2, /, out=None, *, allocator=None):
    """Are both not zero? bool.

    Parameters
    ----------
    x1, x2 : GPUArray or number
        Not-a-number is not zero.
    out : GPUArray, optional
        Of bool.
    allocator : callable, optional
        The first array's by default.
    """
    return _logical("logical_and", (x1, x2), out, allocator)


def logical_or(x1, x2, /, out=None, *, allocator=None):
    """Is one of both not zero? See :func:`logical_and`."""
    return _logical("logical_or", (x1, x2), out, allocator)


def logical_not(x, /, out=None, *, allocator=None):
    """Is it zero? See :func:`logical_and`."""
    return _logical("logical_not", (x,), out, allocator)


# Methods of GPUArray.


def real(self):
    """The real parts: a new array; the array itself if it is real."""
    if self.dtype.kind != "c":
        return self
    return run("real", (self,), (self.dtype,), asked(np.real, (self.dtype,)))


def imag(self):
    """The imaginary parts, or zeros: a new array."""
    if self.dtype.kind != "c" and isinstance(self, tracing.Traced):
        return run("where", (False, self, 0), (_BOOL, self.dtype, self.dtype), (self.dtype,))
    if self.dtype.kind != "c":
        return core.zeros_like(self)
    return run("imag", (self,), (self.dtype,), asked(np.imag, (self.dtype,)))


def conj(self, out=None):
    """The complex conjugate: a new array or `out`; the array itself if it is real."""
    return self if self.dtype.kind != "c" else apply("conjugate", self, out=out)


def mul_add(self, selffac, other, otherfac, add_timer=None, stream=None, out=None):
    """``selffac * self + otherfac * other`` in one kernel.

    Parameters
    ----------
    selffac, otherfac : number
        Of the domain of the result's dtype, which the two arrays alone decide.
    other : GPUArray
        Its shape and the array's broadcast.
    add_timer : callable(elements, seconds), optional
        Receives how many elements the kernel moved, and a function that gives its time.
    stream : Stream, optional
    out : GPUArray, optional

    Returns
    -------
    GPUArray

    Raises
    ------
    ArgumentError
        For factors that the dtype cannot hold.
    """
    require_array("other", other)
    start, end = (Event(), Event()) if add_timer else (None, None)
    if start:
        start.record(stream)
    result = apply("mul_add", selffac, self, otherfac, other, out=out, stream=stream)
    if start:
        end.record(stream)

        def seconds():
            end.synchronize()
            return end.time_since(start) * 1e-3

        add_timer(3 * result.size, seconds)
    return result


def _axpbyz(self, selffac, other, otherfac, out, add_timer=None, stream=None):
    """:func:`mul_add` into `out`: a name that programs of PyCUDA's time call."""
    return mul_add(self, selffac, other, otherfac, add_timer, stream, out)


def _at_least(bound, least):
    return least if type(bound) is int and bound < least else bound


def _at_most(bound, most):
    return most if type(bound) is int and bound > most else bound


def clip(self, min=None, max=None, out=None, stream=None):
    """The elements, no smaller than `min` and no larger than `max`; not-a-number stays.

    Parameters
    ----------
    min, max : GPUArray or number, optional
        None: no bound. Shapes and dtypes are NumPy's.
    out : GPUArray, optional
    stream : Stream, optional
    """
    if min is None and max is None:
        return apply("copy", self, out=out, stream=stream)
    # A bound may lie beyond all elements, as in NumPy; NumPy 1 then has a wider result.
    if self.dtype.kind in "iu" and not core._takes_types_from_values:
        info = np.iinfo(self.dtype)
        min = tracing.computed(_at_least, min, info.min)
        max = tracing.computed(_at_most, max, info.max)
    if min is None:
        return apply("minimum", self, max, out=out, stream=stream)
    if max is None:
        return apply("maximum", self, min, out=out, stream=stream)
    return apply("clip", self, min, max, out=out, stream=stream)


#: Of the class GPUArray.
METHODS = {
    **{"real": property(real), "imag": property(imag), "conj": conj, "conjugate": conj},
    **{"mul_add": mul_add, "_axpbyz": _axpbyz, "clip": clip},
}

#: NumPy's ufuncs that are implemented, and their operations.
UFUNCS = {
    getattr(np, name): name for name in NAMES if isinstance(getattr(np, name, None), np.ufunc)
}
UFUNCS.update({np.degrees: "rad2deg", np.radians: "deg2rad"})
