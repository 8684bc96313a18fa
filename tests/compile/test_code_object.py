"""AMD's code objects: the MessagePack notes that tell a kernel's parameters."""

import struct

import kernel_sources
import needs
import pytest
from everywhere import by_backend

from PyGPU._compile.compilers import build as _build
from PyGPU._compile.compilers import code_object

pytestmark = pytest.mark.no_device


def unpack(data):
    """The value, if it takes all of the bytes."""
    value, end = code_object._unpack(data, 0)
    assert end == len(data)
    return value


# Bytes -> value, for every tag that metadata may hold (MessagePack's specification).
VALUES = [
    (b"\x00", 0),
    (b"\x7f", 127),
    (b"\xe0", -32),
    (b"\xff", -1),
    (b"\xc0", None),
    (b"\xc2", False),
    (b"\xc3", True),
    (b"\xcc\xff", 255),
    (b"\xcd\x01\x02", 0x102),
    (b"\xce\x01\x02\x03\x04", 0x1020304),
    (b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 2**64 - 1),
    (b"\xd0\x80", -128),
    (b"\xd1\xff\xfe", -2),
    (b"\xd2\xff\xff\xff\xfd", -3),
    (b"\xd3\xff\xff\xff\xff\xff\xff\xff\xfc", -4),
    (b"\xa0", ""),
    (b"\xa3abc", "abc"),
    (b"\xbf" + b"x" * 31, "x" * 31),
    (b"\xa2\xc3\xa9", "\xe9"),
    (b"\xd9\x03abc", "abc"),
    (b"\xda\x00\x03abc", "abc"),
    (b"\xdb\x00\x00\x00\x03abc", "abc"),
    (b"\xd9\xc8" + b"y" * 200, "y" * 200),
    (b"\x90", []),
    (b"\x93\x01\xa1a\xc0", [1, "a", None]),
    (b"\x9f" + b"\x05" * 15, [5] * 15),
    (b"\xdc\x00\x10" + b"\x01" * 16, [1] * 16),
    (b"\xdd\x00\x00\x00\x02\x01\x02", [1, 2]),
    (b"\x80", {}),
    (b"\x82\xa1a\x01\xa1b\x92\x02\x03", {"a": 1, "b": [2, 3]}),
    (b"\xde\x00\x01\xa1a\x80", {"a": {}}),
    (b"\xdf\x00\x00\x00\x01\x07\xc3", {7: True}),
    (b"\x91\x91\x91\x81\xa1k\x91\xff", [[[{"k": [-1]}]]]),
]


@pytest.mark.parametrize(("data", "value"), VALUES, ids=lambda value: repr(value)[:24])
def test_messagepack(data, value):
    found = unpack(data)
    assert found == value and type(found) is type(value)


def pack(value):
    """MessagePack of what metadata holds, in its shortest form."""
    if isinstance(value, str):
        data = value.encode()
        head = bytes([0xA0 | len(data)]) if len(data) < 32 else bytes([0xD9, len(data)])
        return head + data
    if isinstance(value, int):
        return bytes([value]) if value < 128 else b"\xcd" + struct.pack(">H", value)
    if isinstance(value, list):
        head = (
            bytes([0x90 | len(value)]) if len(value) < 16 else struct.pack(">BH", 0xDC, len(value))
        )
        return head + b"".join(map(pack, value))
    return bytes([0x80 | len(value)]) + b"".join(pack(k) + pack(v) for k, v in value.items())


def note(kind, name, data):
    def padded(part):
        return part + b"\0" * (-len(part) % 4)

    return struct.pack("<III", len(name), len(data), kind) + padded(name) + padded(data)


def elf(*notes, segment=4):
    """An ELF file of one segment that holds notes."""
    body = b"".join(notes)
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    table = struct.pack("<IIQQQQQQ", segment, 4, 64 + 56, 0, 0, len(body), len(body), 4)
    return head + table + body


def bundle(*entries):
    """Clang's bundle of images: (name, image) of each."""
    head = 24 + 8 + sum(24 + len(name) for name, _ in entries)
    table, images = b"", b""
    for name, image in entries:
        table += struct.pack("<QQQ", head + len(images), len(image), len(name)) + name
        images += image
    return b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)) + table + images


ARGUMENTS = [
    {".name": "a", ".size": 8, ".offset": 0, ".value_kind": "global_buffer"},
    {".name": "n", ".size": 4, ".offset": 8, ".value_kind": "by_value"},
    {".size": 300, ".offset": 16, ".value_kind": "by_value"},
    {".size": 8, ".offset": 316, ".value_kind": "hidden_global_offset_x"},
    {".size": 8, ".offset": 324, ".value_kind": "hidden_none"},
]
METADATA = {
    "amdhsa.kernels": [
        {".name": "scale", ".args": ARGUMENTS, ".wavefront_size": 64},
        {".name": "nothing"},
        {".name": "empty", ".args": []},
    ],
    "amdhsa.version": [1, 1],
}
NOTE = note(32, b"AMDGPU\0", pack(METADATA))
IMAGE = elf(NOTE)
SCALE = [("a", "P", 8), ("n", "?", 4), ("", "?", 300)]


