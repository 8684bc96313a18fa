"""The driver's enumerations and flags: members, dicts of names, what `|` gives, and that all
numbers are those of CUDA's own headers."""

import enum
import pickle
import re
import subprocess
from pathlib import Path

import needs
import pytest
from driver_numbers import CONSTANTS, ENUMERATIONS, FLAGS, members

import PyGPU
import PyGPU.driver as drv
from PyGPU import errors
from PyGPU._compile.compilers import rtc

each_enumeration = pytest.mark.parametrize("name", ENUMERATIONS)


@each_enumeration
def test_members(name):
    cls = getattr(drv, name)
    assert set(cls.names) == set(members(name))
    assert issubclass(cls, int) and cls.__name__ == name and cls.__doc__
    for member, found in cls.names.items():
        assert getattr(cls, member) is found
        assert isinstance(found, cls) and isinstance(found, int)
        assert cls.values[int(found)] is found is cls(int(found))
        assert found.name in repr(found) and getattr(cls, found.name) is found
        assert hash(found) == hash(int(found)) and found + 1 == int(found) + 1
        assert pickle.loads(pickle.dumps(found)) is found
    assert set(cls.values) == {int(member) for member in cls.names.values()}
    assert all(type(value) is int for value in cls.values)


@each_enumeration
def test_or_gives_a_plain_int(name):
    members = list(getattr(drv, name).names.values())
    combined = members[0] | members[-1]
    assert type(combined) is int and combined == int(members[0]) | int(members[-1])
    assert type(members[-1] | 128) is int and type(128 | members[-1]) is int


@each_enumeration
def test_unknown_members(name):
    cls = getattr(drv, name)
    with pytest.raises(AttributeError):
        _ = cls.NO_SUCH_MEMBER
    with pytest.raises(ValueError, match="987654"):
        cls(987654)


def flags(name):
    return {key: value for key, value in vars(getattr(drv, name)).items() if type(value) is int}


@pytest.mark.parametrize("name", FLAGS)
def test_flags(name):
    cls = getattr(drv, name)
    assert set(flags(name)) == set(members(name))
    assert not isinstance(cls, enum.EnumMeta) and cls.__doc__
    for arguments in ((), (1,)):
        with pytest.raises(TypeError):
            cls(*arguments)


def test_a_flag_whose_name_is_no_identifier():
    assert getattr(drv.array3d_flags, "2DARRAY") == drv.array3d_flags.ARRAY3D_LAYERED == 1


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants(name):
    assert type(getattr(drv, name)) is int


def test_this_table_leaves_no_enumeration_out():
    found = {name for name in dir(drv) if isinstance(getattr(drv, name), enum.EnumMeta)}
    assert found == set(ENUMERATIONS)
    assert len(drv.device_attribute.values) == 102


# The numbers, as CUDA's headers have them.


def compiled(text, tmp_path):
    """The log of g++ for a text that includes CUDA's headers."""
    try:
        options = rtc.toolkit_include_options("nvrtc")
    except errors.CompilerMissing:
        options = []
    if not any(Path(option[2:], "cuda.h").exists() for option in options):
        needs.missing("cuda", f"there is no cuda.h in {options}")
    (tmp_path / "numbers.cpp").write_text(text)
    command = [needs.program("g++"), "-std=c++17", "-fsyntax-only", *options]
    command += ["-I", PyGPU.get_include(), str(tmp_path / "numbers.cpp")]
    return subprocess.run(command, capture_output=True, text=True).stderr


def assertions():
    """(C++ name, number) of all that the driver has."""
    for name in ENUMERATIONS:
        ours = getattr(drv, name).names
        yield from ((theirs, int(ours[member])) for member, theirs in members(name).items())
    for name in FLAGS:
        ours = flags(name)
        yield from ((theirs, ours[member]) for member, theirs in members(name).items())
    yield from ((theirs, getattr(drv, name)) for name, theirs in CONSTANTS.items())


# The number of attributes (18 in CUDA 13.5) and the mask of all flags (31 in CUDA 12.0).
GROWING = {"CU_FUNC_ATTRIBUTE_MAX", "CU_CTX_FLAGS_MASK"}
HEADERS = """
#include <cuda.h>
#include <cuda_runtime_api.h>
#if __has_include(<cudaProfiler.h>)
#include <cudaProfiler.h>
#endif
"""


@pytest.mark.no_device
def test_numbers_of_the_driver_are_cudas(tmp_path):
    """Whatever a toolkit is too old or too new to have is left out: few of all names."""
    lines = [
        f'static_assert(int({name}) == {number}, "");'
        for name, number in assertions()
        if name not in GROWING
    ]
    assert len(lines) > 220
    log = compiled(HEADERS + "\n".join(lines), tmp_path)
    unknown = re.findall(r"error: .(\w+). was not declared", log)
    assert log.count("error:") == len(unknown), log
    assert len(unknown) < 20, unknown


@pytest.mark.no_device
def test_numbers_of_the_runtime_are_cudas(tmp_path):
    """The numbers that the targets hip and host use; see vendor/cuda_numbers.h."""
    text = HEADERS + "#include <PyGPU/vendor/cuda_numbers.h>\n"
    text += '#define IS(name, number) static_assert(int(cuda##name) == number, "");\n'
    text += "PYGPU_CUDA_ERRORS(IS) PYGPU_CUDA_DEVICE_ATTRIBUTES(IS)\n"
    text += "PYGPU_CUDA_P2P_ATTRIBUTES(IS)\n"
    log = compiled(text, tmp_path)
    unknown = re.findall(r"error: .(\w+). was not declared", log)
    assert log.count("error:") == len(unknown), log
    assert len(unknown) < 20, unknown


@pytest.mark.no_device
def test_a_wrong_number_is_noticed(tmp_path):
    log = compiled(HEADERS + 'static_assert(int(CU_LIMIT_STACK_SIZE) == 1, "");', tmp_path)
    assert "static assertion failed" in log
