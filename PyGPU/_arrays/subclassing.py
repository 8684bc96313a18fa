"""What subclasses of GPUArray that were written for PyCUDA call and replace.

PyCUDA's operators are sums ``selffac * self + otherfac * other``, made by two methods that programs
replace. A class that does so gets operators that call them.
"""

import operator

import numpy as np

from PyGPU._arrays.functions import apply, kind_of
from PyGPU._kernels import asked
from PyGPU._runtime import core, require_array

GPUArray = core.GPUArray


def _axpbz(self, selffac, other, out, stream=None):
    """``out = selffac * self + other``, with two numbers.

    Parameters
    ----------
    selffac, other : number
    out : GPUArray
    stream : Stream, optional

    Returns
    -------
    GPUArray
        `out`.
    """
    require_array("out", out)
    factor, summand = (np.asarray(one).astype(out.dtype)[()] for one in (selffac, other))
    scaled = apply("multiply", self, factor, stream=stream)
    core._keep_for_others_graph(scaled, stream)
    return apply("add", scaled, summand, out=out, stream=stream, casting="unsafe")


def _memcpy_discontig(dst, src, async_=False, stream=None):
    """Copy elements from `src` to `dst`, whatever the strides of both.

    Parameters
    ----------
    dst, src : GPUArray or numpy.ndarray
        Of equal shape and dtype; one at least a GPUArray.
    async_ : bool
        Enqueue the copy on `stream` and return; a host side must then be page-locked.
    stream : Stream, optional
    """
    if not isinstance(dst, GPUArray):
        require_array("src", src).get(dst, async_=async_, stream=stream)
    elif async_:
        dst.set_async(src, stream=stream)
    else:
        dst.set(src)


def _result(function, array, other):
    """An array for what an operator gives, as the operator would make it."""
    (dtype,) = asked(function, (kind_of(array), kind_of(other)))
    return core._empty_for((array, other), dtype)


def _sum(self, selffac, other, otherfac, out):
    if isinstance(other, GPUArray):
        if otherfac < 0 and out.dtype.kind == "u":  # modulo 2^n
            otherfac = int(np.iinfo(out.dtype).max)
        return self._axpbyz(selffac, other, otherfac, out)
    return self._axpbz(selffac, otherfac * other, out)


def _add(self, other):
    return _sum(self, 1, other, 1, _result(operator.add, self, other))


def _subtract(self, other):
    return _sum(self, 1, other, -1, _result(operator.sub, self, other))


def _subtract_from(self, other):
    return _sum(self, -1, other, 1, _result(operator.sub, self, other))


def _negative(self):
    return self._axpbz(-1, 0, _result(operator.mul, self, self))


def _add_in_place(self, other):
    return _sum(self, 1, other, 1, self)


def _subtract_in_place(self, other):
    return _sum(self, 1, other, -1, self)


_OPERATORS = {
    **{"__add__": _add, "__radd__": _add, "__sub__": _subtract, "__rsub__": _subtract_from},
    **{"__neg__": _negative, "__iadd__": _add_in_place, "__isub__": _subtract_in_place},
}


def init_subclass(cls, /, **keywords):
    """Give a class that has PyCUDA's inner sums of its own the operators that call them."""
    super(GPUArray, cls).__init_subclass__(**keywords)
    if "_axpbz" in cls.__dict__ or "_axpbyz" in cls.__dict__:
        for name, function in _OPERATORS.items():
            if name not in cls.__dict__:
                setattr(cls, name, function)


#: Of the class GPUArray.
METHODS = {"_axpbz": _axpbz, "__init_subclass__": classmethod(init_subclass)}
