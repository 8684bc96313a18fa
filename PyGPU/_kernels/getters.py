"""Getters of the kernels behind ``pycuda.gpuarray`` and ``pycuda.cumath``, for other packages.

Each getter returns a Function on the current device that is prepared for its arguments. The last
argument is the number of elements.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._kernels.text.indexed import get_elwise_kernel, get_elwise_kernel_and_types
from PyGPU._kernels.types import ScalarArg, VectorArg, dtype_to_ctype
from PyGPU._runtime import context_dependent_memoize, docstrings

if TYPE_CHECKING:
    from PyGPU._driver import Function
    from PyGPU._types import DTypeLike

# Elementwise kernels of one expression: the getter, the kernel's arguments, the operation, and an
# example: the getter's arguments, the kernel's, and the result for x = [1, 4, 9]. {dtype_x} is the
# C type of dtype_x, {x_is_scalar} an index, {as_z} a cast to dtype_z if that is complex.
_TABLE = """
get_copy_kernel(dtype_dest, dtype_src)
    {dtype_dest} *dest, {dtype_src} *src
    dest[i] = ({dtype_dest})src[i]
    "f4", "f4": z, x -> [1.0, 4.0, 9.0]
get_axpbyz_kernel(dtype_x, dtype_y, dtype_z, x_is_scalar=False, y_is_scalar=False)
    {dtype_x} a, {dtype_x} *x, {dtype_y} b, {dtype_y} *y, {dtype_z} *z
    z[i] = {as_z}a * {as_z}x[{x_is_scalar}] + {as_z}b * {as_z}y[{y_is_scalar}]
    "f4", "f4", "f4": 2, x, 2, x, z -> [4.0, 16.0, 36.0]
get_axpbz_kernel(dtype_x, dtype_z)
    {dtype_z} a, {dtype_x} *x, {dtype_z} b, {dtype_z} *z
    z[i] = a * {as_z}x[i] + b
    "f4", "f4": 2, x, 2, z -> [4.0, 10.0, 20.0]
get_binary_op_kernel(dtype_x, dtype_y, dtype_z, operator, x_is_scalar=False, y_is_scalar=False)
    {dtype_x} *x, {dtype_y} *y, {dtype_z} *z
    z[i] = {as_z}x[{x_is_scalar}] {operator} {as_z}y[{y_is_scalar}]
    "f4", "f4", "f4", "+": x, x, z -> [2.0, 8.0, 18.0]
get_rdivide_elwise_kernel(dtype_x, dtype_z)
    {dtype_x} *x, {dtype_z} y, {dtype_z} *z
    z[i] = y / {as_z}x[i]
    "f8", "f8": x, 2, z -> [2.0, 0.5, 0.2222]
get_binary_func_kernel(func, dtype_x, dtype_y, dtype_z)
    {dtype_x} *x, {dtype_y} *y, {dtype_z} *z
    z[i] = {func}(x[i], y[i])
    "fmax", "f4", "f4", "f4": x, x, z -> [1.0, 4.0, 9.0]
get_binary_func_scalar_kernel(func, dtype_x, dtype_y, dtype_z)
    {dtype_x} *x, {dtype_y} y, {dtype_z} *z
    z[i] = {func}(x[i], y)
    "fmax", "f4", "f4", "f4": x, 2, z -> [2.0, 4.0, 9.0]
get_fill_kernel(dtype)
    {dtype} a, {dtype} *z
    z[i] = a
    "f4": 2, z -> [2.0, 2.0, 2.0]
get_reverse_kernel(dtype)
    {dtype} *y, {dtype} *z
    z[i] = y[n - 1 - i]
    "f4": x, z -> [9.0, 4.0, 1.0]
get_real_kernel(dtype, real_dtype)
    {dtype} *y, {real_dtype} *z
    z[i] = y[i].real()
    "c8", "f4": x, z -> [1.0, 4.0, 9.0]
get_imag_kernel(dtype, real_dtype)
    {dtype} *y, {real_dtype} *z
    z[i] = y[i].imag()
    "c8", "f4": x, z -> [0.0, 0.0, 0.0]
get_conj_kernel(dtype, conj_dtype)
    {dtype} *y, {conj_dtype} *z
    z[i] = ({conj_dtype})pycuda::conj(y[i])
    "c8", "c8": x, z -> [(1-0j), (4-0j), (9-0j)]
get_arange_kernel(dtype)
    {dtype} *z, {dtype} start, {dtype} step
    z[i] = start + ({dtype})i * step
    "f4": z, 2, 2 -> [2.0, 4.0, 6.0]
