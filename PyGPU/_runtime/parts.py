"""Parts of PyGPU that an installation may leave out, by the variable PYGPU_PARTS of the build.

setup.py runs this file by its path.
"""

from __future__ import annotations

import sys

#: The parts that each part needs.
NEEDS: dict[str, tuple[str, ...]] = {
    "runtime": (),
    "kernels": ("runtime",),
    "arrays": ("runtime", "kernels"),
    "pycuda": ("runtime", "kernels", "arrays"),
    "tools": ("runtime",),
}
# Modules and packages of the parts, without `PyGPU.`; all others are the runtime's.
_MODULES = {
    "kernels": "_compile _driver _library autoinit autoprimaryctx compiler driver library",
    "arrays": "_arrays _kernels _random cumath curandom dask diagnostics elementwise gpuarray "
    "reduction scan tools",
    "pycuda": "_as_pycuda _cluda _mymako _pvt_struct characterize compyte debug gl sparse",
    "tools": "_tools",
}
_PARTS = {module: part for part, modules in _MODULES.items() for module in modules.split()}


def wanted(text: str) -> list[str]:
    """Return the parts that PYGPU_PARTS names, or raise ValueError."""
    parts = [part.strip() for part in text.split(",")]
    if parts == ["all"]:
        return [*NEEDS]
    for part in parts:
        if part not in NEEDS:
            expected = f"all, or some of {', '.join(NEEDS)} with commas"
            raise ValueError(f"PYGPU_PARTS={text}: {part!r}: expected {expected}")
        missing = [needed for needed in NEEDS[part] if needed not in parts]
        if missing:
            raise ValueError(f"PYGPU_PARTS={text}: {part} needs {','.join(missing)} as well")
    return [part for part in NEEDS if part in parts]


def part_of(module: str) -> str:
    """Return the part of a module, which is named without `PyGPU.`."""
    return _PARTS.get(module.split(".")[0], "runtime")


class MissingPart(ImportError):
    """A module of a part that this installation lacks."""


def remedy(part: str, installed: list[str]) -> str:
    """Return which part is missing, and the line that installs it."""
    parts = ",".join(name for name in NEEDS if name in (*installed, *NEEDS[part], part))
    return (
        f"this PyGPU was installed without the part `{part}`; install it again with "
        f"`PYGPU_PARTS={parts} pip install .`"
    )


class _Finder:
    """Entry of sys.meta_path for an installation that lacks parts."""

    def __init__(self, installed: list[str]) -> None:
        self._installed = installed

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        part = part_of(name[6:]) if name.startswith("PyGPU.") else "runtime"
        if part not in self._installed:
            raise MissingPart(f"{name}: {remedy(part, self._installed)}", name=name)


def explain_missing(installed: list[str]) -> None:
    """Let imports of modules of other parts say how to install them."""
    if len(installed) < len(NEEDS):
        sys.meta_path.insert(0, _Finder(installed))
