"""Several texts in one image on the ``host`` target: its compiler links their objects."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PyGPU._compile import host
from PyGPU._runtime import errors, include_root

_OBJECT, _ARCHIVE = b"\x7fELF", b"!<arch>\n"
# The table of an object's kernels: PyGPU/_compile/host.py names it.
_TABLE = re.compile(rb"\0PyGPU_kernels_[0-9a-f]+_\d+(?=\0)")


def _tables(objects: Sequence[bytes]) -> str:
    """The text of the one table that the machine looks for, made of the objects'."""
    found = [match for data in objects for match in _TABLE.finditer(data)]
    names = [match.group()[1:].decode() for match in found]
    rows = [f"{name}[{row}]" for name in names for row in range(int(name.rpartition("_")[2]))]
    declared = [f'extern "C" const PyGPUHostKernel {name}[];' for name in names]
    return "\n".join(
        [
            "#include <PyGPU/host/kernel_row.h>",
            *declared,
            "const PyGPUHostKernel PyGPU_host_kernels[] = {",
            *(f"{row}," for row in rows),
            "{nullptr, nullptr, nullptr, 0}};\n",
        ]
    )


def link(inputs: Sequence[tuple[str, bytes]]) -> tuple[bytes, str]:
    """Link objects that compile() made of relocatable texts, and archives of functions.

    Parameters
    ----------
    inputs : sequence of (name, data)

    Returns
    -------
    (bytes, str)
        The image, and what the linker said.
    """
    with tempfile.TemporaryDirectory() as scratch:
        files = []
        for number, (name, data) in enumerate(inputs):
            if not data.startswith((_OBJECT, _ARCHIVE)):
                raise errors.CompileError(
                    f"{name}: neither an object that compile(..., options=['-rdc=true']) made for "
                    "the host target nor an archive",
                    [name],
                )
            file = Path(scratch, f"{number}.{'a' if data.startswith(_ARCHIVE) else 'o'}")
            file.write_bytes(data)
            files.append(str(file))
        table, image = Path(scratch, "table.cpp"), Path(scratch, "linked.so")
        table.write_text(_tables([data for _, data in inputs]))
        command = [host.compiler(), "-shared", "-fPIC", "-std=c++17", "-I", str(include_root())]
        # Archives last: they have what others lack.
        files.sort(key=lambda name: name.endswith(".a"))
        command += [str(table), *files, "-o", str(image), *host.linking(), "-Wl,--no-undefined"]
        names = {f"{number}.o": name for number, (name, _) in enumerate(inputs)}
        try:
            done = host._run(command, "the linked image")
        except errors.CompileError as error:
            raise errors.CompileError(
                "linking failed", command, error.stdout, _named(error.stderr, scratch, names)
            ) from None
        return image.read_bytes(), _named(done.stderr, scratch, names).strip()


def _named(log: str, scratch: str, names: dict[str, str]) -> str:
    """What the linker said, with the inputs' names for our files'."""
    log = log.replace(scratch + "/", "")
    return re.sub(r"\b\d+\.o\b", lambda match: names.get(match.group(), match.group()), log)
