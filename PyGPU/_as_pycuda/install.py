"""PyGPU under the name ``pycuda``, so that programs written for PyCUDA run as they are."""

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

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:  # which take a fourth of the time of `import PyGPU`
    Loader = MetaPathFinder = object

_NAME, _OURS = "pycuda", "PyGPU"
#: Where worker processes find pycuda, and importlib.metadata and pkg_resources its version.
_SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim")

# Modules of PyCUDA's whose names are other modules' here.
_OTHERWISE = {"_driver": "driver"}


def _ours(name: str) -> str:
    """Our module's name for PyCUDA's."""
    inner = name[len(_NAME) + 1 :]
    return f"{_OURS}.{_OTHERWISE.get(inner, inner)}" if inner else _OURS


class _PyCUDA(ModuleType):
    """PyGPU, but for the version: programs ask it whether PyCUDA is new enough for them."""

    VERSION = (2026, 1)
    VERSION_STATUS = ""
    VERSION_TEXT = __version__ = "2026.1"

    def __getattr__(self, name: str) -> Any:
        if name == "compyte":  # of PyCUDA's, whatever module is imported brings it along
            return importlib.import_module(f"{_OURS}.compyte")
        return getattr(importlib.import_module(_OURS), name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(importlib.import_module(_OURS))})


class _Loader(Loader):
    """Hands out our module for PyCUDA's."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name == _NAME:
            return _PyCUDA(_NAME, importlib.import_module(_OURS).__doc__)
        module = importlib.import_module(_ours(spec.name))
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module was executed under its own name; importlib has just put pycuda's spec in."""
        if module.__name__ != _NAME:
            module.__spec__ = self._own_spec


class _Finder(MetaPathFinder):
    """Finds every pycuda.x where there is a PyGPU.x."""

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
    """Make ``import pycuda`` and its modules mean PyGPU's, from now on or for a ``with`` block.

    Parameters
    ----------
    numpy_compat : bool
        Give NumPy the names back that it has dropped since PyCUDA's programs were written, such as
        ``numpy.int`` and ``numpy.getbuffer``; a NumPyCompatWarning lists them.

    Raises
    ------
    ImportError
        Where the real PyCUDA is already imported in this process.
    """

    def __init__(self, numpy_compat: bool = False) -> None:
        self._before = dict.fromkeys(name for name in sys.modules if self._is_pycuda(name))
        foreign = [name for name in self._before if not _is_ours(sys.modules[name])]
        if foreign:
            raise ImportError(
                f"install_as_pycuda: the real {foreign[0]} is already imported; call this before "
                "anything imports pycuda"
            )
        self._was_installed = _finder in sys.meta_path
        if not self._was_installed:
            sys.meta_path.insert(0, _finder)
            sys.path.append(_SHIM)
        self._restored = numpy_names.restore() if numpy_compat else {}

    @staticmethod
    def _is_pycuda(name: str) -> bool:
        return name == _NAME or name.startswith(_NAME + ".")

    def __enter__(self) -> install_as_pycuda:
        return self

    def __exit__(self, *exception: object) -> None:
        numpy_names.drop(self._restored)
        if not self._was_installed:
            sys.meta_path.remove(_finder)
            if _SHIM in sys.path:  # unless the program has replaced it
                sys.path.remove(_SHIM)
            for name in [name for name in sys.modules if self._is_pycuda(name)]:
                if name not in self._before:
                    del sys.modules[name]
