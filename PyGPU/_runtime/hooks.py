"""Hooks: the Python objects that C++ calls, by the table ``src/python/binding/hooks.h``.

C++ imports no Python module by its name.

==================  =================================================================
exception_of        (call, status) -> exception for a failed device call
argument_error      class of errors for a kernel argument that its parameter rejects
argument_warning    class of warnings for a kernel argument of another dtype
warn                (text, class of warnings): warns at the line of the program
shape_error         class of errors for shapes that do not match
exchange_error      class of errors for a dtype that DLPack has no type for
compiler_missing    class of errors for a missing kernel compiler
argument_handler    base class of In, Out and InOut
types               (operation, kinds of operands) -> loop dtypes, result dtypes
elementwise_module  key of an elementwise kernel -> module with the kernel
reduction_module    key of a reduction -> (module with the kernels, bytes of an accumulator)
gather_module       key of a gather -> module with the kernel
check_module        key of a check -> module that searches for indices out of range
join_module         (arrays, bytes of a word, rows per thread or 0) -> module that joins arrays
mask_module         (itemsize, threads) -> module that selects and assigns items by a mask
compaction_module   (itemsize, is it small?) -> (module that selects items, block shape)
references_of       module -> References, which update its texture and surface references
release_held        device, or -1 for page-locked memory -> was memory freed that nothing uses?
transfer_progress   (progress, bytes, is it an upload?) -> bar of a starting transfer, or None
check_exponents     raises ValueError for negative exponents on the device
require_c_type      raises ValueError for a dtype without a C type
get_item, set_item  ``a[key]`` and ``a[key] = value`` with masks or index arrays
==================  =================================================================
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from PyGPU._runtime.targets import core

#: Functions (device, or -1 for page-locked memory) -> did they free memory that nothing uses?
reclaimers: list[Callable[[int], bool]] = []


def register(**hooks: Any) -> None:
    """Set hooks by their names."""
    for name, value in hooks.items():
        core._set_hook(name, value)


register(release_held=lambda device: any(release(device) for release in reclaimers))


def loaded(module: str) -> ModuleType:
    """Import a module by its name, after its package.

    If another thread is importing the package, a direct import of the module would acquire Python's
    two import locks in the opposite order: a deadlock, which one of the threads gets as an error.
    """
    package = module.rpartition(".")[0]
    if package:
        importlib.import_module(package)
    return importlib.import_module(module)


def by_name(modules: Mapping[str, str]) -> dict[str, str]:
    """Return {name: module} for a table {module: its names, separated by spaces}."""
    return {name: module for module, names in modules.items() for name in names.split()}


def late_names(
    namespace: dict[str, Any], modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module some of whose names are imported late.

    Parameters
    ----------
    namespace : dict
        Globals of the module.
    modules : mapping
        {name: the module that it is imported from at first use}.
    """

    def getattr_(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        found = namespace[name] = getattr(loaded(modules[name]), name)
        return found

    return getattr_, lambda: sorted({*namespace, *modules})


def defer(name: str, module: str, attribute: str) -> None:
    """Set a hook to a function whose module is imported at the first call."""

    def load(*args: Any) -> Any:
        function = getattr(loaded(module), attribute)
        core._set_hook(name, function)
        return function(*args)

    core._set_hook(name, load)
