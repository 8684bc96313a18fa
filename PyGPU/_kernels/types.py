"""Types of kernel arguments: their names in C, the registry of structures, declared arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from PyGPU._compile.source import c_names
from PyGPU._runtime import core, docstrings, errors, warn

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike

Scalar = TypeVar("Scalar")
Vector = TypeVar("Vector")


class DTypeRegistry:
    """A registry of dtypes and their names in C.

    Attributes
    ----------
    dtype_to_name : dict
        The name to write, by dtype and by the dtype's text.
    name_to_dtype : dict
        The dtype of each name that can be read.

    >>> from PyGPU.compyte.dtypes import DTypeRegistry
    >>> registry = DTypeRegistry()
    >>> registry.get_or_register_dtype(["int", "signed int"], "i4")
    dtype('int32')
    >>> registry.dtype_to_ctype("i4")
    'int'
    """

    def __init__(self) -> None:
        self.dtype_to_name: dict[DType | str, str] = {}
        self.name_to_dtype: dict[str, DType] = {}

    def get_or_register_dtype(
        self, names: str | Iterable[str], dtype: DTypeLike | None = None
    ) -> DType:
        """Look up the dtype of a C name, or register names for a dtype.

        :param str or list of str names: Names in C. `dtype_to_ctype` returns the first one.
        :param dtype: Dtype to register; None looks up the first of `names`.
        :returns: The dtype.
        :raises KeyError: `dtype` is None and the name is unknown.
        :raises RuntimeError: A name belongs to another dtype.

        >>> from PyGPU.tools import get_or_register_dtype
        >>> get_or_register_dtype("float")
        dtype('float32')
        >>> get_or_register_dtype("my_pair", np.dtype([("a", "i4"), ("b", "i4")]))
        dtype([('a', '<i4'), ('b', '<i4')])
        """
        names = [names] if isinstance(names, str) else list(names)
        if dtype is None:
            return self.name_to_dtype[names[0]]
        dtype = np.dtype(dtype)
        for name in names:
            other = self.name_to_dtype.get(name, dtype)
            if other != dtype:
                raise RuntimeError(f"the name '{name}' already belongs to {other}, not to {dtype}")
        self.dtype_to_name.setdefault(dtype, names[0])
        self.dtype_to_name.setdefault(str(dtype), names[0])
        for name in names:
            self.name_to_dtype[name] = dtype
        return dtype

    def dtype_to_ctype(self, dtype: DTypeLike | None) -> str:
        """Return the C name of a dtype.

        :param numpy.dtype dtype: Dtype, or an object that numpy.dtype accepts.
        :returns: The name in C.
        :raises ValueError: `dtype` is None or has no name in C.

        >>> from PyGPU.compyte.dtypes import dtype_to_ctype
        >>> dtype_to_ctype("f8")
        'double'
        """
        if dtype is None:
            raise ValueError("dtype may not be None")
        dtype = np.dtype(dtype)
        try:
            return self.dtype_to_name[dtype]
        except KeyError:
            raise ValueError(f"unable to map dtype '{dtype}'{_advice(dtype)}") from None


def _advice(dtype: DType) -> str:
    if dtype.fields:
        return "; PyGPU.tools.get_or_register_dtype(name, dtype) gives it a name in C"
    if not dtype.isnative:
        return "; convert the array before to_gpu(): .astype(dtype.newbyteorder('='))"
    if dtype.kind in "Mm":
        return "; compute with a.view('int64'), in which NaT is the least number"
    return ""


#: The registry for declarations of kernels' arguments.
REGISTRY = DTypeRegistry()
for _code, _names in c_names.C_NAMES.items():
    REGISTRY.get_or_register_dtype(_names, _code)


def read_declaration(
    c_arg: str,
    of_scalar: Callable[[DType, str], Scalar],
    of_vector: Callable[[DType, str], Vector],
    dtype_of: Callable[[str], DType],
) -> Scalar | Vector:
    """Parse a declaration such as ``const float *x`` or ``int n``.

    Parameters
    ----------
    c_arg : str
        Declaration in C.
    of_scalar, of_vector : callable(dtype, name)
        Functions that make the result for a value and for a pointer.
    dtype_of : callable(name)
        Function that returns the dtype of a type's name; KeyError for unknown names.

    Returns
    -------
    object
        The result of `of_scalar` or `of_vector`.

    Raises
    ------
    ValueError
        `c_arg` is not a declaration, or the name of its type is unknown.
    """
    text = re.sub(r"\b(?:const|volatile|restrict|__restrict__|__restrict)\b", " ", c_arg)
    match = re.fullmatch(r"\s*([\w:<>,\s]+?)\s*((?:\*\s*)*)\b(\w+)\s*(\[\s*\d*\s*\])?\s*", text)
    if match is None:
        raise ValueError(f"couldn't parse C declaration '{c_arg}'")
    name = " ".join(match.group(1).split())
    try:
        dtype = dtype_of(name)
    except KeyError:
        raise ValueError(f"unknown type '{name}' in '{c_arg}'") from None
    if match.group(2) or match.group(4):
        return of_vector(dtype, match.group(3))
    return of_scalar(dtype, match.group(3))


_TEXTURE_NAMES = {
    **{"f4": "fp_tex_float", "f8": "fp_tex_double"},
    **{"c8": "fp_tex_cfloat", "c16": "fp_tex_cdouble"},
}


def dtype_to_ctype(dtype: DTypeLike | None, with_fp_tex_hack: bool = False) -> str:
    """Return the C name of a dtype.

    :param numpy.dtype dtype: Dtype, or an object that numpy.dtype accepts.
    :param with_fp_tex_hack: Return PyCUDA's names of texture types for floating-point and complex
        dtypes.
    :returns: The name in C.
    :raises ValueError: `dtype` is None, or has no name in C: a string, or a structure that is not
        registered.

    >>> from PyGPU.tools import dtype_to_ctype
    >>> dtype_to_ctype(np.int32), dtype_to_ctype(np.complex64)
    ('int', 'pycuda::complex<float>')
    """
    if with_fp_tex_hack and dtype is not None:
        found = np.dtype(dtype)
        if found.isnative and found.str[1:] in _TEXTURE_NAMES:
            return _TEXTURE_NAMES[found.str[1:]]
    return REGISTRY.dtype_to_ctype(dtype)


get_or_register_dtype = REGISTRY.get_or_register_dtype


def register_dtype(dtype: DTypeLike, name: str, alias_ok: bool = False) -> None:
    """Register a name in C for a dtype. Deprecated: use ``get_or_register_dtype(name, dtype)``.

    :param dtype: Dtype to register.
    :param name: Name in C.
    :param alias_ok: Allow another name for a dtype that already has one.
    :raises RuntimeError: The dtype has a name and `alias_ok` is false, or the name belongs to
        another dtype.

    >>> import warnings
    >>> import numpy as np
    >>> from PyGPU.compyte.dtypes import dtype_to_ctype, register_dtype
    >>> point = np.dtype([("x", "f4"), ("y", "f4"), ("weight", "f4")])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     register_dtype(point, "weighted_point")
    >>> dtype_to_ctype(point)
    'weighted_point'
    """
    warn("register_dtype is deprecated: use get_or_register_dtype", DeprecationWarning)
    if np.dtype(dtype) in REGISTRY.dtype_to_name and not alias_ok:
        raise RuntimeError(f"dtype '{dtype}' is already registered")
    get_or_register_dtype(name, dtype)


class Argument:
    """An argument of a kernel, the base class of :class:`VectorArg` and :class:`ScalarArg`.

    :param dtype: Dtype of the value, or of the elements that a pointer points to.
    :param name: Name in the kernel.

    >>> from PyGPU.tools import Argument, ScalarArg
    >>> issubclass(ScalarArg, Argument)
    True
    >>> Argument(np.int32, "n").name
    'n'
    """

    def __init__(self, dtype: DTypeLike, name: str) -> None:
        self.dtype: DType = np.dtype(dtype)
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"


class VectorArg(Argument):
    """A pointer argument of a kernel.

    Parameters
    ----------
    dtype : numpy.dtype
        Dtype of the elements.
    name : str
        Name in the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.tools import VectorArg
    >>> VectorArg(np.float32, "x").declarator()
    'float *x'
    """

    struct_char = "P"

    def declarator(self) -> str:
        """Return the declaration in C.

        :returns: The declaration.

        >>> from PyGPU.tools import VectorArg
        >>> VectorArg("f4", "x").declarator()
        'float *x'
        """
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """A value argument of a kernel.

    Parameters
    ----------
    dtype : numpy.dtype
        Dtype of the value.
    name : str
        Name in the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.tools import ScalarArg
    >>> ScalarArg(np.int32, "n").declarator()
    'int n'
    """

    def declarator(self) -> str:
        """Return the declaration in C.

        :returns: The declaration.

        >>> from PyGPU.tools import ScalarArg
        >>> ScalarArg("i4", "n").declarator()
        'int n'
        """
        return f"{dtype_to_ctype(self.dtype)} {self.name}"

    @property
    def struct_char(self) -> str:
        """The character of the dtype for :mod:`struct`."""
        return f"{self.dtype.itemsize}s" if self.dtype.kind == "V" else self.dtype.char


#: CUDA's variables, which are macros on some targets.
_OF_CUDA = ("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize")


def require_free_names(names: Iterable[str], own: Sequence[str], text: str) -> None:
    """Check that a kernel's arguments have distinct names that its text does not use.

    :param names: Names of the arguments that the user declared.
    :param own: Names of the kernel's own variables and types.
    :param text: Text of the kernel without the user's parts; its names with the prefix ``P_`` are
        taken.
    :raises ValueError: A name is taken.
    """
    taken = {*own, *_OF_CUDA}
    for name in names:
        if name in taken or (name.startswith("P_") and re.search(rf"\b{re.escape(name)}\b", text)):
            raise ValueError(
                f"arguments: the name {name!r} is taken; expected distinct names other than "
                f"{', '.join(own)}, and without the prefix P_"
            )
        taken.add(name)


def require_elements(name: str, array: core.GPUArray, dtype: DType, needed: int) -> None:
    """Check that a kernel can read `needed` elements of `dtype` from an array.

    :raises ValueError: The array's address is not aligned for `dtype`.
    :raises ArgumentError: The array has fewer than `needed` elements of `dtype`.
    """
    if array._size and array._address % dtype.alignment:
        raise ValueError(
            f"{name}: its elements begin at {array._address:#x}, expected a multiple of "
            f"{dtype.alignment}; copy() makes an aligned array"
        )
    held, has = array._size, f"{array._size} elements"
    if array.dtype.itemsize < dtype.itemsize:
        held = array.nbytes // dtype.itemsize
        has = f"{held} elements of {dtype}, because its dtype is {array.dtype}"
    if held < needed:
        advice = f"; convert the array with .astype({str(dtype)!r})" if held < array._size else ""
        raise errors.ArgumentError(f"{name}: it has {has}, but the kernel uses {needed}{advice}")


def parse_c_arg(c_arg: str) -> VectorArg | ScalarArg:
    """Parse a declaration such as ``const float *x`` or ``int n``.

    :param c_arg: Declaration in C.
    :returns: The argument: a VectorArg for a pointer.
    :raises ValueError: `c_arg` is not a declaration, or the name of its type is unknown.

    >>> from PyGPU.tools import parse_c_arg
    >>> parse_c_arg("const float *x")
    VectorArg('x', float32)
    """
    return read_declaration(c_arg, ScalarArg, VectorArg, REGISTRY.name_to_dtype.__getitem__)


def get_arg_type(c_arg: str) -> str:
    """Return the :mod:`struct` character of a declared argument.

    :param c_arg: Declaration in C.
    :returns: The character; "P" for a pointer.

    >>> from PyGPU.tools import get_arg_type
    >>> get_arg_type("float *x"), get_arg_type("int n")
    ('P', 'i')
    """
    return parse_c_arg(c_arg).struct_char


#: PyCUDA's other name of the function.
base_dtype_to_ctype = dtype_to_ctype


docstrings.complete(__name__)
