"""Mathematical functions of arrays: those of ``PyGPU.cumath``."""

import numpy as np

from PyGPU._arrays.functions import apply, kind_of, run
from PyGPU._kernels import promoted
from PyGPU._runtime import core, docstrings, require_array, warn

# Names in this module, and the operations that they run.
_UNARY = {
    **{name: name for name in ("fabs", "ceil", "floor", "rint", "trunc", "sign")},
    **{name: name for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p")},
    **{name: name for name in ("sqrt", "cbrt", "square", "reciprocal")},
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"arc{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: name for name in ("deg2rad", "rad2deg", "isnan", "isinf", "isfinite", "signbit")},
}

# The unary functions by operation: what they compute, and an example with its result.
_DOCUMENTED = {
    "fabs": ("the absolute value of each real number", "[-1.5, 2.0]", "[1.5, 2.0]"),
    "ceil": ("the smallest integer that is not below each element", "[-1.5, 1.5]", "[-1.0, 2.0]"),
    "floor": ("the largest integer that is not above each element", "[-1.5, 1.5]", "[-2.0, 1.0]"),
    "rint": ("the nearest integer, and the even one of two", "[0.5, 1.7]", "[0.0, 2.0]"),
    "trunc": ("each element without its fraction", "[-1.5, 1.5]", "[-1.0, 1.0]"),
    "sign": ("the sign of each element: -1, 0 or 1", "[-2.0, 0.0]", "[-1.0, 0.0]"),
    "exp": ("e to the power of each element", "[0.0, 1.0]", "[1.0, 2.7183]"),
    "exp2": ("2 to the power of each element", "[0.0, 3.0]", "[1.0, 8.0]"),
    "expm1": ("``exp(x) - 1``, precise near 0", "[0.0, 1.0]", "[0.0, 1.7183]"),
    "log": ("the natural logarithm", "[1.0, 10.0]", "[0.0, 2.3026]"),
    "log2": ("the logarithm to the base 2", "[1.0, 8.0]", "[0.0, 3.0]"),
    "log10": ("the logarithm to the base 10", "[1.0, 100.0]", "[0.0, 2.0]"),
    "log1p": ("``log(1 + x)``, precise near 0", "[0.0, 1.0]", "[0.0, 0.6931]"),
    "sqrt": ("the square root", "[4.0, 9.0]", "[2.0, 3.0]"),
    "cbrt": ("the cube root", "[8.0, 27.0]", "[2.0, 3.0]"),
    "square": ("the square", "[2.0, 3.0]", "[4.0, 9.0]"),
    "reciprocal": ("the reciprocal, ``1 / x``", "[2.0, 4.0]", "[0.5, 0.25]"),
    "sin": ("the sine of angles in radians", "[0.0, 1.0]", "[0.0, 0.8415]"),
    "cos": ("the cosine of angles in radians", "[0.0, 1.0]", "[1.0, 0.5403]"),
    "tan": ("the tangent of angles in radians", "[0.0, 1.0]", "[0.0, 1.5574]"),
    "sinh": ("the hyperbolic sine", "[0.0, 1.0]", "[0.0, 1.1752]"),
    "cosh": ("the hyperbolic cosine", "[0.0, 1.0]", "[1.0, 1.5431]"),
    "tanh": ("the hyperbolic tangent", "[0.0, 1.0]", "[0.0, 0.7616]"),
    "arcsin": ("the angle in radians from its sine", "[0.0, 1.0]", "[0.0, 1.5708]"),
    "arccos": ("the angle in radians from its cosine", "[0.0, 1.0]", "[1.5708, 0.0]"),
    "arctan": ("the angle in radians from its tangent", "[0.0, 1.0]", "[0.0, 0.7854]"),
    "arcsinh": ("the inverse of the hyperbolic sine", "[0.0, 1.0]", "[0.0, 0.8814]"),
    "arccosh": ("the inverse of the hyperbolic cosine", "[1.0, 2.0]", "[0.0, 1.317]"),
    "arctanh": ("the inverse of the hyperbolic tangent", "[0.0, 0.5]", "[0.0, 0.5493]"),
    "deg2rad": ("angles in radians from angles in degrees", "[0.0, 180.0]", "[0.0, 3.1416]"),
    "rad2deg": ("angles in degrees from angles in radians", "[0.0, 1.0]", "[0.0, 57.2958]"),
    "isnan": ("whether each element is NaN", "[1.0, np.nan]", "[False, True]"),
    "isinf": ("whether each element is infinite", "[1.0, -np.inf]", "[False, True]"),
    "isfinite": ("whether each element is finite", "[1.0, np.inf]", "[True, False]"),
    "signbit": ("whether each element has a negative sign", "[-0.0, 2.0]", "[True, False]"),
}

__all__ = [*_UNARY, "arctan2", "copysign", "fmod", "frexp", "hypot", "ldexp", "modf"]


def _positional(name, args, out, stream):
    """Return (out, stream) of a call that passes one of them by position."""
    if len(args) > 1 or (out is not None and stream is not None):
        raise TypeError(f"{name}: expected one array, out= and stream=")
    warn(f"{name}: pass out= and stream= by name", DeprecationWarning)
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
    what, example, result = _DOCUMENTED[operation]
    rounded = "" if "True" in result else ".round(4)"
    function.__doc__ = f"""Compute {what}, as ``numpy.{operation}`` does.

    Parameters
    ----------
    array : GPUArray
        Array of any strides.
    *args : GPUArray or Stream
        Deprecated: `out` or `stream` by position.
    out : GPUArray, optional
        Array for the result, which is converted to its dtype within its kind.
    stream : Stream, optional
        Stream to launch on; the null stream by default.

    Returns
    -------
    GPUArray
        The results, with the shape of `array`.

    Raises
    ------
    TypeError
        The function is not defined for the dtype of `array`.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import cumath, gpuarray
    >>> x = gpuarray.to_gpu(np.array({example}))
    >>> cumath.{name}(x).get(){rounded}.tolist()
    {result}
    """
    return function


globals().update({name: _function(name, operation) for name, operation in _UNARY.items()})


def fmod(arg, mod, stream=None, out=None):
    """Compute the exact remainder of ``arg / mod``, whose quotient is rounded towards zero.

    Parameters
    ----------
    arg, mod : GPUArray or number
        Dividend and divisor; the shapes broadcast.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    out : GPUArray, optional
        Array for the result; a new array by default.

    Returns
    -------
    GPUArray
        The remainders, with the sign of `arg`.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import cumath, gpuarray
    >>> cumath.fmod(gpuarray.to_gpu(np.array([-5.0, 5.0])), 3.0)
    array([-2.,  2.])
    """
    return apply("fmod", arg, mod, out=out, stream=stream)


def hypot(x, y, stream=None, out=None):
    """Compute ``sqrt(x**2 + y**2)`` without intermediate overflow.

    Parameters
    ----------
    x, y : GPUArray or number
        Legs of right triangles; the shapes broadcast.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    out : GPUArray, optional
        Array for the result; a new array by default.

    Returns
    -------
    GPUArray
        The lengths of the hypotenuses.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import cumath, gpuarray
    >>> cumath.hypot(gpuarray.to_gpu(np.array([3.0, 5.0])), gpuarray.to_gpu(np.array([4.0, 12.0])))
    array([ 5., 13.])
    """
    return apply("hypot", x, y, out=out, stream=stream)


def arctan2(y, x, stream=None, out=None):
    """Compute the angle of each point (x, y) in radians, from -pi to pi.

    Parameters
    ----------
    y, x : GPUArray or number
        Coordinates, `y` first; the shapes broadcast.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    out : GPUArray, optional
        Array for the result; a new array by default.

    Returns
    -------
    GPUArray
        The angles in radians.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import cumath, gpuarray
    >>> cumath.arctan2(gpuarray.to_gpu(np.array([0.0, 1.0])), -1.0).get().round(4)
    array([3.1416, 2.3562])
    """
    return apply("arctan2", y, x, out=out, stream=stream)


def copysign(x, sign, stream=None, out=None):
    """Combine the absolute value of `x` with the sign of `sign`.

    Parameters
    ----------
    x, sign : GPUArray or number
        Numbers that set the absolute value and the sign; the shapes broadcast.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    out : GPUArray, optional
        Array for the result; a new array by default.

    Returns
    -------
    GPUArray
        The combined numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import cumath, gpuarray
    >>> cumath.copysign(2.0, gpuarray.to_gpu(np.array([-0.0, 1.0])))
    array([-2.,  2.])
    """
    return apply("copysign", x, sign, out=out, stream=stream)


def frexp(arg, stream=None):
    """Split each element into a significand and an exponent of 2.

    ``arg = significand * 2**exponent`` with ``0.5 <= abs(significand) < 1``.

    :param GPUArray arg: Array of real numbers.
    :param Stream stream: Stream to launch on; the null stream by default.
    :returns tuple of GPUArray: Significands and exponents, both of the significands' dtype.

    >>> from PyGPU import cumath, gpuarray
    >>> cumath.frexp(gpuarray.to_gpu(np.array([1.0, 6.0])))
    (array([0.5 , 0.75]), array([1., 3.]))
    """
    kinds = (require_array("arg", arg).dtype,)
    compute, (dtype, _) = promoted("frexp", kinds)
    return run("frexp", (arg,), compute, (dtype, dtype), stream=stream)


def ldexp(significand, exponent, stream=None, out=None):
    """Compute ``significand * 2**exponent``.

    Parameters
    ----------
    significand, exponent : GPUArray or number
        Operands; the shapes broadcast. The exponents may be floating-point numbers, whose
        fractions are ignored.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    out : GPUArray, optional
        Array for the result; a new array by default.

    Returns
    -------
    GPUArray
        The products, in the floating-point dtype of `significand`.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import cumath, gpuarray
    >>> cumath.ldexp(gpuarray.to_gpu(np.array([0.5, 0.75])), 3)
    array([4., 6.])
    """
    compute, results = promoted("ldexp", (kind_of(significand), np.dtype(np.int32)))
    return run("ldexp", (significand, exponent), compute, results, out, stream)


def modf(arg, stream=None):
    """Split each element into its fraction and its integer part.

    :param GPUArray arg: Array of real numbers.
    :param Stream stream: Stream to launch on; the null stream by default.
    :returns tuple of GPUArray: Fractions and integer parts, both with the sign of `arg`.

    >>> from PyGPU import cumath, gpuarray
    >>> cumath.modf(gpuarray.to_gpu(np.array([-1.25, 2.5])))
    (array([-0.25,  0.5 ]), array([-1.,  2.]))
    """
    return apply("modf", require_array("arg", arg), stream=stream)


docstrings.complete(__name__)