get_fmod_kernel(dtype=float32)
    {dtype} *arg, {dtype} *mod, {dtype} *z
    z[i] = fmod(arg[i], mod[i])
    "f4": x, x, z -> [0.0, 0.0, 0.0]
get_modf_kernel(dtype=float32)
    {dtype} *x, {dtype} *intpart, {dtype} *fracpart
    fracpart[i] = modf(x[i], &intpart[i])
    "f4": x, gpuarray.empty_like(x), z -> [0.0, 0.0, 0.0]
get_frexp_kernel(dtype=float32)
    {dtype} *x, {dtype} *significand, {dtype} *exponent
    int power = 0; significand[i] = frexp(x[i], &power); exponent[i] = power
    "f4": x, gpuarray.empty_like(x), z -> [1.0, 3.0, 4.0]
get_ldexp_kernel(dtype=float32)
    {dtype} *sig, {dtype} *expt, {dtype} *z
    z[i] = ldexp(sig[i], int(expt[i]))
    "f4": x, x, z -> [2.0, 64.0, 4608.0]
get_unary_func_kernel(func_name, in_dtype, out_dtype=None)
    {in_dtype} *y, {out_dtype} *z
    z[i] = {func_name}(y[i])
    "sqrt", "f4": x, z -> [1.0, 2.0, 3.0]
get_if_positive_kernel(crit_dtype, dtype)
    {crit_dtype} *crit, {dtype} *then_, {dtype} *else_, {dtype} *result
    result[i] = crit[i] > 0 ? then_[i] : else_[i]
    "f4", "f4": x, x, x, z -> [1.0, 4.0, 9.0]
get_where_kernel(crit_dtype, dtype)
    {crit_dtype} *crit, {dtype} *then_, {dtype} *else_, {dtype} *result
    result[i] = crit[i] != 0 ? then_[i] : else_[i]
    "f4", "f4": x, x, x, z -> [1.0, 4.0, 9.0]
get_scalar_op_kernel(dtype_x, dtype_a, dtype_y, operator)
    {dtype_x} *x, {dtype_a} a, {dtype_y} *y
    y[i] = x[i] {operator} a
    "f4", "f4", "f4", "+": x, 2, z -> [3.0, 6.0, 11.0]
get_logical_not_kernel(dtype_x, dtype_out)
    {dtype_x} *x, {dtype_out} *out
    out[i] = x[i] == ({dtype_x})0
    "f4", "f4": x, z -> [0.0, 0.0, 0.0]
"""
_ROWS = re.findall(r"^(\w+)\((.*)\)\n +(.*)\n +(.*)\n +(.*): (.*) -> (.*)$", _TABLE, re.M)

__all__ = [
    *(row[0] for row in _ROWS),
    "get_binary_minmax_kernel",
    "get_linear_combination_kernel",
    "get_pow_array_kernel",
    "get_pow_kernel",
    "get_put_kernel",
    "get_take_kernel",
    "get_take_put_kernel",
]

# Types and descriptions of parameters that are not dtypes.
_DESCRIBED = {
    "operator": ("str", "Binary operator in C."),
    "func": ("str", "Name of a function in C."),
    "func_name": ("str", "Name of a function in C."),
    "x_is_scalar": ("bool", "`x` has one element, which is used for every index."),
    "y_is_scalar": ("bool", "`y` has one element, which is used for every index."),
}


def _described(names: Iterable[str]) -> str:
    """Return the text of the section "Parameters"."""
    lines = []
    for is_described, group in itertools.groupby(names, _DESCRIBED.__contains__):
        if is_described:
            for name in group:
                kind, text = _DESCRIBED[name]
                lines += [f"{name} : {kind}", f"    {text}"]
        else:
            lines += [f"{', '.join(group)} : numpy.dtype", "    Dtypes of the kernel's arguments."]
    return "\n    ".join(lines)


def _words(given: dict[str, Any]) -> dict[str, str]:
    """Return the C text that replaces each parameter of a getter in its templates."""
    words = {}
    for name, value in given.items():
        if "dtype" in name:
            words[name] = dtype_to_ctype(given["in_dtype"] if value is None else value)
        elif name.endswith("_is_scalar"):
            words[name] = "0" if value else "i"
        else:
            words[name] = value
    if "dtype_z" in given:
        is_complex = np.dtype(given["dtype_z"]).kind == "c"
        words["as_z"] = f"({words['dtype_z']})" if is_complex else ""
    return words


def _getter(
    name: str, parameters: str, arguments: str, operation: str, given: str, passed: str, result: str
) -> Any:
    collect = eval(f"lambda {parameters}: locals()", {"float32": np.float32})
    shown = re.sub(r"\{[xy]_is_scalar\}", "i", operation).replace("{as_z}", "")
    shown, declared = (re.sub("[{}]", "", text) for text in (shown, arguments))
    codes = re.findall('"[cf][48]"', given)

    def getter(*args: Any, **kwargs: Any) -> Function:
        words = _words(collect(*args, **kwargs))
        return get_elwise_kernel(arguments.format(**words), operation.format(**words), name[4:])

    getter.__name__ = getter.__qualname__ = collect.__qualname__ = name
    getter.__wrapped__ = collect  # type: ignore[attr-defined]
    getter.__doc__ = f"""Make the kernel of ``{shown}``.

    The kernel's arguments are ``{declared}, n``, where ``n`` is the number of elements.

    Parameters
    ----------
    {_described(collect.__code__.co_varnames)}

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
    return context_dependent_memoize(getter)


