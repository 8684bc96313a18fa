"""PyInstaller's hook: the modules, headers and libraries that PyGPU loads when they are needed."""

import importlib

from PyGPU._runtime import PACKAGE, include_root

# Commands of `python -m PyGPU`, which a frozen program does not have.
_COMMANDS = (
    "PyGPU.__main__",
    "PyGPU._pyinstaller",
    "PyGPU._tools",
)
# Modules that need another package. Programs that use them import them by name, which suffices.
_OPTIONAL = ("PyGPU.dask",)


def _is_used(name: str) -> bool:
    return not any(name == one or name.startswith(f"{one}.") for one in (*_COMMANDS, *_OPTIONAL))


# PyInstaller is installed where it runs this file, but not where types are checked.
_utilities = importlib.import_module("PyInstaller.utils.hooks")
# Some modules are imported by names that the program computes.
hiddenimports = _utilities.collect_submodules("PyGPU", filter=_is_used)
# Kernels are compiled with the headers, and a package `pycuda` is for child processes.
datas = [
    (str(include_root()), "PyGPU/include"),
    (str(PACKAGE / "_as_pycuda" / "shim"), "PyGPU/_as_pycuda/shim"),
]
# Kernels for `host` are linked to this library.
binaries = [(str(PACKAGE / "libPyGPU_host.so"), "PyGPU")]
