"""PyGPU under the name ``pycuda``, so that programs written for PyCUDA run as they are."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

_NAME, _OURS = "pycuda", "PyGPU"


class _Loader(importlib.abc.Loader):
    """Hands out our module for PyCUDA's."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(_OURS + spec.name[len(_NAME) :])
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module was executed under its own name; importlib has just put pycuda's spec in."""
        module.__spec__ = self._own_spec


class _Finder(importlib.abc.MetaPathFinder):
    """Finds every pycuda.x where there is a PyGPU.x."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _NAME and not fullname.startswith(_NAME + "."):
            return None
        ours = _OURS + fullname[len(_NAME) :]
        found = importlib.util.find_spec(ours)
        if found is None:
            return None
        return ModuleSpec(
            fullname, _Loader(), is_package=found.submodule_search_locations is not None
        )


_finder = _Finder()


def _is_ours(module: ModuleType) -> bool:
    return getattr(module, "__name__", "").split(".")[0] == _OURS


class install_as_pycuda:
    """Make ``import pycuda`` and its modules mean PyGPU's, from now on or for a ``with`` block.

    Raises
    ------
    ImportError
        Where the real PyCUDA is already imported in this process.
    """

    def __init__(self) -> None:
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

    @staticmethod
    def _is_pycuda(name: str) -> bool:
        return name == _NAME or name.startswith(_NAME + ".")

    def __enter__(self) -> install_as_pycuda:
        return self

    def __exit__(self, *exception: object) -> None:
        if not self._was_installed:
            sys.meta_path.remove(_finder)
            for name in [name for name in sys.modules if self._is_pycuda(name)]:
                if name not in self._before:
                    del sys.modules[name]