def test_parameters():
    assert code_object.parameters(IMAGE, "scale") == SCALE
    assert code_object.parameters(IMAGE, "nothing") == []
    assert code_object.parameters(IMAGE, "empty") == []
    assert code_object.parameters(IMAGE, "other") is None


def test_the_note_is_found_behind_others():
    image = elf(note(1, b"GNU\0", b"12345"), note(20, b"LONGNAME\0", b""), NOTE)
    assert code_object.parameters(image, "scale") == SCALE


def test_the_device_image_of_a_bundle():
    host, device = b"host-x86_64-unknown-linux--", b"hipv4-amdgcn-amd-amdhsa--gfx90a"
    assert code_object.parameters(bundle((host, b""), (device, IMAGE)), "scale") == SCALE
    assert code_object.parameters(bundle((host, b"text"), (device, IMAGE)), "scale") == SCALE
    assert code_object.parameters(bundle((host, b"text")), "scale") is None


MALFORMED = {
    "empty": b"",
    "no ELF": b"text" * 100,
    "magic alone": b"\x7fELF",
    "half a header": IMAGE[:60],
    "no note": elf(note(1, b"GNU\0", b"abc")),
    "no segment of notes": elf(NOTE, segment=1),
    "unknown tag": elf(note(32, b"AMDGPU\0", b"\xc1")),
    "bytes in metadata": elf(note(32, b"AMDGPU\0", b"\xc4\x01a")),
    "text that is none": elf(note(32, b"AMDGPU\0", b"\xa2\xff\xff")),
    "a list": elf(note(32, b"AMDGPU\0", pack([1, 2]))),
    "kernels without names": elf(note(32, b"AMDGPU\0", pack({"amdhsa.kernels": [{".args": []}]}))),
    "kernels that are numbers": elf(note(32, b"AMDGPU\0", pack({"amdhsa.kernels": [1]}))),
    "a number for kernels": elf(note(32, b"AMDGPU\0", pack({"amdhsa.kernels": 5}))),
    "text for kernels": elf(note(32, b"AMDGPU\0", pack({"amdhsa.kernels": "text"}))),
    "arguments without sizes": elf(
        note(32, b"AMDGPU\0", pack({"amdhsa.kernels": [{".name": "scale", ".args": [{}]}]}))
    ),
    "key that is a list": elf(note(32, b"AMDGPU\0", b"\x81\x90\x01")),
    "endless nesting": elf(note(32, b"AMDGPU\0", b"\x91" * 5000)),
    "count beyond the data": elf(note(32, b"AMDGPU\0", b"\xdd\xff\xff\xff\xff")),
    "bundle cut off": bundle((b"hipv4-amdgcn", IMAGE))[:40],
    "bundle of nothing": b"__CLANG_OFFLOAD_BUNDLE__",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_images_tell_nothing(name):
    assert code_object.parameters(MALFORMED[name], "scale") is None


def test_truncated_images_tell_all_or_nothing():
    for size in range(len(IMAGE)):
        assert code_object.parameters(IMAGE[:size], "scale") in (None, SCALE)


def test_damaged_bytes_raise_nothing():
    for position in range(len(IMAGE)):
        damaged = bytearray(IMAGE)
        damaged[position] ^= 0xFF
        code_object.parameters(bytes(damaged), "scale")


# What AMD's own compiler writes.


@pytest.fixture(scope="module", params=["gfx908", "gfx90a"])
def compiled(request):
    """compiled(text) -> image, by HIPRTC."""
    needs.compiler("hiprtc")

    def build(text):
        made = _build.Request(text.source, arch=request.param, cache_dir=False)
        return by_backend("hip", made, (), request.param).image

    return build


def told(image, name):
    """ "P8 ?4" of a kernel. The names are optional, and old compilers leave them out."""
    return " ".join(f"{kind}{size}" for _, kind, size in code_object.parameters(image, name))


def test_parameters_of_compiled_kernels(compiled):
    image = compiled(kernel_sources.STRUCTURES)
    assert told(image, "read_body") == "P8 ?4 ?64 ?1"
    assert told(image, "read_large") == "P8 ?2048 ?4"
    assert told(image, "read_odd") == "P8 ?3 ?3"


def test_forty_parameters_of_a_compiled_kernel(compiled):
    sizes = {"int": 4, "double": 8, "signed char": 1, "long long": 8, "float": 4, "short": 2}
    expected = " ".join(["P8"] + [f"?{sizes[name]}" for name in kernel_sources.FORTY_TYPES])
    assert told(compiled(kernel_sources.FORTY), "forty") == expected


def test_a_compiled_kernel_without_parameters(compiled):
    image = compiled(kernel_sources.SHAPES)
    assert code_object.parameters(image, "bump") == []
    assert code_object.parameters(image, "nothing") is None
