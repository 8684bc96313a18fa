"""Table of the elementwise kernels of one expression, and the docstrings of their getters."""

from __future__ import annotations

import itertools
import re

_XYZ = "{dtype_x} *x, {dtype_y} *y, {dtype_z} *z"
_FLAGS = "x_is_scalar=False y_is_scalar=False"  # arrays with one element, used for all
# For each getter: its parameters, the kernel's arguments, the operation, and an example: the
# getter's arguments, the kernel's arguments, and the result for x = [1, 4, 9]. In the texts,
# {dtype_x} is the C type of dtype_x, {x_is_scalar} an index, {as_z} a cast to dtype_z if that is
# complex.
TABLE = {
    "get_copy_kernel": (
        "dtype_dest dtype_src",
        "{dtype_dest} *dest, {dtype_src} *src",
        "dest[i] = ({dtype_dest})src[i]",
        ('"f4", "f4"', "z, x", "[1.0, 4.0, 9.0]"),
    ),
    "get_axpbyz_kernel": (
        f"dtype_x dtype_y dtype_z {_FLAGS}",
        "{dtype_x} a, {dtype_x} *x, {dtype_y} b, {dtype_y} *y, {dtype_z} *z",
        "z[i] = {as_z}a * {as_z}x[{x_is_scalar}] + {as_z}b * {as_z}y[{y_is_scalar}]",
        ('"f4", "f4", "f4"', "2, x, 2, x, z", "[4.0, 16.0, 36.0]"),
    ),
    "get_axpbz_kernel": (
        "dtype_x dtype_z",
        "{dtype_z} a, {dtype_x} *x, {dtype_z} b, {dtype_z} *z",
        "z[i] = a * {as_z}x[i] + b",
        ('"f4", "f4"', "2, x, 2, z", "[4.0, 10.0, 20.0]"),
    ),
    "get_binary_op_kernel": (
        f"dtype_x dtype_y dtype_z operator {_FLAGS}",
        _XYZ,
        "z[i] = {as_z}x[{x_is_scalar}] {operator} {as_z}y[{y_is_scalar}]",
        ('"f4", "f4", "f4", "+"', "x, x, z", "[2.0, 8.0, 18.0]"),
    ),
    "get_rdivide_elwise_kernel": (
        "dtype_x dtype_z",
        "{dtype_x} *x, {dtype_z} y, {dtype_z} *z",
        "z[i] = y / {as_z}x[i]",
        ('"f8", "f8"', "x, 2, z", "[2.0, 0.5, 0.2222]"),
    ),
    "get_binary_func_kernel": (
        "func dtype_x dtype_y dtype_z",
        _XYZ,
        "z[i] = {func}(x[i], y[i])",
        ('"fmax", "f4", "f4", "f4"', "x, x, z", "[1.0, 4.0, 9.0]"),
    ),
    "get_binary_func_scalar_kernel": (
        "func dtype_x dtype_y dtype_z",
        "{dtype_x} *x, {dtype_y} y, {dtype_z} *z",
        "z[i] = {func}(x[i], y)",
        ('"fmax", "f4", "f4", "f4"', "x, 2, z", "[2.0, 4.0, 9.0]"),
    ),
    "get_fill_kernel": (
        "dtype",
        "{dtype} a, {dtype} *z",
        "z[i] = a",
        ('"f4"', "2, z", "[2.0, 2.0, 2.0]"),
    ),
    "get_reverse_kernel": (
        "dtype",
        "{dtype} *y, {dtype} *z",
        "z[i] = y[n - 1 - i]",
        ('"f4"', "x, z", "[9.0, 4.0, 1.0]"),
    ),
    "get_real_kernel": (
        "dtype real_dtype",
        "{dtype} *y, {real_dtype} *z",
        "z[i] = y[i].real()",
        ('"c8", "f4"', "x, z", "[1.0, 4.0, 9.0]"),
    ),
    "get_imag_kernel": (
        "dtype real_dtype",
        "{dtype} *y, {real_dtype} *z",
        "z[i] = y[i].imag()",
        ('"c8", "f4"', "x, z", "[0.0, 0.0, 0.0]"),
    ),
    "get_conj_kernel": (
        "dtype conj_dtype",
        "{dtype} *y, {conj_dtype} *z",
        "z[i] = ({conj_dtype})pycuda::conj(y[i])",
        ('"c8", "c8"', "x, z", "[(1-0j), (4-0j), (9-0j)]"),
    ),
    "get_arange_kernel": (
        "dtype",
        "{dtype} *z, {dtype} start, {dtype} step",
        "z[i] = start + ({dtype})i * step",
        ('"f4"', "z, 2, 2", "[2.0, 4.0, 6.0]"),
    ),
    "get_fmod_kernel": (
        "dtype=float32",
        "{dtype} *arg, {dtype} *mod, {dtype} *z",
        "z[i] = fmod(arg[i], mod[i])",
        ('"f4"', "x, x, z", "[0.0, 0.0, 0.0]"),
    ),
    "get_modf_kernel": (
        "dtype=float32",
        "{dtype} *x, {dtype} *intpart, {dtype} *fracpart",
        "fracpart[i] = modf(x[i], &intpart[i])",
        ('"f4"', "x, gpuarray.empty_like(x), z", "[0.0, 0.0, 0.0]"),
    ),
    "get_frexp_kernel": (
        "dtype=float32",
        "{dtype} *x, {dtype} *significand, {dtype} *exponent",
        "int power = 0; significand[i] = frexp(x[i], &power); exponent[i] = power",
        ('"f4"', "x, gpuarray.empty_like(x), z", "[1.0, 3.0, 4.0]"),
    ),
    "get_ldexp_kernel": (
        "dtype=float32",
        "{dtype} *sig, {dtype} *expt, {dtype} *z",
        "z[i] = ldexp(sig[i], int(expt[i]))",
        ('"f4"', "x, x, z", "[2.0, 64.0, 4608.0]"),
    ),
    "get_unary_func_kernel": (
        "func_name in_dtype out_dtype=None",
        "{in_dtype} *y, {out_dtype} *z",
        "z[i] = {func_name}(y[i])",
        ('"sqrt", "f4"', "x, z", "[1.0, 2.0, 3.0]"),
    ),
    "get_if_positive_kernel": (
        "crit_dtype dtype",
        "{crit_dtype} *crit, {dtype} *then_, {dtype} *else_, {dtype} *result",
        "result[i] = crit[i] > 0 ? then_[i] : else_[i]",
        ('"f4", "f4"', "x, x, x, z", "[1.0, 4.0, 9.0]"),
    ),
    "get_where_kernel": (
        "crit_dtype dtype",
        "{crit_dtype} *crit, {dtype} *then_, {dtype} *else_, {dtype} *result",
        "result[i] = crit[i] != 0 ? then_[i] : else_[i]",
        ('"f4", "f4"', "x, x, x, z", "[1.0, 4.0, 9.0]"),
    ),
    "get_scalar_op_kernel": (
        "dtype_x dtype_a dtype_y operator",
        "{dtype_x} *x, {dtype_a} a, {dtype_y} *y",
        "y[i] = x[i] {operator} a",
        ('"f4", "f4", "f4", "+"', "x, 2, z", "[3.0, 6.0, 11.0]"),
    ),
    "get_logical_not_kernel": (
        "dtype_x dtype_out",
        "{dtype_x} *x, {dtype_out} *out",
        "out[i] = x[i] == ({dtype_x})0",
        ('"f4", "f4"', "x, z", "[0.0, 0.0, 0.0]"),
    ),
}
# Types and descriptions of parameters that are not dtypes.
_DESCRIBED = {
    "operator": ("str", "Binary operator in C."),
    "func": ("str", "Name of a function in C."),
    "func_name": ("str", "Name of a function in C."),
    "x_is_scalar": ("bool", "`x` has one element, which is used for every index."),
    "y_is_scalar": ("bool", "`y` has one element, which is used for every index."),
}


