"""The kernels behind ``pycuda.gpuarray`` and ``pycuda.cumath``, which other packages ask for by
name: prepared Functions on the current device, whose last argument is the number of elements."""

from inspect import Parameter, Signature

import numpy as np

from PyGPU._kernels.text.indexed import get_elwise_kernel, get_elwise_kernel_and_types
from PyGPU._kernels.types import ScalarArg, VectorArg, dtype_to_ctype
from PyGPU._runtime import context_dependent_memoize

_XYZ = "{dtype_x} *x, {dtype_y} *y, {dtype_z} *z"
_FLAGS = "x_is_scalar=False y_is_scalar=False"  # of arrays with one element for all
# Getter: its parameters, the kernel's arguments, the operation. In these, {dtype_x} is the C type
# of dtype_x, {x_is_scalar} an index, {as_z} a cast to dtype_z where that is complex.
_TABLE = {
    "get_copy_kernel": (
        "dtype_dest dtype_src",
        "{dtype_dest} *dest, {dtype_src} *src",
        "dest[i] = ({dtype_dest})src[i]",
    ),
    "get_axpbyz_kernel": (
        f"dtype_x dtype_y dtype_z {_FLAGS}",
        "{dtype_x} a, {dtype_x} *x, {dtype_y} b, {dtype_y} *y, {dtype_z} *z",
        "z[i] = {as_z}a * {as_z}x[{x_is_scalar}] + {as_z}b * {as_z}y[{y_is_scalar}]",
    ),
    "get_axpbz_kernel": (
        "dtype_x dtype_z",
        "{dtype_z} a, {dtype_x} *x, {dtype_z} b, {dtype_z} *z",
        "z[i] = a * {as_z}x[i] + b",
    ),
    "get_binary_op_kernel": (
        f"dtype_x dtype_y dtype_z operator {_FLAGS}",
        _XYZ,
        "z[i] = {as_z}x[{x_is_scalar}] {operator} {as_z}y[{y_is_scalar}]",
    ),
    "get_rdivide_elwise_kernel": (
        "dtype_x dtype_z",
        "{dtype_x} *x, {dtype_z} y, {dtype_z} *z",
        "z[i] = y / {as_z}x[i]",
    ),
    "get_binary_func_kernel": ("func dtype_x dtype_y dtype_z", _XYZ, "z[i] = {func}(x[i], y[i])"),
    "get_binary_func_scalar_kernel": (
        "func dtype_x dtype_y dtype_z",
        "{dtype_x} *x, {dtype_y} y, {dtype_z} *z",
        "z[i] = {func}(x[i], y)",
    ),
    "get_fill_kernel": ("dtype", "{dtype} a, {dtype} *z", "z[i] = a"),
    "get_reverse_kernel": ("dtype", "{dtype} *y, {dtype} *z", "z[i] = y[n - 1 - i]"),
    "get_real_kernel": ("dtype real_dtype", "{dtype} *y, {real_dtype} *z", "z[i] = y[i].real()"),
    "get_imag_kernel": ("dtype real_dtype", "{dtype} *y, {real_dtype} *z", "z[i] = y[i].imag()"),
    "get_conj_kernel": (
        "dtype conj_dtype",
        "{dtype} *y, {conj_dtype} *z",
        "z[i] = ({conj_dtype})pycuda::conj(y[i])",
    ),
    "get_arange_kernel": (
        "dtype",
        "{dtype} *z, {dtype} start, {dtype} step",
        "z[i] = start + ({dtype})i * step",
    ),
    "get_fmod_kernel": (
        "dtype=float32",
        "{dtype} *arg, {dtype} *mod, {dtype} *z",
        "z[i] = fmod(arg[i], mod[i])",
    ),
    "get_modf_kernel": (
        "dtype=float32",
        "{dtype} *x, {dtype} *intpart, {dtype} *fracpart",
        "fracpart[i] = modf(x[i], &intpart[i])",
    ),
    "get_frexp_kernel": (
        "dtype=float32",
        "{dtype} *x, {dtype} *significand, {dtype} *exponent",
        "int power = 0; significand[i] = frexp(x[i], &power); exponent[i] = power",
    ),
    "get_ldexp_kernel": (
        "dtype=float32",
        "{dtype} *sig, {dtype} *expt, {dtype} *z",
        "z[i] = ldexp(sig[i], int(expt[i]))",
    ),
    "get_unary_func_kernel": (
        "func_name in_dtype out_dtype=None",
        "{in_dtype} *y, {out_dtype} *z",
        "z[i] = {func_name}(y[i])",
    ),
    "get_if_positive_kernel": (
        "crit_dtype dtype",
        "{crit_dtype} *crit, {dtype} *then_, {dtype} *else_, {dtype} *result",
        "result[i] = crit[i] > 0 ? then_[i] : else_[i]",
    ),
    "get_where_kernel": (
        "crit_dtype dtype",
        "{crit_dtype} *crit, {dtype} *then_, {dtype} *else_, {dtype} *result",
        "result[i] = crit[i] != 0 ? then_[i] : else_[i]",
    ),
    "get_scalar_op_kernel": (
        "dtype_x dtype_a dtype_y operator",
        "{dtype_x} *x, {dtype_a} a, {dtype_y} *y",
        "y[i] = x[i] {operator} a",
    ),
    "get_logical_not_kernel": (
        "dtype_x dtype_out",
        "{dtype_x} *x, {dtype_out} *out",
        "out[i] = x[i] == ({dtype_x})0",
    ),
}
_DEFAULTS = {"False": False, "None": None, "float32": np.float32}


