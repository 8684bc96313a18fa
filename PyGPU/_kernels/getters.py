"""Getters of the kernels behind ``pycuda.gpuarray`` and ``pycuda.cumath``, for other packages.

Each getter returns a Function on the current device that is prepared for its arguments. The last
argument is the number of elements.
"""

from inspect import Parameter, Signature

import numpy as np

from PyGPU._kernels.getter_table import TABLE, documentation
from PyGPU._kernels.text.indexed import get_elwise_kernel, get_elwise_kernel_and_types
from PyGPU._kernels.types import ScalarArg, VectorArg, dtype_to_ctype
from PyGPU._runtime import context_dependent_memoize, docstrings

__all__ = [
    *TABLE,
    "get_binary_minmax_kernel",
    "get_linear_combination_kernel",
    "get_pow_array_kernel",
    "get_pow_kernel",
    "get_put_kernel",
    "get_take_kernel",
    "get_take_put_kernel",
]

_DEFAULTS = {"False": False, "None": None, "float32": np.float32}


def _signature(parameters):
    made = []
    for name, _, default in (one.partition("=") for one in parameters.split()):
        value = _DEFAULTS[default] if default else Parameter.empty
        made.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=value))
    return Signature(made)


def _words(given):
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


def _getter(name, parameters, arguments, operation, example):
    signature = _signature(parameters)

    def getter(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        words = _words(bound.arguments)
        return get_elwise_kernel(arguments.format(**words), operation.format(**words), name[4:])

    getter.__name__ = getter.__qualname__ = name
    getter.__signature__ = signature
    getter.__doc__ = documentation(name, parameters, arguments, operation, example)
    return context_dependent_memoize(getter)


globals().update({name: _getter(name, *row) for name, row in TABLE.items()})


@context_dependent_memoize
def get_binary_minmax_kernel(func, dtype_x, dtype_y, dtype_z, use_scalar):
    """Make the kernel of ``z[i] = min(x[i], y[i])`` or of the maximum, which ignores NaN.

    Parameters
    ----------
    func : str
        Name of a function in C that ends with "min" or "max".
    dtype_x, dtype_y, dtype_z : numpy.dtype
        Dtypes of the kernel's arguments ``x, y, z, n``.
    use_scalar : bool
        True if `y` is a scalar, False if it is an array.

    Returns
    -------
    Function
        The prepared kernel on the current device, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import elementwise, gpuarray
    >>> x = gpuarray.to_gpu(np.array([1, 4, 9], "i4"))
    >>> kernel = elementwise.get_binary_minmax_kernel("max", "i4", "i4", "i4", True)
    >>> kernel.prepared_call((1, 1), (32, 1, 1), x, 5, x, x.size)
    >>> x
    array([5, 5, 9], dtype=int32)
    """
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
    """Make the kernel of ``z = pow(x, y)``, in double precision for integers.

    Parameters
    ----------
    dtype_x, dtype_y, dtype_z : numpy.dtype
        Dtypes of the kernel's arguments ``x, y, z, n``.
    is_base_array, is_exp_array : bool
        True if the base `x` or the exponent `y` is an array, False if it is a scalar.

    Returns
    -------
    Function
        The prepared kernel on the current device, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import elementwise, gpuarray
    >>> x = gpuarray.to_gpu(np.array([1, 4, 9], "f4"))
    >>> kernel = elementwise.get_pow_array_kernel("f4", "f4", "f4", True, False)
    >>> kernel.prepared_call((1, 1), (32, 1, 1), x, 0.5, x, x.size)
    >>> x
    array([1., 2., 3.], dtype=float32)
    """
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
    """Make the kernel of ``z = pow(y, value)``, as older versions of PyCUDA have it.

    :param numpy.dtype dtype: Dtype of the kernel's arguments ``value, y, z, n``.
    :returns Function: The prepared kernel on the current device, cached for each context.

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


def _vectors(dtype, name, count):
    return [VectorArg(dtype, f"{name}{k}") for k in range(count)]


def _statements(pattern, count):
    return "; ".join(pattern.format(k=k) for k in range(count))


@context_dependent_memoize
def get_take_kernel(dtype, idx_dtype, vec_count=1):
    """Make the kernel of ``dest0[i] = src0[idx[i]]``, for one or several pairs of arrays.

    The kernel's arguments are ``idx, dest0 ..., src0 ..., n``.

    Parameters
    ----------
    dtype, idx_dtype : numpy.dtype
        Dtypes of the arrays and of the indices.
    vec_count : int
        Number of pairs of arrays.

    Returns
    -------
    Function
        The prepared kernel on the current device, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import elementwise, gpuarray
    >>> index = gpuarray.to_gpu(np.array([2, 0], "i4"))
    >>> source = gpuarray.to_gpu(np.array([1, 4, 9], "f4"))
    >>> taken = gpuarray.zeros(2, "f4")
    >>> kernel = elementwise.get_take_kernel("f4", "i4")
    >>> kernel.prepared_call((1, 1), (32, 1, 1), index, taken, source, taken.size)
    >>> taken
    array([9., 1.], dtype=float32)
    """
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
    """Make the kernel of ``dest0[dest_idx[i]] = src0[src_idx[i] + offset0]``.

    The kernel's arguments are ``dest_idx, src_idx, dest0 ..., src0 ..., offset0 ..., n``.

    Parameters
    ----------
    dtype, idx_dtype : numpy.dtype
        Dtypes of the arrays, and of indices and offsets.
    with_offsets : bool
        True if the kernel has the arguments ``offset0 ...``.
    vec_count : int
        Number of pairs of arrays.

    Returns
    -------
    Function
        The prepared kernel on the current device, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import elementwise, gpuarray
    >>> index = gpuarray.to_gpu(np.array([2, 0], "i4"))
    >>> source = gpuarray.to_gpu(np.array([1, 4, 9], "f4"))
    >>> moved = gpuarray.zeros(3, "f4")
    >>> kernel = elementwise.get_take_put_kernel("f4", "i4", with_offsets=False)
    >>> kernel.prepared_call((1, 1), (32, 1, 1), index, index, moved, source, index.size)
    >>> moved
    array([1., 0., 9.], dtype=float32)
    """
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
    """Make the kernel of ``dest0[dest_idx[i]] = src0[i]``, for one or several pairs of arrays.

    The kernel's arguments are ``dest_idx, dest0 ..., src0 ..., n``.

    Parameters
    ----------
    dtype, idx_dtype : numpy.dtype
        Dtypes of the arrays and of the indices.
    vec_count : int
        Number of pairs of arrays.

    Returns
    -------
    Function
        The prepared kernel on the current device, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import elementwise, gpuarray
    >>> index = gpuarray.to_gpu(np.array([2, 0], "i4"))
    >>> source = gpuarray.to_gpu(np.array([4, 9], "f4"))
    >>> target = gpuarray.zeros(3, "f4")
    >>> kernel = elementwise.get_put_kernel("f4", "i4")
    >>> kernel.prepared_call((1, 1), (32, 1, 1), index, target, source, index.size)
    >>> target
    array([9., 0., 4.], dtype=float32)
    """
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
