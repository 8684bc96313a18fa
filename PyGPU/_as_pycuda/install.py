"""PyGPU under the name ``pycuda``, so that programs for PyCUDA run unmodified."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from PyGPU._as_pycuda import numpy_names
from PyGPU._runtime import core, settings

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:  # importing them takes a quarter of the time of `import PyGPU`
    Loader = MetaPathFinder = object

_NAME, _OURS = "pycuda", "PyGPU"
#: Folder with a package pycuda for worker processes, and its version for importlib.metadata.
_SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim")

# {PyCUDA's module: PyGPU's module of another name}
_RENAMED = {"_driver": "driver"}


def _ours(name: str) -> str:
    """Return the name of PyGPU's module for a module of PyCUDA."""
    inner = name[len(_NAME) + 1 :]
    return f"{_OURS}.{_RENAMED.get(inner, inner)}" if inner else _OURS


class _PyCUDA(ModuleType):
    """PyGPU with PyCUDA's version, as programs check whether PyCUDA is new enough."""

    VERSION = (2026, 1)
    VERSION_STATUS = ""
    VERSION_TEXT = __version__ = "2026.1"

    def __getattr__(self, name: str) -> Any:
        if name == "compyte":  # every module of PyCUDA imports it
            return importlib.import_module(f"{_OURS}.compyte")
        return getattr(importlib.import_module(_OURS), name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(importlib.import_module(_OURS))})


class _Loader(Loader):
    """Loads PyGPU's module in place of PyCUDA's."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name == _NAME:
            return _PyCUDA(_NAME, importlib.import_module(_OURS).__doc__)
        module = importlib.import_module(_ours(spec.name))
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own spec, which importlib has just replaced with pycuda's.

        The module itself was executed before, under its own name.
        """
        if module.__name__ != _NAME:
            module.__spec__ = self._own_spec


class _Finder(MetaPathFinder):
    """Finds pycuda.x for every PyGPU.x."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _NAME and not fullname.startswith(_NAME + "."):
            return None
        ours = _ours(fullname)
        found = importlib.util.find_spec(ours)
        if found is None:
            return None
        return ModuleSpec(
            fullname, _Loader(), is_package=found.submodule_search_locations is not None
        )


_finder = _Finder()


def _is_ours(module: ModuleType) -> bool:
    return isinstance(module, _PyCUDA) or getattr(module, "__name__", "").split(".")[0] == _OURS


class install_as_pycuda:
    """Make ``import pycuda`` import PyGPU, from now on or in a ``with`` block.

    Comparison operators return PyCUDA's dtypes in this process from now on, also after the block,
    unless ``PYGPU_COMPARISONS=numpy`` is set.

    Parameters
    ----------
    numpy_compat : bool, optional
        Restore names that NumPy has removed since, such as ``numpy.int`` and ``numpy.getbuffer``; a
        NumPyCompatWarning lists them.

    Raises
    ------
    ImportError
        If the real PyCUDA is already imported in this process.

    Examples
    --------
    >>> import PyGPU
    >>> with PyGPU.install_as_pycuda():
    ...     import pycuda.gpuarray as gpuarray
    >>> gpuarray.__name__
    'PyGPU.gpuarray'
    """

    def __init__(self, numpy_compat: bool = False) -> None:
        self._before = dict.fromkeys(name for name in sys.modules if self._is_pycuda(name))
        foreign = [name for name in self._before if not _is_ours(sys.modules[name])]
        if foreign:
            raise ImportError(
                f"install_as_pycuda: the real {foreign[0]} is already imported; call this function "
                "before the first import of pycuda"
            )
        self._was_installed = _finder in sys.meta_path
        if not self._was_installed:
            sys.meta_path.insert(0, _finder)
            sys.path.append(_SHIM)
        self._restored = numpy_names.restore() if numpy_compat else {}
        if settings.value("PYGPU_COMPARISONS") is None:
            core._compare_as_pycuda(True)
        os.environ.setdefault("PYGPU_HOST_INTERFACE", "1")  # PyCUDA's arrays have it

    @staticmethod
    def _is_pycuda(name: str) -> bool:
        return name == _NAME or name.startswith(_NAME + ".")

    def __enter__(self) -> install_as_pycuda:
        return self

    def __exit__(self, *exception: object) -> None:
        numpy_names.remove(self._restored)
        if not self._was_installed:
            sys.meta_path.remove(_finder)
            if _SHIM in sys.path:  # the program may have replaced sys.path
                sys.path.remove(_SHIM)
            for name in [name for name in sys.modules if self._is_pycuda(name)]:
                if name not in self._before:
                    del sys.modules[name]