globals().update({row[0]: _getter(*row) for row in _ROWS})


def _argument(is_array: bool, dtype: DTypeLike, name: str) -> VectorArg | ScalarArg:
    return (VectorArg if is_array else ScalarArg)(dtype, name)


def _as(dtype: DTypeLike, text: str) -> str:
    return f"({dtype_to_ctype(dtype)}){text}"


@context_dependent_memoize
def get_binary_minmax_kernel(
    func: str, dtype_x: DTypeLike, dtype_y: DTypeLike, dtype_z: DTypeLike, use_scalar: bool
) -> Function:
    """Make the kernel of ``z[i] = min(x[i], y[i])`` or of the maximum, which ignores NaN.

    :param func: Name of a function in C that ends with "min" or "max".
    :param dtype_x, dtype_y, dtype_z: Dtypes of the kernel's arguments ``x, y, z, n``.
    :param use_scalar: True if `y` is a scalar, False if it is an array.
    :returns: The prepared kernel on the current device, cached for each context.

    >>> from PyGPU import elementwise, gpuarray
    >>> x = gpuarray.to_gpu(np.array([1, 4, 9], "i4"))
    >>> kernel = elementwise.get_binary_minmax_kernel("max", "i4", "i4", "i4", True)
    >>> kernel.prepared_call((1, 1), (32, 1, 1), x, 5, x, x.size)
    >>> x
    array([5, 5, 9], dtype=int32)
    """
    types = [np.dtype(dtype) for dtype in (dtype_x, dtype_y, dtype_z)]
    y, order = "y" if use_scalar else "y[i]", "<" if func.endswith("min") else ">"
    if any(dtype.kind == "f" for dtype in types):
        operation = f"z[i] = f{func[-3:]}({_as(types[2], 'x[i]')}, {_as(types[2], y)})"
    else:
        operation = f"z[i] = x[i] {order} {y} ? x[i] : {y}"
    second = _argument(not use_scalar, types[1], "y")
    arguments = [VectorArg(types[0], "x"), second, VectorArg(types[2], "z")]
    return get_elwise_kernel(arguments, operation, "binary_minmax_kernel")


@context_dependent_memoize
def get_pow_array_kernel(
    dtype_x: DTypeLike,
    dtype_y: DTypeLike,
    dtype_z: DTypeLike,
    is_base_array: bool,
    is_exp_array: bool,
) -> Function:
    """Make the kernel of ``z = pow(x, y)``, in double precision for integers.

    :param dtype_x, dtype_y, dtype_z: Dtypes of the kernel's arguments ``x, y, z, n``.
    :param is_base_array, is_exp_array: True if the base `x` or the exponent `y` is an array, False
        if it is a scalar.
    :returns: The prepared kernel on the current device, cached for each context.

    >>> from PyGPU import elementwise, gpuarray
    >>> x = gpuarray.to_gpu(np.array([1, 4, 9], "f4"))
    >>> kernel = elementwise.get_pow_array_kernel("f4", "f4", "f4", True, False)
    >>> kernel.prepared_call((1, 1), (32, 1, 1), x, 0.5, x, x.size)
    >>> x
    array([1., 2., 3.], dtype=float32)
    """
    result = np.dtype(dtype_z)
    compute = result if result.kind in "fc" else np.dtype(np.float64)
    x, y = "x[i]" if is_base_array else "x", "y[i]" if is_exp_array else "y"
    operands = [_argument(is_base_array, dtype_x, "x"), _argument(is_exp_array, dtype_y, "y")]
    return get_elwise_kernel(
        [*operands, VectorArg(result, "z")],
        f"z[i] = pow({_as(compute, x)}, {_as(compute, y)})",
        "pow_array_kernel",
    )


