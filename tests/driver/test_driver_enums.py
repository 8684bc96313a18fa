"""The driver's enumerations and flags: members, values, dicts of names, what `|` gives."""

import enum
import pickle

import pytest
from driver_numbers import CONSTANTS, ENUMERATIONS, FLAGS, numbered

import PyGPU.driver as drv

each_enumeration = pytest.mark.parametrize("name", ENUMERATIONS)


@each_enumeration
def test_members_and_their_values(name):
    cls, expected = getattr(drv, name), numbered(ENUMERATIONS[name])
    for member, value in expected.items():
        found = getattr(cls, member)
        assert isinstance(found, cls) and isinstance(found, int) and found == value
        assert cls.names[member] is found and cls.values[value] is found is cls(value)
        assert found.name in expected and expected[found.name] == value
    assert {member: int(value) for member, value in cls.names.items()} == expected
    assert set(cls.values) == set(expected.values())
    assert all(type(value) is int for value in cls.values)


@each_enumeration
def test_members_are_ints_that_know_their_name(name):
    cls = getattr(drv, name)
    assert issubclass(cls, int) and cls.__name__ == name and cls.__doc__
    for member, value in numbered(ENUMERATIONS[name]).items():
        found = getattr(cls, member)
        assert found.name in repr(found)
        assert hash(found) == hash(value) and found + 1 == value + 1
        assert pickle.loads(pickle.dumps(found)) is found


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


@pytest.mark.parametrize("name", FLAGS)
def test_flags(name):
    cls = getattr(drv, name)
    found = {key: value for key, value in vars(cls).items() if type(value) is int}
    assert found == numbered(FLAGS[name])
    assert not isinstance(cls, enum.EnumMeta) and cls.__doc__
    for arguments in ((), (1,)):
        with pytest.raises(TypeError):
            cls(*arguments)


def test_a_flag_whose_name_is_no_identifier():
    assert getattr(drv.array3d_flags, "2DARRAY") == drv.array3d_flags.ARRAY3D_LAYERED == 1


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants(name):
    assert getattr(drv, name) == CONSTANTS[name] and type(getattr(drv, name)) is int


def test_this_table_leaves_no_enumeration_out():
    found = {name for name, value in vars(drv).items() if isinstance(value, enum.EnumMeta)}
    assert found == set(ENUMERATIONS)
    assert len(drv.device_attribute.values) == 102
