"""Linking on the ``host`` target: the table of all objects' kernels, names in messages."""

from __future__ import annotations

import re
from collections.abc import Sequence

_OBJECT, _ARCHIVE = b"\x7fELF", b"!<arch>\n"
# Symbol of the table of an object's kernels; host.py makes the name.
_TABLE = rb"\0PyGPU_kernels_[0-9a-f]+_\d+(?=\0)"


def ending(data: bytes) -> str | None:
    """Return the suffix for the file of an object or an archive; None if the data is neither."""
    return ".o" if data.startswith(_OBJECT) else ".a" if data.startswith(_ARCHIVE) else None


def table_of(objects: Sequence[bytes]) -> str:
    """Return the text of the table that the machine looks for, with the rows of all objects."""
    found = [match for data in objects for match in re.finditer(_TABLE, data)]
    names = [match.group()[1:].decode() for match in found]
    rows = [f"{name}[{row}]" for name in names for row in range(int(name.rpartition("_")[2]))]
    declared = [f'extern "C" const PyGPUHostKernel {name}[];' for name in names]
    return "\n".join(
        [
            "#include <PyGPU/host/kernel_row.h>",
            *declared,
            "const PyGPUHostKernel PyGPU_host_names[] = {",
            *(f"{row}," for row in rows),
            "{nullptr, nullptr, nullptr, 0, nullptr, 0}};\n",
        ]
    )


def named(log: str, files: dict[str, str]) -> str:
    """Return a log with the names of the inputs instead of our temporary files."""
    for file, name in files.items():
        log = log.replace(file, name)
    return log
