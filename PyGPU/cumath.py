"""Mathematical functions of arrays: the names of ``pycuda.cumath``, and further names of NumPy.

All functions accept arrays of any strides and return arrays with the same order of axes. Result
dtypes are NumPy's: floating-point dtypes stay, integers become floating-point numbers. float16 is
computed in float32, every other dtype in its own precision.
"""

from PyGPU._runtime import hooks

#: Names that are loaded at first use, and their module.
DEFERRED = hooks.by_name(
    {
        "PyGPU._arrays.mathematics": "fabs ceil floor rint trunc sign exp exp2 expm1 log log2 "
        "log10 log1p sqrt cbrt square reciprocal sin cos tan sinh cosh tanh asin acos atan "
        "asinh acosh atanh arcsin arccos arctan arcsinh arccosh arctanh deg2rad rad2deg isnan "
        "isinf isfinite signbit arctan2 copysign fmod frexp hypot ldexp modf"
    }
)
__getattr__, __dir__ = hooks.late_names(globals(), DEFERRED)
__all__ = [*DEFERRED]
