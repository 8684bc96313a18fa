"""Code objects as AMD's compiler makes them, around a shared library for the host machine.

The ELF header, the target in its flags' place aside, and the note NT_AMDGPU_METADATA in MessagePack
follow LLVM's "User Guide for AMDGPU Backend", code object V3 and later. The library lies in a
segment of its own, which the stand-in's loader looks for (modules.cpp).
"""

import _ctypes
import ctypes
import re
import struct
import subprocess
from typing import NamedTuple

from PyGPU._compile.source import kernel_types, library_names
from PyGPU._driver.module import REFERENCES_SYMBOL

MACHINE_AMDGPU = 224
SEGMENT_OF_OURS = 0x65504779
PAGE = 4096


def packed(value):
    """A value in MessagePack."""
    if isinstance(value, int):
        return struct.pack(">BI", 0xCE, value)
    if isinstance(value, str):
        data = value.encode()
        return struct.pack(">BH", 0xDA, len(data)) + data
    if isinstance(value, list):
        return struct.pack(">BH", 0xDC, len(value)) + b"".join(map(packed, value))
    items = [packed(key) + packed(item) for key, item in value.items()]
    return struct.pack(">BH", 0xDE, len(items)) + b"".join(items)


class _Parameter(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_size_t), ("nbytes", ctypes.c_size_t)]


class _Kernel(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("threads", ctypes.c_void_p),
        ("parameters", ctypes.POINTER(_Parameter)),
        ("count", ctypes.c_size_t),
        ("object", ctypes.POINTER(ctypes.c_void_p)),
        ("nbytes", ctypes.c_size_t),
    ]


class _Symbol(ctypes.Structure):
    _fields_ = [
        *(("file", ctypes.c_char_p), ("base", ctypes.c_void_p)),
        *(("name", ctypes.c_char_p), ("address", ctypes.c_void_p)),
    ]


class Kernel(NamedTuple):
    symbol: str  # as C++ has it
    parameters: list[tuple[int, int]]  # (offset, bytes)


def kernels(path):
    """{name: Kernel} of a library, from the table in it."""
    library = ctypes.CDLL(path)
    rows = ctypes.cast(library.PyGPU_host_names, ctypes.POINTER(_Kernel))
    tell = ctypes.CDLL(None).dladdr
    found, index = {}, 0
    while rows[index].name:
        one, symbol = rows[index], _Symbol()
        index += 1
        if one.nbytes:  # a variable
            continue
        if not tell(ctypes.c_void_p(one.object[0]), ctypes.byref(symbol)):
            raise RuntimeError(f"{one.name.decode()} has no symbol")
        parameters = [one.parameters[i] for i in range(one.count)]
        places = [(each.offset, each.nbytes) for each in parameters]
        found[one.name.decode()] = Kernel(_of_program(symbol.name.decode()), places)
    _ctypes.dlclose(library._handle)
    return found


def _of_program(symbol):
    """A symbol without the prefix by which host renames it; before it stands the name's length."""
    length = len(library_names.PREFIX)
    shorter = re.sub(
        rf"(\d+){library_names.PREFIX}", lambda match: str(int(match[1]) - length), symbol
    )
    return shorter.replace(library_names.PREFIX, "")


def variables(path):
    """Symbols of the variables that a library exports."""
    command = ["nm", "--dynamic", "--defined-only", path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [_of_program(symbol) for symbol in re.findall(r" [BDRVu] (\S+)", text)]


def metadata(found, known):
    """What AMD's compiler says of kernels.

    Parameters
    ----------
    found : dict
        As :func:`kernels` gives it.
    known : dict
        kernel -> (name, kind, bytes) of parameters, as far as the text tells.
    """
    rows = []
    for kernel, (symbol, places) in found.items():
        texts = known.get(kernel, ())
        arguments = []
        for number, (offset, nbytes) in enumerate(places):
            text = texts[number] if len(texts) == len(places) else ("", "?", 0)
            kind = "global_buffer" if text[1].startswith("P") else "by_value"
            argument = {".offset": offset, ".size": nbytes, ".value_kind": kind}
            arguments.append({".name": text[0], **argument} if text[0] else argument)
        end = max((offset + nbytes for offset, nbytes in places), default=0)
        rows.append(
            {
                ".name": symbol,
                ".symbol": f"{symbol}.kd",
                ".args": arguments,
                ".kernarg_segment_size": end,
                ".wavefront_size": 64,
            }
        )
    return {"amdhsa.version": [1, 1], "amdhsa.kernels": rows}


def wrapped(library, found, notes, symbols):
    """The code object of a library, with its kernels, their notes, and other symbols."""
    pairs = dict.fromkeys(symbols, "-")
    pairs.update({one.symbol: name for name, one in found.items()})
    # What is asked for the types of kernels by: functions without a body.
    asked = re.finditer(kernel_types.INSTANCE, library)
    pairs.update({match.group().decode(): "-" for match in asked})
    if REFERENCES_SYMBOL in library:
        pairs[REFERENCES_SYMBOL.decode()] = "-"
    names = "".join(f"{symbol}\0{name}\0" for symbol, name in pairs.items()).encode()
    library = names + b"\0" + library.translate(bytes(255 - byte for byte in range(256)))
    name, data = b"AMDGPU\0\0", packed(notes)
    note = struct.pack("<III", 7, len(data), 32) + name + data + b"\0" * (-len(data) % 4)
    header, entry = 64, 56
    at = header + 2 * entry
    start = (at + len(note) + PAGE - 1) // PAGE * PAGE
    identity = b"\x7fELF\2\1\1\x40\1" + b"\0" * 7  # ELFOSABI_AMDGPU_HSA
    rest = struct.pack(
        "<HHIQQQIHHHHHH", 3, MACHINE_AMDGPU, 1, 0, header, 0, 0, header, entry, 2, 64, 0, 0
    )
    segments = b"".join(
        struct.pack("<IIQQQQQQ", kind, 4, place, place, place, size, size, align)
        for kind, place, size, align in (
            (4, at, len(note), 4),
            (SEGMENT_OF_OURS, start, len(library), PAGE),
        )
    )
    head = identity + rest + segments + note
    return head + b"\0" * (start - len(head)) + library
