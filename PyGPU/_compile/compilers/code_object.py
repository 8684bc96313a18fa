"""Metadata of AMD's code objects: the parameters of their kernels.

HIP has no call that reports a kernel's signature, but its compiler writes it into the image: an ELF
note of type 32 (NT_AMDGPU_METADATA) in MessagePack, described in LLVM's "User Guide for AMDGPU
Backend", code object V3 and later.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

_KERNELS = "amdhsa.kernels"  # key of the metadata
_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"

# Exceptions of reading bytes that are no metadata.
_MALFORMED = (
    *(ValueError, KeyError, IndexError, TypeError, AttributeError),
    *(struct.error, OverflowError, RecursionError),
)
_NUMBERS = {
    **{0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"},
    **{0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"},
}
_LENGTHS = {
    **{0xD9: ">B", 0xDA: ">H", 0xDB: ">I"},  # of text
    **{0xDC: ">H", 0xDD: ">I"},  # of a list
    **{0xDE: ">H", 0xDF: ">I"},  # of a map
}


def _unpack(data: bytes, at: int) -> tuple[Any, int]:
    """Return a MessagePack value of the kinds that metadata holds, and the offset of its end."""
    tag = data[at]
    at += 1
    if tag <= 0x7F:
        return tag, at
    if tag >= 0xE0:
        return tag - 256, at
    if 0xA0 <= tag <= 0xBF:
        return data[at : at + (tag & 31)].decode(), at + (tag & 31)
    if 0x80 <= tag <= 0x8F:
        return _unpack_map(data, at, tag & 15)
    if 0x90 <= tag <= 0x9F:
        return _unpack_list(data, at, tag & 15)
    if tag in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    if tag in _NUMBERS:
        return struct.unpack_from(_NUMBERS[tag], data, at)[0], at + struct.calcsize(_NUMBERS[tag])
    if tag not in _LENGTHS:
        raise ValueError(f"MessagePack: unexpected tag {tag:#x}")
    length = struct.unpack_from(_LENGTHS[tag], data, at)[0]
    at += struct.calcsize(_LENGTHS[tag])
    if tag <= 0xDB:
        return data[at : at + length].decode(), at + length
    return (_unpack_list if tag <= 0xDD else _unpack_map)(data, at, length)


def _unpack_list(data: bytes, at: int, length: int) -> tuple[list[Any], int]:
    items = []
    for _ in range(length):
        item, at = _unpack(data, at)
        items.append(item)
    return items, at


def _unpack_map(data: bytes, at: int, length: int) -> tuple[dict[Any, Any], int]:
    items = {}
    for _ in range(length):
        key, at = _unpack(data, at)
        items[key], at = _unpack(data, at)
    return items, at


def _elf(image: bytes) -> bytes:
    """Return the first device's ELF file in an image, which may be a bundle of several."""
    if not image.startswith(_BUNDLE):
        return image
    (count,) = struct.unpack_from("<Q", image, len(_BUNDLE))
    at = len(_BUNDLE) + 8
    for _ in range(count):
        offset, size, length = struct.unpack_from("<QQQ", image, at)
        name = image[at + 24 : at + 24 + length]
        at += 24 + length
        if size and b"amdgcn" in name:
            return image[offset : offset + size]
    return b""


def _metadata(image: bytes) -> dict[str, Any]:
    elf = _elf(image)
    if not elf.startswith(b"\x7fELF"):
        return {}
    (table,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    for index in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", elf, table + index * size)
        at = offset
        while kind == 4 and at + 12 <= offset + length:  # PT_NOTE
            name_size, data_size, note = struct.unpack_from("<III", elf, at)
            data = at + 12 + (name_size + 3) // 4 * 4
            if note == 32:
                found: dict[str, Any] = _unpack(elf, data)[0]
                return found
            at = data + (data_size + 3) // 4 * 4
    return {}


def notes(image: bytes) -> list[dict[str, Any]]:
    """Return the metadata of kernels: name, arguments, registers, LDS, wavefront size."""
    return list(_metadata(image).get(_KERNELS, ()))


@lru_cache(maxsize=64)
def _kernels(image: bytes) -> dict[str, list[tuple[str, str, int]]]:
    found = {}
    for kernel in notes(image):
        explicit = [a for a in kernel.get(".args", ()) if not a[".value_kind"].startswith("hidden")]
        found[kernel[".name"]] = [
            (a.get(".name", ""), "P" if a[".value_kind"].endswith("buffer") else "?", a[".size"])
            for a in explicit
        ]
    return found


def parameters(image: bytes, name: str) -> list[tuple[str, str, int]] | None:
    """Return [(name, kind, bytes)] of a kernel's parameters; None if the image has no metadata.

    Images of other vendors have none.
    """
    if _KERNELS.encode() not in image:
        return None
    try:
        return _kernels(image).get(name)
    except _MALFORMED:
        return None
