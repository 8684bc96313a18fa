"""PyGPU: the lightest way to drive a GPU from Python.

``import PyGPU`` provides the low level (``cudaMalloc``, ``DeviceArray_float64``, ``cudaStream_t``),
whose calls return a ``cudaError_t``, and the arrays of ``PyGPU.gpuarray``. ``python -m PyGPU``
prints the target in use and the reason.
"""

from __future__ import annotations

import typing as _typing

from PyGPU import errors as errors
from PyGPU._as_pycuda.install import install_as_pycuda as install_as_pycuda
from PyGPU._as_pycuda.numpy_names import NumPyCompatWarning as NumPyCompatWarning
from PyGPU._runtime import hooks as _hooks
from PyGPU._runtime import installation as _installation
from PyGPU._runtime import settings as _settings
from PyGPU._runtime import targets as _targets
from PyGPU._runtime import typed as _typed
from PyGPU._runtime import warn as _warn
from PyGPU._runtime.errors import ArgumentWarning as ArgumentWarning
from PyGPU._runtime.errors import TraceError as TraceError
from PyGPU._runtime.settings import SettingWarning as SettingWarning
from PyGPU._runtime.targets import HostFallbackWarning as HostFallbackWarning
from PyGPU._runtime.targets import core as _core
from PyGPU._runtime.typed import *  # noqa: F403

if _typing.TYPE_CHECKING:
    import PyGPU.transfer as transfer  # noqa: F401
    from PyGPU import gpuarray as gpuarray
    from PyGPU._host import *  # noqa: F403
    from PyGPU.diagnostics import annotate as annotate
    from PyGPU.diagnostics import memory_stats as memory_stats
    from PyGPU.diagnostics import show_config as show_config
    from PyGPU.diagnostics import timer as timer
    from PyGPU.gpuarray import *  # noqa: F403
    from PyGPU.library import Library as Library
    from PyGPU.library import build as build
    from PyGPU.library import load as load
else:
    _of_library = ("Library", "build", "load")
    _of_diagnostics = ("annotate", "memory_stats", "show_config", "timer")

    def _is_module(name):
        """Return True for a module of PyGPU that is not imported yet."""
        from importlib.util import find_spec

        return find_spec(f"{__name__}.{name}") is not None

    def __getattr__(name):
        """Import `transfer`, `gpuarray` and the names of three modules at their first use."""
        module = None
        if name == "transfer":
            import PyGPU.transfer
        elif not _targets.has_arrays:
            return _core.__getattr__(name)  # raises, for private names of the core as well
        elif name == "gpuarray":
            import PyGPU.gpuarray  # noqa: F401
        elif name in _of_library:
            from PyGPU import library as module
        elif name in _of_diagnostics:
            from PyGPU import diagnostics as module
        elif name[0] != "_" and ("gpuarray" in globals() or not _is_module(name)):
            from PyGPU import gpuarray as module
        if name in globals():
            return globals()[name]
        if module and name in vars(module):
            return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        """Return all names, with those that are imported at their first use."""
        if not _targets.has_arrays:
            return sorted({*globals(), "transfer"})
        import PyGPU.gpuarray

        later = (*_of_library, *_of_diagnostics, *PyGPU.gpuarray.__all__, "transfer")
        return sorted({*globals(), *later})


def _hooks_of_types() -> dict[str, _typing.Any]:
    from PyGPU._kernels import promotion, types

    return {"types": promotion.promoted, "require_c_type": types.dtype_to_ctype}


def _hooks_of_kernels() -> dict[str, _typing.Any]:
    from PyGPU._kernels import reduction_specializations, specializations

    return {
        "elementwise_module": specializations.elementwise_module,
        "gather_module": specializations.gather_module,
        "check_module": specializations.check_module,
        "mask_module": specializations.mask_module,
        "compaction_module": specializations.compaction_module,
        "join_module": specializations.join_module,
        "reduction_module": reduction_specializations.reduction_module,
    }


def _hooks_of_references() -> dict[str, _typing.Any]:
    from PyGPU._driver import module_references

    return {"references_of": module_references.References}


def _hooks_of_items() -> dict[str, _typing.Any]:
    from PyGPU._arrays import index_copies, indexing

    return {
        "check_exponents": index_copies.check_exponents,
        "get_item": indexing.get_item,
        "set_item": indexing.set_item,
    }


if _targets.has_arrays:
    import PyGPU._arrays as _arrays

    _arrays.defer_members()
    _hooks.defer(_hooks_of_types, "types", "require_c_type")
    _hooks.defer(
        _hooks_of_kernels,
        *("elementwise_module", "gather_module", "check_module", "mask_module"),
        *("compaction_module", "join_module", "reduction_module"),
    )
    _hooks.defer(_hooks_of_references, "references_of")
    _hooks.defer(_hooks_of_items, "check_exponents", "get_item", "set_item")

if _targets.fallback:
    _warn(_targets.fallback, HostFallbackWarning)

_settings.check()

__version__ = _core.__version__
VERSION_TEXT = __version__
VERSION_STATUS = ""
VERSION = tuple(int(part) for part in __version__.split("."))
major_version, minor_version, release_version = VERSION

# The low level: all public names of the compiled module.
_low_level = {name: value for name, value in vars(_core).items() if not name.startswith("_")}
globals().update(_low_level)

if not _typing.TYPE_CHECKING:  # type checkers know the low level by the stub
    #: Public names, which ``from PyGPU import *`` imports. `load`, `build` and the functions of
    #: `gpuarray`, some of which have names of Python's own functions, are attributes only.
    __all__ = [
        *_low_level,
        *_typed.__all__,
        "ArgumentWarning",
        "HostFallbackWarning",
        "NumPyCompatWarning",
        "SettingWarning",
        "TraceError",
        "VERSION",
        "VERSION_STATUS",
        "VERSION_TEXT",
        "errors",
        "get_include",
        "get_library_dir",
        *(["gpuarray"] if _targets.has_arrays else []),
        "install_as_pycuda",
        "major_version",
        "minor_version",
        "release_version",
    ]


def get_include() -> str:
    """Return the folder of the C++ headers, for ``-I``; users' code includes <PyGPU/gpu.h>.

    Returns
    -------
    str
        Path of the folder.

    Examples
    --------
    >>> import os
    >>> import PyGPU
    >>> os.path.isfile(os.path.join(PyGPU.get_include(), "PyGPU", "gpu.h"))
    True
    """
    return str(_installation.include_root())


def get_library_dir() -> str:
    """Return the folder of libPyGPU_host.so, for ``-L``; users' code for `host` links to it.

    Returns
    -------
    str
        Path of the folder.

    Examples
    --------
    >>> import os
    >>> import PyGPU
    >>> os.path.isfile(os.path.join(PyGPU.get_library_dir(), "libPyGPU_host.so"))
    True
    """
    return str(_installation.PACKAGE)
