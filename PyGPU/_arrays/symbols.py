"""Objects that represent arrays and numbers while :func:`PyGPU.fuse` traces a function.

Result dtypes and errors are those of GPUArray, because GPUArray's own functions record the
operations. An operation that is not element-wise raises TraceError.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from PyGPU._arrays import missing
from PyGPU._arrays.functions import REFLECTED, apply, kind_of, run
from PyGPU._arrays.tracing import Number, Traced, computed, error_at_current_line, untraced_array
from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike, StreamLike

GPUArray = core.GPUArray


class Symbol(Traced, GPUArray):
    """An array in a traced function.

    It supports GPUArray's operators, and the element-wise methods and NumPy functions.
    """

    __hash__ = None

    def __repr__(self) -> str:
        return f"<{self.dtype} array in a traced function>"

    __str__ = __repr__
    _repr_html_ = None  # notebooks then display repr()

    def __format__(self, specification: str) -> str:
        return format(repr(self), specification)

    def __pos__(self) -> Symbol:
        return self

    __copy__ = __pos__

    def __deepcopy__(self, memo: dict[int, Any]) -> Symbol:
        return self

    def copy(self, order: str = "K") -> Symbol:
        return self

    def __neg__(self) -> GPUArray:
        if self.dtype.kind == "b":
            raise TypeError("- is not defined for bool; use ~ or !=")
        return self._keep_dtype("negative")

    def __invert__(self) -> GPUArray:
        if self.dtype.kind in "fc":
            raise TypeError(f"~ is not defined for {self.dtype}")
        return self._keep_dtype("invert")

    def __abs__(self) -> GPUArray:
        dtype = self.dtype
        real = np.empty(0, dtype).real.dtype if dtype.kind == "c" else dtype
        return run("absolute", (self,), (dtype,), (real,))

    def _keep_dtype(self, name: str) -> GPUArray:
        return run(name, (self,), (self.dtype,), (self.dtype,))

    def __divmod__(self, other: Any) -> Any:
        quotient = self.__floordiv__(other)
        return quotient if quotient is NotImplemented else (quotient, self.__mod__(other))

    def __rdivmod__(self, other: Any) -> Any:
        quotient = self.__rfloordiv__(other)
        return quotient if quotient is NotImplemented else (quotient, self.__rmod__(other))

    def __matmul__(self, other: Any) -> NoReturn:
        raise error_at_current_line(
            "@ is not element-wise: call a linear algebra library outside of the fused function"
        )

    __rmatmul__ = __matmul__

    def astype(
        self,
        dtype: DTypeLike,
        stream: StreamLike = None,
        *,
        order: str = "K",
        casting: Any = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> GPUArray:
        """Convert to another dtype, as a C cast does."""
        dtype = np.dtype(dtype)
        if not np.can_cast(self.dtype, dtype, casting):
            raise TypeError(f"astype: {self.dtype} to {dtype}: not a {casting!r} cast")
        return run("copy", (self,), (self.dtype,), (dtype,), stream=stream)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            raise error_at_current_line(f"{missing.name_of(ufunc)}.{method} is not element-wise")
        first = inputs[0].traced_value if isinstance(inputs[0], Number) else inputs[0]
        # NumPy calls a comparison operator's ufunc with the scalar on the left as an ndarray.
        if isinstance(first, np.ndarray) and ufunc in REFLECTED and not kwargs:
            return getattr(inputs[1], REFLECTED[ufunc])(inputs[0])
        if len(inputs) == 1 and ufunc in _UNARY and not kwargs:
            return _UNARY[ufunc](self)
        # An explicit `casting` keeps C++ from replacing the ufunc by an operator.
        kwargs.setdefault("casting", "same_kind")
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)  # type: ignore[misc]

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        if func not in _FUNCTIONS:
            name = f"{func.__module__}.{func.__name__}"
            raise error_at_current_line(
                f"{name} is not element-wise, or not implemented for GPUArray"
            )
        array_types = [one for one in types if one is not Scalar]
        return super().__array_function__(func, array_types, args, kwargs)  # type: ignore[misc]


# Operators that replace ufuncs in GPUArray's dispatch; their result dtypes differ from the ufuncs'.
_UNARY: dict[np.ufunc, Callable[[Any], Any]] = {
    np.negative: operator.neg,
    np.absolute: operator.abs,
}
_FUNCTIONS = {
    *(np.where, np.clip, np.round, np.around, np.real, np.imag, np.isclose, np.copy),
    *(np.iscomplexobj, np.result_type, np.can_cast),
}


def _is_operand(value: object) -> bool:
    """Test whether GPUArray's operators accept the value."""
    if isinstance(value, np.generic):
        return value.dtype.kind in "biufc"
    return isinstance(value, (GPUArray, Number, np.ndarray, int, float, complex))


def _binary(name: str, is_reflected: bool) -> Callable[..., Any]:
    def method(self: Symbol, other: Any, *modulus: object) -> Any:
        if modulus not in ((), (None,)) or not _is_operand(other):
            return NotImplemented
        return apply(name, *((other, self) if is_reflected else (self, other)))

    return method


