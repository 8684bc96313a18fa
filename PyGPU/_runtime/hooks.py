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

from collections.abc import Callable
from functools import partial
from typing import Any

from PyGPU._runtime.targets import core

#: Functions (device, or -1 for page-locked memory) -> did they free memory that nothing uses?
reclaimers: list[Callable[[int], bool]] = []


def register(**hooks: Any) -> None:
    """Set hooks by their names."""
    for name, value in hooks.items():
        core._set_hook(name, value)


register(release_held=lambda device: any(release(device) for release in reclaimers))


def defer(load: Callable[[str], Any], *names: str) -> None:
    """Set hooks to functions that `load` imports by these names when C++ first calls them.

    For a module of a package, ``from package import module`` waits for another thread's import of
    the package.
    """

    def first_call(name: str, *args: Any) -> Any:
        hook = load(name)
        register(**{name: hook})
        return hook(*args)

    register(**{name: partial(first_call, name) for name in names})
