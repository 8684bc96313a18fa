"""Global names that NVIDIA's relocatable images define.

nvJitLink (13.0) does not report two functions of the same name: it links one of them. So PyGPU
compares the names before it links.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence

_SYMBOLS, _GLOBAL = 2, 1  # ELF's SHT_SYMTAB and STB_GLOBAL
_VISIBLE = (
    rb"(?m)^\.visible\s+\.(?:entry\s+([\w$]+)|func\s+(?:\([^)]*\)\s*)?([\w$]+)"
    rb"|(?:global|const)\b[^;=\[]*?([\w$]+)\s*[\[=;])"
)


def _elf_names(image: bytes) -> Iterator[str]:
    """Yield the global names in the symbol table of a cubin."""
    (table,) = struct.unpack_from("<Q", image, 40)
    size, count = struct.unpack_from("<HH", image, 58)
    sections = [struct.unpack_from("<IIQQQQI", image, table + i * size) for i in range(count)]
    for _, kind, _, _, offset, nbytes, link in sections:
        if kind != _SYMBOLS:
            continue
        strings = sections[link][4]
        for at in range(offset, offset + nbytes, 24):
            name, info, _, section = struct.unpack_from("<IBBH", image, at)
            if info >> 4 == _GLOBAL and section:
                start = strings + name
                yield image[start : image.index(b"\0", start)].decode()


def names(image: bytes) -> set[str]:
    """Return the global names that a cubin or PTX defines; an empty set for other images."""
    if not image.startswith(b"\x7fELF"):
        found = re.findall(_VISIBLE, image)
        return {(kernel or function or variable).decode() for kernel, function, variable in found}
    try:
        return set(_elf_names(image))
    except (struct.error, ValueError, IndexError):  # damaged image: the linker reports it
        return set()


def repeated(images: Sequence[tuple[str, bytes]]) -> list[str]:
    """Return a message for each name that several images define.

    A message reads "'twice' is defined in 'a' and in 'b'".

    Parameters
    ----------
    images : sequence of (str, bytes)
        Label of each image in the messages, and its contents.
    """
    labels: dict[str, str] = {}
    messages = []
    for label, image in images:
        for name in sorted(names(image)):
            if name in labels:
                messages.append(f"{name!r} is defined in {labels[name]!r} and in {label!r}")
            labels.setdefault(name, label)
    return messages