@context_dependent_memoize
def get_pow_kernel(dtype: DTypeLike) -> Function:
    """Make the kernel of ``z = pow(y, value)``, as older versions of PyCUDA have it.

    :param dtype: Dtype of the kernel's arguments ``value, y, z, n``.
    :returns: The prepared kernel on the current device, cached for each context.

    See Also
    --------
    get_pow_array_kernel : Base and exponent can be arrays.

    >>> from PyGPU import elementwise, gpuarray
    >>> y = gpuarray.to_gpu(np.array([1, 4, 9], "f4"))
    >>> elementwise.get_pow_kernel("f4").prepared_call((1, 1), (32, 1, 1), 0.5, y, y, y.size)
    >>> y
    array([1., 2., 3.], dtype=float32)
    """
    arguments = [ScalarArg(dtype, "value"), VectorArg(dtype, "y"), VectorArg(dtype, "z")]
    return get_elwise_kernel(arguments, "z[i] = pow(y[i], value)", "pow_method")


def _moves(
    name: str,
    indices: str,
    operation: str,
    dtype: DTypeLike,
    idx_dtype: DTypeLike,
    count: int,
    with_offsets: bool = False,
) -> Function:
    """Return the kernel that does an operation with `count` pairs of arrays."""
    arguments = [VectorArg(idx_dtype, index) for index in indices.split()]
    arguments += [VectorArg(dtype, f"{end}{k}") for end in ("dest", "src") for k in range(count)]
    offsets = [ScalarArg(idx_dtype, f"offset{k}") for k in range(count if with_offsets else 0)]
    statements = "; ".join(operation.format(k=k) for k in range(count))
    return get_elwise_kernel([*arguments, *offsets], statements, name)


@context_dependent_memoize
def get_take_kernel(dtype: DTypeLike, idx_dtype: DTypeLike, vec_count: int = 1) -> Function:
    """Make the kernel of ``dest0[i] = src0[idx[i]]``, for one or several pairs of arrays.

    The kernel's arguments are ``idx, dest0 ..., src0 ..., n``.

    :param dtype, idx_dtype: Dtypes of the arrays and of the indices.
    :param vec_count: Number of pairs of arrays.
    :returns: The prepared kernel on the current device, cached for each context.

    >>> from PyGPU import elementwise, gpuarray
    >>> index = gpuarray.to_gpu(np.array([2, 0], "i4"))
    >>> source = gpuarray.to_gpu(np.array([1, 4, 9], "f4"))
    >>> taken = gpuarray.zeros(2, "f4")
    >>> kernel = elementwise.get_take_kernel("f4", "i4")
    >>> kernel.prepared_call((1, 1), (32, 1, 1), index, taken, source, taken.size)
    >>> taken
    array([9., 1.], dtype=float32)
    """
    operation = "dest{k}[i] = src{k}[idx[i]]"
    return _moves("take_kernel", "idx", operation, dtype, idx_dtype, vec_count)


@context_dependent_memoize
def get_take_put_kernel(
    dtype: DTypeLike, idx_dtype: DTypeLike, with_offsets: bool, vec_count: int = 1
) -> Function:
    """Make the kernel of ``dest0[dest_idx[i]] = src0[src_idx[i] + offset0]``.

    The kernel's arguments are ``dest_idx, src_idx, dest0 ..., src0 ..., offset0 ..., n``.

    :param dtype, idx_dtype: Dtypes of the arrays, and of indices and offsets.
    :param with_offsets: True if the kernel has the arguments ``offset0 ...``.
    :param vec_count: Number of pairs of arrays.
    :returns: The prepared kernel on the current device, cached for each context.

    >>> from PyGPU import elementwise, gpuarray
    >>> index = gpuarray.to_gpu(np.array([2, 0], "i4"))
    >>> source = gpuarray.to_gpu(np.array([1, 4, 9], "f4"))
    >>> moved = gpuarray.zeros(3, "f4")
    >>> kernel = elementwise.get_take_put_kernel("f4", "i4", with_offsets=False)
    >>> kernel.prepared_call((1, 1), (32, 1, 1), index, index, moved, source, index.size)
    >>> moved
    array([1., 0., 9.], dtype=float32)
    """
    shift = " + offset{k}" if with_offsets else ""
    operation = f"dest{{k}}[dest_idx[i]] = src{{k}}[src_idx[i]{shift}]"
    given = dtype, idx_dtype, vec_count, with_offsets
    return _moves("take_put_kernel", "dest_idx src_idx", operation, *given)


