"""Facts about a shared library, read from its file in ELF: its target, its functions."""

from __future__ import annotations

import mmap
import re
import struct
from pathlib import Path
from typing import NamedTuple

_SECTION = struct.Struct("<IIQQQQIIQQ")
_DYNAMIC, _SYMBOLS = 6, 11  # types of sections
_NEEDED = 1  # tag of an entry of the dynamic section
_FATBIN = 0xBA55ED50  # first word of NVIDIA's container of device code
_FATBIN_ENTRY = struct.Struct("<HHIQIIHHI")


class Facts(NamedTuple):
    """Facts about a shared library."""

    sections: tuple[str, ...]
    needed: tuple[str, ...]  # names of the libraries that it needs
    functions: tuple[str, ...]  # names of the functions that it exports, mangled
    architectures: tuple[str, ...]  # of its device code: "sm_90", "compute_90", "gfx942"

    @property
    def built_for(self) -> str | None:
        """The target that it was built for; None for a library without device code."""
        if any("fatbin" in name and "hip" in name for name in self.sections):
            return "hip"
        if any("nv_fatbin" in name for name in self.sections):
            return "cuda"
        return "host" if "libPyGPU_host.so" in self.needed else None


def _text(data: mmap.mmap, start: int) -> str:
    return data[start : data.find(b"\0", start)].decode("utf-8", "replace")


def _nvidia(data: bytes) -> list[str]:
    """Return the architectures in a section of NVIDIA's containers."""
    found, at = [], 0
    while (at := data.find(struct.pack("<I", _FATBIN), at)) >= 0:
        _, _, header, size = struct.unpack_from("<IHHQ", data, at)
        place, end = at + header, at + header + size
        while place + _FATBIN_ENTRY.size <= min(end, len(data)):
            kind, _, own_header, payload, *_, arch = _FATBIN_ENTRY.unpack_from(data, place)
            found.append(f"{'compute' if kind == 1 else 'sm'}_{arch}")
            if own_header + payload == 0:
                break
            place += own_header + payload
        at = max(end, at + 4)
    return found


def _amd(data: bytes) -> list[str]:
    """Return the architectures in a section of AMD's bundles."""
    names = re.findall(rb"amdgcn-amd-amdhsa-*(gfx[0-9a-f]+(?::[\w+:-]*)?)", data)
    return [name.decode() for name in names]


def read(path: Path) -> Facts | None:
    """Return the facts about a shared library; None if the file is no 64-bit ELF file."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x7fELF\x02\x01":
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _facts(data)
            except (struct.error, IndexError):  # cut off: the loader says what is wrong
                return None


def _facts(data: mmap.mmap) -> Facts:
    table, size, count, names = (
        struct.unpack_from("<Q", data, 40)[0],
        *struct.unpack_from("<HHH", data, 58),
    )
    rows = [_SECTION.unpack_from(data, table + size * i) for i in range(count)]
    names_at = rows[names][4] if rows else 0
    sections, needed, functions, architectures = [], [], [], []
    for name, kind, _, _, offset, nbytes, link, *_ in rows:
        label = _text(data, names_at + name)
        sections.append(label)
        if kind == _DYNAMIC:
            for at in range(offset, offset + nbytes, 16):
                tag, value = struct.unpack_from("<QQ", data, at)
                if tag == _NEEDED:
                    needed.append(_text(data, rows[link][4] + value))
        elif kind == _SYMBOLS:
            for at in range(offset, offset + nbytes, 24):
                symbol, info, _, section = struct.unpack_from("<IBBH", data, at)
                if info & 15 == 2 and section:  # a function that is defined here
                    functions.append(_text(data, rows[link][4] + symbol))
        elif "fatbin" in label.lower():
            inside = data[offset : offset + nbytes]
            architectures += _amd(inside) if "hip" in label else _nvidia(inside)
    return Facts(
        tuple(sections), tuple(needed), tuple(functions), tuple(dict.fromkeys(architectures))
    )
