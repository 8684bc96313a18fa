"""Mathematical functions of arrays: the names of ``pycuda.cumath``, and NumPy's for the others.

All take arrays of any strides, and give results whose axes have the same order. The results' dtypes
are NumPy's: float16, float32 and the like stay, integers become floating-point numbers. float16 is
computed in float32, everything else in its own precision.
"""

import warnings

import numpy as np

from PyGPU._arrays.functions import apply, kind_of, run
from PyGPU._kernels.promotion import promoted
from PyGPU._runtime.arguments import require_array
from PyGPU._runtime.targets import core

# Of this module, and of the operations.
_UNARY = {
    **{name: name for name in ("fabs", "ceil", "floor", "rint", "trunc", "sign")},
    **{name: name for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p")},
    **{name: name for name in ("sqrt", "cbrt", "square", "reciprocal")},
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"arc{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: name for name in ("deg2rad", "rad2deg", "isnan", "isinf", "isfinite", "signbit")},
}

__all__ = [*_UNARY, "arctan2", "copysign", "fmod", "frexp", "hypot", "ldexp", "modf"]


def _positional(name, args, out, stream):
    """(out, stream) where one of them was given by its place."""
    if len(args) > 1 or (out is not None and stream is not None):
        raise TypeError(f"{name}: expected one array, out= and stream=")
    warnings.warn(f"{name}: pass out= and stream= by name", DeprecationWarning, 3)
    (given,) = args
    if isinstance(given, core.GPUArray):
        if out is not None:
            raise TypeError(f"{name}: out was given twice")
        return given, stream
    if stream is not None:
        raise TypeError(f"{name}: stream was given twice")
    return out, given


def _function(name, operation):
    def function(array, *args, out=None, stream=None):
        if args:
            out, stream = _positional(name, args, out, stream)
        return apply(operation, require_array("array", array), out=out, stream=stream)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""``numpy.{operation}`` of each element.

    Parameters
    ----------
    array : GPUArray
    out : GPUArray, optional
        For the results, which are converted to its dtype if that is of their kind.
    stream : Stream, optional

    Returns
    -------
    GPUArray

    Raises
    ------
    TypeError
        For dtypes for which the function is not defined.
    """
    return function


globals().update({name: _function(name, operation) for name, operation in _UNARY.items()})


def fmod(arg, mod, stream=None, out=None):
    """The remainder of a quotient that is rounded towards zero; exact."""
    return apply("fmod", arg, mod, out=out, stream=stream)


def hypot(x, y, stream=None, out=None):
    """``sqrt(x**2 + y**2)`` without overflow on the way."""
    return apply("hypot", x, y, out=out, stream=stream)


def arctan2(y, x, stream=None, out=None):
    """The angle of the point (x, y), from -pi to pi."""
    return apply("arctan2", y, x, out=out, stream=stream)


def copysign(x, sign, stream=None, out=None):
    """The size of `x` with the sign of `sign`."""
    return apply("copysign", x, sign, out=out, stream=stream)


def frexp(arg, stream=None):
    """(significand, exponent) with ``arg = significand * 2**exponent``, 0.5 <= |significand| < 1.

    The exponents are an array of the significands' dtype.
    """
    kinds = (require_array("arg", arg).dtype,)
    compute, (dtype, _) = promoted("frexp", kinds)
    return run("frexp", (arg,), compute, (dtype, dtype), stream=stream)


def ldexp(significand, exponent, stream=None, out=None):
    """``significand * 2**exponent``. Exponents may be floating-point numbers: whole parts count.

    Parameters
    ----------
    significand, exponent : GPUArray or number
        The dtype is that of `significand`.
    """
    compute, results = promoted("ldexp", (kind_of(significand), np.dtype(np.int32)))
    return run("ldexp", (significand, exponent), compute, results, out, stream)


def modf(arg, stream=None):
    """(fraction, whole): both with the sign of `arg`."""
    return apply("modf", require_array("arg", arg), stream=stream)
