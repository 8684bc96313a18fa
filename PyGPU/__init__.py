"""PyGPU: the lightest way to drive a GPU from Python.

``import PyGPU`` provides the low level (``cudaMalloc``, ``DeviceArray_float64``, ``cudaStream_t``),
whose calls return a ``cudaError_t``, and the arrays of ``PyGPU.gpuarray``. ``python -m PyGPU``
prints the target in use and the reason.
"""

from __future__ import annotations

import typing as _typing

from PyGPU import errors as errors
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
    from PyGPU._as_pycuda.install import install_as_pycuda as install_as_pycuda
    from PyGPU._as_pycuda.numpy_names import NumPyCompatWarning as NumPyCompatWarning
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
    _of_pycuda = ("NumPyCompatWarning", "install_as_pycuda")
    _names_of_pycuda = _of_pycuda if "pycuda" in _targets.installed else ()
    _of_diagnostics = ("annotate", "memory_stats", "show_config", "timer")

    def _is_module(name):
        """Return True for a module of PyGPU that is not imported yet."""
        from importlib.util import find_spec

        return find_spec(f"{__name__}.{name}") is not None

    def __getattr__(name):
        """Import `transfer`, `gpuarray` and the names of some modules at their first use."""
        module = None
        if name == "transfer":
            import PyGPU.transfer
        elif name in _of_library and "kernels" in _targets.installed:
            from PyGPU import library as module
        elif "arrays" not in _targets.installed:
            return _core.__getattr__(name)  # raises, for private names of the core as well
        elif name == "gpuarray":
            import PyGPU.gpuarray  # noqa: F401
        elif name in _names_of_pycuda:
            from PyGPU import _as_pycuda as module
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
        if "arrays" not in _targets.installed:
            return sorted({*globals(), "transfer"})
        import PyGPU.gpuarray

        later = (*_of_library, *_of_diagnostics, *PyGPU.gpuarray.__all__, "transfer")
        return sorted({*globals(), *later, *_names_of_pycuda})


def _hook(name: str) -> _typing.Any:
    """Return a function that C++ calls. Its module is imported at the first call."""
    if name in ("types", "require_c_type"):
        from PyGPU._kernels import promotion, types

        return promotion.promoted if name == "types" else types.dtype_to_ctype
    if name in ("check_exponents", "get_item", "set_item"):
        from PyGPU._arrays import index_copies, indexing

        return getattr(index_copies if name == "check_exponents" else indexing, name)
    if name == "references_of":
        from PyGPU._driver import module_references

        return module_references.References
    from PyGPU._kernels import specializations

    return getattr(specializations, name)


if "kernels" in _targets.installed:
    _hooks.defer(_hook, "references_of")
if "arrays" in _targets.installed:
    import PyGPU._arrays as _arrays

    _arrays.defer_members()
    _hooks.defer(
        _hook,
        *("types", "require_c_type", "check_exponents", "get_item", "set_item"),
        *("elementwise_module", "gather_module", "check_module", "mask_module"),
        *("compaction_module", "join_module", "reduction_module"),
    )

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
        "SettingWarning",
        "TraceError",
        "VERSION",
        "VERSION_STATUS",
        "VERSION_TEXT",
        "errors",
        "get_include",
        "get_library_dir",
        *(["gpuarray"] if "arrays" in _targets.installed else []),
        *_names_of_pycuda,
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
