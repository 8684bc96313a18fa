"""Types of the mathematical functions. Those of one array are created from a table."""

from PyGPU._types import GPUArray, Operand, StreamLike

def fabs(
    array: GPUArray,
    *args: GPUArray | StreamLike,
    out: GPUArray | None = None,
    stream: StreamLike = None,
) -> GPUArray: ...

ceil = floor = rint = trunc = sign = exp = exp2 = expm1 = log = log2 = log10 = log1p = fabs
sqrt = cbrt = square = reciprocal = sin = cos = tan = sinh = cosh = tanh = asin = fabs
acos = atan = asinh = acosh = atanh = arcsin = arccos = arctan = arcsinh = arccosh = fabs
arctanh = deg2rad = rad2deg = isnan = isinf = isfinite = signbit = fabs

def fmod(
    arg: Operand, mod: Operand, stream: StreamLike = None, out: GPUArray | None = None
) -> GPUArray: ...
def hypot(
    x: Operand, y: Operand, stream: StreamLike = None, out: GPUArray | None = None
) -> GPUArray: ...
def arctan2(
    y: Operand, x: Operand, stream: StreamLike = None, out: GPUArray | None = None
) -> GPUArray: ...
def copysign(
    x: Operand, sign: Operand, stream: StreamLike = None, out: GPUArray | None = None
) -> GPUArray: ...
def ldexp(
    significand: Operand, exponent: Operand, stream: StreamLike = None, out: GPUArray | None = None
) -> GPUArray: ...
def frexp(arg: GPUArray, stream: StreamLike = None) -> tuple[GPUArray, GPUArray]: ...
def modf(arg: GPUArray, stream: StreamLike = None) -> tuple[GPUArray, GPUArray]: ...