def _described(parameters: str) -> str:
    """Return the text of the section "Parameters"."""
    names = [one.partition("=")[0] for one in parameters.split()]
    lines = []
    for is_described, group in itertools.groupby(names, _DESCRIBED.__contains__):
        if is_described:
            for name in group:
                kind, text = _DESCRIBED[name]
                lines += [f"{name} : {kind}", f"    {text}"]
        else:
            lines += [f"{', '.join(group)} : numpy.dtype", "    Dtypes of the kernel's arguments."]
    return "\n    ".join(lines)


def documentation(
    name: str, parameters: str, arguments: str, operation: str, example: tuple[str, str, str]
) -> str:
    """Return the docstring of a getter."""
    shown = re.sub(r"\{[xy]_is_scalar\}", "i", operation).replace("{as_z}", "")
    shown, declared = (re.sub("[{}]", "", one) for one in (shown, arguments))
    given, passed, result = example
    codes = re.findall('"[cf][48]"', given)
    return f"""Make the kernel of ``{shown}``.

    The kernel's arguments are ``{declared}, n``, where ``n`` is the number of elements.

    Parameters
    ----------
    {_described(parameters)}

    Returns
    -------
    Function
        The prepared kernel on the current device, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import elementwise, gpuarray
    >>> x = gpuarray.to_gpu(np.array([1, 4, 9], {codes[0]}))
    >>> z = gpuarray.zeros(3, {codes[-1]})
    >>> kernel = elementwise.{name}({given})
    >>> kernel.prepared_call((1, 1), (32, 1, 1), {passed}, z.size)
    >>> z.get().round(4).tolist()
    {result}
    """
