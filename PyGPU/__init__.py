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

# Modules that are imported when one of these names is first used.
_deferred = {
    **dict.fromkeys(("Library", "build", "load"), "PyGPU.library"),
    **dict.fromkeys(
        ("annotate", "memory_stats", "show_config", "timer"),
        "PyGPU.diagnostics",
    ),
}

if _typing.TYPE_CHECKING:
    import PyGPU.diagnostics as _diagnostics
    import PyGPU.transfer as transfer  # noqa: F401
    from PyGPU import gpuarray as gpuarray
    from PyGPU._host import *  # noqa: F403
    from PyGPU.gpuarray import *  # noqa: F403
    from PyGPU.library import Library as Library
    from PyGPU.library import build as build
    from PyGPU.library import load as load

    annotate = _diagnostics.annotate
    memory_stats = _diagnostics.memory_stats
    show_config = _diagnostics.show_config
    timer = _diagnostics.timer
else:
    if _targets.has_arrays:
        gpuarray = _hooks.loaded("PyGPU.gpuarray")

    def __getattr__(name):
        """Load `transfer`, the names in `_deferred` and those of `gpuarray` at their first use."""
        if name == "transfer":
            return _hooks.loaded("PyGPU.transfer")
        if name in _deferred and _targets.has_arrays:
            return getattr(_hooks.loaded(_deferred[name]), name)
        if not _targets.has_arrays:
            return _core.__getattr__(name)  # raises, for private names of the core as well
        if name in gpuarray.__all__:
            return getattr(gpuarray, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        """Return all names, with those that are loaded at their first use."""
        later = [*_deferred, *gpuarray.__all__] if _targets.has_arrays else []
        return sorted({*globals(), "transfer", *later})


# Hooks whose modules are imported when C++ first calls them.
_hooks.defer("types", "PyGPU._kernels.promotion", "promoted")
_hooks.defer("require_c_type", "PyGPU._kernels.types", "dtype_to_ctype")
for _kind in ("elementwise", "gather", "check", "mask", "compaction", "join"):
    _hooks.defer(f"{_kind}_module", "PyGPU._kernels.specializations", f"{_kind}_module")
_hooks.defer("reduction_module", "PyGPU._kernels.reduction_specializations", "reduction_module")
_hooks.defer("references_of", "PyGPU._driver.module_references", "References")
_hooks.defer("check_exponents", "PyGPU._arrays.index_copies", "check_exponents")
_hooks.defer("get_item", "PyGPU._arrays.indexing", "get_item")
_hooks.defer("set_item", "PyGPU._arrays.indexing", "set_item")

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