def _comparison(name: str) -> Callable[..., Any]:
    def method(self: Symbol, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        result = apply(name, self, other)
        if not core._compares_as_pycuda():
            return result
        kind = kind_of(other)
        common = np.result_type(self.dtype, kind) if isinstance(kind, np.dtype) else self.dtype
        return result.astype(common)

    return method


# Map Python's name of each operator to NumPy's name of the operation.
_BINARY = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide"},
    **{"floordiv": "floor_divide", "mod": "remainder", "pow": "power", "and": "bitwise_and"},
    **{"or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift"},
}
_COMPARISONS = {
    **{"lt": "less", "le": "less_equal", "eq": "equal"},
    **{"ne": "not_equal", "gt": "greater", "ge": "greater_equal"},
}
for _python, _name in _BINARY.items():
    setattr(Symbol, f"__{_python}__", _binary(_name, False))
    setattr(Symbol, f"__r{_python}__", _binary(_name, True))
for _python, _name in _COMPARISONS.items():
    setattr(Symbol, f"__{_python}__", _comparison(_name))

_ELEMENTS_UNKNOWN = "the elements are not known while the function is traced"
_REASONS = {
    **{f"__i{python}__": "traced arrays are read-only: write a = a + b" for python in _BINARY},
    "__bool__": f"{_ELEMENTS_UNKNOWN}: use numpy.where for if, numpy.logical_and for and, "
    "numpy.logical_or for or, numpy.maximum for max; a < b < c means (a < b) and (b < c)",
    "__round__": "write numpy.round(a)",
    **dict.fromkeys(("__iter__", "__getitem__", "__setitem__"), "index the arrays before the call"),
    **dict.fromkeys(("__len__", "shape", "size", "ndim", "strides", "nbytes", "flags"),
                    "a fused function must work for arrays of any shape"),
    **dict.fromkeys(("__int__", "__float__", "__complex__", "__index__", "item", "tolist", "get"),
                    _ELEMENTS_UNKNOWN),
}  # fmt: skip
_TRACEABLE = {"dtype", "real", "imag", "conj", "conjugate", "mul_add", "_axpbyz", "clip", "round"}


def _refuse_member(name: str) -> Any:
    reason = _REASONS.get(name, "it is not element-wise")
    text = f"{name} of an array cannot be traced: {reason}"
    if name.startswith("_") and not name.startswith("__"):
        text = "kernels cannot be called in a fused function"

    def refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
        raise error_at_current_line(text)

    return refuse if name.startswith("__") else property(refuse, refuse)


for _name in set(dir(GPUArray)) - set(dir(object)) - set(vars(Symbol)) - _TRACEABLE:
    if not _name.startswith("__array_p") and _name != "__dict__":
        setattr(Symbol, _name, _refuse_member(_name))


class Scalar(Number):
    """A number in a traced function, with Python's operators and NumPy's functions."""

    __hash__ = None  # type: ignore[assignment]
    dtype = property(operator.attrgetter("traced_value.dtype"))

    def __repr__(self) -> str:
        return f"<{type(self.traced_value).__name__} number in a traced function>"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # Python and NumPy look these up on any object
            raise AttributeError(name)
        raise error_at_current_line(f"{name} of a number argument cannot be traced")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(one, GPUArray) for one in inputs):
            return NotImplemented
        return computed(partial(getattr(ufunc, method), **kwargs), *inputs)

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        if any(issubclass(one, GPUArray) for one in types):
            return NotImplemented
        return computed(partial(func, **kwargs), *args)


def _number_method(function: Callable[..., Any], is_reflected: bool = False) -> Callable[..., Any]:
    def method(self: Scalar, *others: Any) -> Any:
        for other in others:
            if isinstance(other, Traced):
                return NotImplemented
            if isinstance(other, GPUArray):
                raise untraced_array(other)
        return computed(function, *((*others, self) if is_reflected else (self, *others)))

    return method


def _refuse_value(name: str) -> Callable[..., Any]:
    def refuse(self: object, *args: object) -> NoReturn:
        raise error_at_current_line(
            f"{name}: a number argument may change between calls, so its value is not known while "
            "the function is traced; use a default value or functools.partial to make the number "
            "constant"
        )

    return refuse


for _python in (*_BINARY, "divmod"):
    _function = getattr(operator, f"__{_python}__", divmod)
    setattr(Scalar, f"__{_python}__", _number_method(_function))
    setattr(Scalar, f"__r{_python}__", _number_method(_function, is_reflected=True))
for _python in (*_COMPARISONS, "neg", "pos", "abs", "invert"):
    setattr(Scalar, f"__{_python}__", _number_method(getattr(operator, f"__{_python}__")))
for _name in ("bool", "int", "float", "complex", "index", "round", "len", "iter"):
    setattr(Scalar, f"__{_name}__", _refuse_value(_name))
for _name in ("real", "imag"):
    setattr(Scalar, _name, property(_number_method(operator.attrgetter(_name))))
for _name in ("conjugate", "item"):
    setattr(Scalar, _name, _number_method(operator.methodcaller(_name)))