def _signature(parameters):
    made = []
    for name, _, default in (one.partition("=") for one in parameters.split()):
        value = _DEFAULTS[default] if default else Parameter.empty
        made.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=value))
    return Signature(made)


def _words(given):
    """What stands for a getter's parameters in the text."""
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


def _getter(name, parameters, arguments, operation):
    signature = _signature(parameters)

    def getter(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        words = _words(bound.arguments)
        return get_elwise_kernel(arguments.format(**words), operation.format(**words), name[4:])

    getter.__name__ = getter.__qualname__ = name
    getter.__signature__ = signature
    getter.__doc__ = f"The kernel of ``{operation}`` with the arguments ``{arguments}, n``."
    return context_dependent_memoize(getter)


globals().update({name: _getter(name, *row) for name, row in _TABLE.items()})


@context_dependent_memoize
def get_binary_minmax_kernel(func, dtype_x, dtype_y, dtype_z, use_scalar):
    """z = min or max, which `func` says, of x and y. A NaN loses against a number."""
    types = [np.dtype(one) for one in (dtype_x, dtype_y, dtype_z)]
    y, order = "y" if use_scalar else "y[i]", "<" if func.endswith("min") else ">"
    if any(one.kind == "f" for one in types):
        operation = f"z[i] = f{func[-3:]}({_as(types[2], 'x[i]')}, {_as(types[2], y)})"
    else:
        operation = f"z[i] = x[i] {order} {y} ? x[i] : {y}"
    return get_elwise_kernel(
        [
            VectorArg(types[0], "x"),
            (ScalarArg if use_scalar else VectorArg)(types[1], "y"),
            VectorArg(types[2], "z"),
        ],
        operation,
        "binary_minmax_kernel",
    )


def _as(dtype, text):
    return f"({dtype_to_ctype(dtype)}){text}"


@context_dependent_memoize
def get_pow_array_kernel(dtype_x, dtype_y, dtype_z, is_base_array, is_exp_array):
    """z = x ** y, in double precision for integers; x and y are arrays or values."""
    types = [np.dtype(one) for one in (dtype_x, dtype_y, dtype_z)]
    compute = types[2] if types[2].kind in "fc" else np.dtype(np.float64)
    x, y = "x[i]" if is_base_array else "x", "y[i]" if is_exp_array else "y"
    return get_elwise_kernel(
        [
            (VectorArg if is_base_array else ScalarArg)(types[0], "x"),
            (VectorArg if is_exp_array else ScalarArg)(types[1], "y"),
            VectorArg(types[2], "z"),
        ],
        f"z[i] = pow({_as(compute, x)}, {_as(compute, y)})",
        "pow_array_kernel",
    )


@context_dependent_memoize
def get_pow_kernel(dtype):
    """z = y ** value: what PyCUDA had until exponents could be arrays, for older programs."""
    arguments = [ScalarArg(dtype, "value"), VectorArg(dtype, "y"), VectorArg(dtype, "z")]
    return get_elwise_kernel(arguments, "z[i] = pow(y[i], value)", "pow_method")


def _vectors(dtype, name, count):
    return [VectorArg(dtype, f"{name}{k}") for k in range(count)]


def _statements(pattern, count):
    return "; ".join(pattern.format(k=k) for k in range(count))


@context_dependent_memoize
def get_take_kernel(dtype, idx_dtype, vec_count=1):
    """dest0[i] = src0[idx[i]] and so on, with the arguments ``idx, dest0 ..., src0 ..., n``."""
    return get_elwise_kernel(
        [
            VectorArg(idx_dtype, "idx"),
            *_vectors(dtype, "dest", vec_count),
            *_vectors(dtype, "src", vec_count),
        ],
        _statements("dest{k}[i] = src{k}[idx[i]]", vec_count),
        "take_kernel",
    )


@context_dependent_memoize
def get_take_put_kernel(dtype, idx_dtype, with_offsets, vec_count=1):
    """dest0[dest_idx[i]] = src0[src_idx[i] + offset0] and so on, with the arguments ``dest_idx,
    src_idx, dest0 ..., src0 ..., offset0 ..., n``; without offsets if so asked."""
    offsets = [ScalarArg(idx_dtype, f"offset{k}") for k in range(vec_count)] if with_offsets else []
    shift = " + offset{k}" if with_offsets else ""
    return get_elwise_kernel(
        [
            VectorArg(idx_dtype, "dest_idx"),
            VectorArg(idx_dtype, "src_idx"),
            *_vectors(dtype, "dest", vec_count),
            *_vectors(dtype, "src", vec_count),
            *offsets,
        ],
        _statements(f"dest{{k}}[dest_idx[i]] = src{{k}}[src_idx[i]{shift}]", vec_count),
        "take_put_kernel",
    )


@context_dependent_memoize
def get_put_kernel(dtype, idx_dtype, vec_count=1):
    """dest0[dest_idx[i]] = src0[i] and so on, with the arguments ``dest_idx, dest0 ..., src0 ...,
    n``."""
    return get_elwise_kernel(
        [
            VectorArg(idx_dtype, "dest_idx"),
            *_vectors(dtype, "dest", vec_count),
            *_vectors(dtype, "src", vec_count),
        ],
        _statements("dest{k}[dest_idx[i]] = src{k}[i]", vec_count),
        "put_kernel",
    )


@context_dependent_memoize
def get_linear_combination_kernel(summand_descriptors, dtype_z):
    """(kernel, texture references) of z = a0 x0 + a1 x1 + ..., with the arguments
    ``a0, x0, a1, x1 ..., z, n``, less the factors in device memory.

    Parameters
    ----------
    summand_descriptors : tuple of (bool, dtype, dtype)
        Is the factor in device memory? The types of the factor and of the array.

    Returns
    -------
    (Function, list of TextureReference)
        A reference for each factor in device memory, in their order, to be bound to it by
        :meth:`GPUArray.bind_to_texref_ext`.
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
    """The C type of a texture's elements that stand for numbers of a dtype."""
    name = dtype_to_ctype(dtype, with_fp_tex_hack=True)
    found = np.dtype(dtype)
    if not (name.startswith("fp_tex") or (found.kind in "iu" and found.itemsize <= 4)):
        raise ValueError(
            f"summand_descriptors: a factor of {found} in device memory: textures have float32, "
            "float64, complex64, complex128, and integers of at most 4 bytes"
        )
    return name


__all__ = [
    *_TABLE,
    "get_binary_minmax_kernel",
    "get_linear_combination_kernel",
    "get_pow_array_kernel",
    "get_pow_kernel",
    "get_put_kernel",
    "get_take_kernel",
    "get_take_put_kernel",
]