@context_dependent_memoize
def get_put_kernel(dtype: DTypeLike, idx_dtype: DTypeLike, vec_count: int = 1) -> Function:
    """Make the kernel of ``dest0[dest_idx[i]] = src0[i]``, for one or several pairs of arrays.

    The kernel's arguments are ``dest_idx, dest0 ..., src0 ..., n``.

    :param dtype, idx_dtype: Dtypes of the arrays and of the indices.
    :param vec_count: Number of pairs of arrays.
    :returns: The prepared kernel on the current device, cached for each context.

    >>> from PyGPU import elementwise, gpuarray
    >>> index = gpuarray.to_gpu(np.array([2, 0], "i4"))
    >>> source = gpuarray.to_gpu(np.array([4, 9], "f4"))
    >>> target = gpuarray.zeros(3, "f4")
    >>> kernel = elementwise.get_put_kernel("f4", "i4")
    >>> kernel.prepared_call((1, 1), (32, 1, 1), index, target, source, index.size)
    >>> target
    array([9., 0., 4.], dtype=float32)
    """
    operation = "dest{k}[dest_idx[i]] = src{k}[i]"
    return _moves("put_kernel", "dest_idx", operation, dtype, idx_dtype, vec_count)


@context_dependent_memoize
def get_linear_combination_kernel(summand_descriptors, dtype_z):
    """Make the kernel of ``z = a0 * x0 + a1 * x1 + ...``, and texture references of its factors.

    The kernel's arguments are ``a0, x0, a1, x1 ..., z, n``. A factor in device memory is not among
    the arguments: the kernel reads it by a texture reference.

    :param tuple of (bool, dtype, dtype) summand_descriptors: For each summand: True if the factor
        is in device memory, the factor's dtype, and the array's dtype.
    :param numpy.dtype dtype_z: Dtype of the result.
    :returns tuple of (Function, list of TextureReference): The kernel, cached for each context, and
        a reference for each factor in device memory, in their order.
        :meth:`GPUArray.bind_to_texref_ext` binds the factor to its reference.

    >>> from PyGPU import elementwise, gpuarray
    >>> x = gpuarray.to_gpu(np.array([1, 4, 9], "f4"))
    >>> summands = ((False, "f4", "f4"), (False, "f4", "f4"))
    >>> kernel, references = elementwise.get_linear_combination_kernel(summands, "f4")
    >>> kernel.prepared_call((1, 1), (32, 1, 1), 2, x, 10, x, x, x.size)
    >>> x
    array([ 12.,  48., 108.], dtype=float32)
    """
    arguments, terms, references = [], [], {}
    cast = f"({dtype_to_ctype(dtype_z)})" if np.dtype(dtype_z).kind == "c" else ""
    for k, (is_on_device, scalar_dtype, vector_dtype) in enumerate(summand_descriptors):
        if is_on_device:
            references[f"a{k}"] = _texel(scalar_dtype)
        else:
            arguments.append(ScalarArg(scalar_dtype, f"a{k}"))
        arguments.append(VectorArg(vector_dtype, f"x{k}"))
        terms.append(f"{cast}a{k} * {cast}x{k}[i]")
    arguments.append(VectorArg(dtype_z, "z"))
    texts = {}
    if references:
        declared = (f"texture<{texel}> P_of_{name};" for name, texel in references.items())
        texts["preamble"] = "\n".join(["#include <pycuda-helpers.hpp>", *declared])
        read = (f"const auto {name} = fp_tex1Dfetch(P_of_{name}, 0);" for name in references)
        texts["loop_prep"] = "\n".join(read)
    module, function, _ = get_elwise_kernel_and_types(
        arguments, "z[i] = " + " + ".join(terms), "linear_combination_kernel", **texts
    )
    texrefs = [module.get_texref(f"P_of_{name}") for name in references]
    for texref in texrefs:
        function.param_set_texref(texref)
    return function, texrefs


def _texel(dtype):
    """Return the C type of texture elements for numbers of a dtype."""
    name = dtype_to_ctype(dtype, with_fp_tex_hack=True)
    found = np.dtype(dtype)
    if not (name.startswith("fp_tex") or (found.kind in "iu" and found.itemsize <= 4)):
        raise ValueError(
            f"summand_descriptors: a factor of {found} in device memory: textures have float32, "
            "float64, complex64, complex128, and integers of at most 4 bytes"
        )
    return name


docstrings.complete(__name__)
