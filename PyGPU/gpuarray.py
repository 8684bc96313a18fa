"""Arrays in device memory: the names of ``pycuda.gpuarray``.

The class and the frequently called functions are C++ (``src/python/array``,
``src/python/operations``). Functions written in Python need the compiler; they are loaded at first
use, which keeps ``import PyGPU`` fast.
"""

from PyGPU._runtime import hooks
from PyGPU._runtime.targets import core

GPUArray = core.GPUArray
empty = core.empty
empty_like = core.empty_like
to_gpu = core.to_gpu
to_gpu_async = core.to_gpu_async
zeros = core.zeros
zeros_like = core.zeros_like


#: Functions that are loaded at first use, and their modules.
DEFERRED = hooks.by_name(
    {
        "PyGPU._arrays.reductions": "sum prod mean min max any all dot",
        "PyGPU._arrays.subsets": "subset_sum subset_dot subset_min subset_max",
        "PyGPU._arrays.functions": "if_positive where maximum minimum "
        "logical_and logical_or logical_not",
        "PyGPU._arrays.gather": "take put multi_take multi_put multi_take_put",
        "PyGPU._arrays.joining": "concatenate stack transpose reshape",
        "PyGPU._arrays.interop": "asarray from_dlpack require_contiguous",
        "PyGPU._arrays.sharing": "share shareable",
        "PyGPU._arrays.staging": "staged",
        "PyGPU._arrays.fusion": "fuse",
        "PyGPU._arrays.ranges": "arange ones ones_like full full_like",
        "PyGPU._arrays.spacing": "linspace logspace geomspace",
        "PyGPU._arrays.subclassing": "_memcpy_discontig",
        "PyGPU._arrays.pickling": "_restored",
        "PyGPU._driver.launch_shape": "splay",
        "PyGPU._arrays.vec": "vec",
    }
)

# Methods and properties of the class that are loaded at first use, from the METHODS of a module.
_MEMBERS = hooks.by_name(
    {
        "PyGPU._arrays.reductions": "sum prod mean min max any all dot",
        "PyGPU._arrays.methods": "real imag conj conjugate mul_add _axpbyz clip",
        "PyGPU._driver.bound_arrays": "bind_to_texref bind_to_texref_ext",
        "PyGPU._arrays.gather": "take put",
        "PyGPU._arrays.joining": "reverse",
        "PyGPU._arrays.html": "_repr_html_",
        "PyGPU._arrays.subclassing": "_axpbz __init_subclass__",
        "PyGPU._arrays.pickling": "__reduce__ __copy__ __deepcopy__",
        "PyGPU._driver.launch_shape": "_grid _block",
        "PyGPU._arrays.numpy_dispatch": "__array_ufunc__ __array_function__",
        "PyGPU._arrays.numpy_functions": "round",
    }
)


class _Member:
    """A placeholder in the class that loads a method or property at first use."""

    def __init__(self, name):
        self._name = name

    def __get__(self, array, owner):
        member = hooks.loaded(_MEMBERS[self._name]).METHODS[self._name]
        setattr(GPUArray, self._name, member)
        return member.__get__(array, owner)


for _name in _MEMBERS:
    setattr(GPUArray, _name, _Member(_name))


def _get_common_dtype(obj1, obj2):
    """Return the dtype of a sum, for programs that import this name from PyCUDA's gpuarray."""
    compyte = hooks.loaded("PyGPU.compyte.array")
    return compyte.get_common_dtype(obj1, obj2, allow_double=True)


_late, __dir__ = hooks.late_names(globals(), DEFERRED)


def __getattr__(name):
    if name not in DEFERRED:
        is_there = not name.startswith("_") and hasattr(hooks.loaded("PyGPU.cumath"), name)
        hint = f"; see PyGPU.cumath.{name}" if is_there else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    return _late(name)


_AT_HAND = ["GPUArray", "empty", "empty_like", "to_gpu", "to_gpu_async", "zeros", "zeros_like"]
__all__ = [*_AT_HAND, *(name for name in DEFERRED if name[0] != "_")]

for _public in _AT_HAND:
    globals()[_public].__module__ = __name__
