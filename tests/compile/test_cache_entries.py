"""Entries of the cache of compiled kernels: keys, damage, and where they are kept."""

import hashlib
import marshal
import os
import pwd

import pytest

from PyGPU._compile.cache import dependencies, entries
from PyGPU._runtime import digests

pytestmark = pytest.mark.no_device

ENTRY = entries.Entry(b"\x7fELF\0image", "a log", {"f<int>": "_Z1fIiEvv"})


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_what_is_stored_is_loaded(tmp_path):
    name = entries.key("a", b"b", 1)
    assert entries.load(tmp_path, name) is None
    entries.store(tmp_path, name, ENTRY)
    assert entries.load(tmp_path, name) == ENTRY
    assert len(files(tmp_path)) == 1
    entries.store(tmp_path, name, ENTRY._replace(log=""))
    assert entries.load(tmp_path, name).log == "" and len(files(tmp_path)) == 1


def test_keys():
    known = [("a", "b"), ("ab",), ("", "ab"), ("ab", ""), ("b", "a"), ("a", "b", ""), ()]
    assert len({entries.key(*parts) for parts in known}) == len(known)
    assert entries.key("a", b"b") == entries.key("a", "b") == entries.key(b"a", "b")
    assert entries.key("\udcff")  # the name of a file that is no text
    assert entries.key("x").isalnum()


def signed(facts):
    """The bytes of an entry "abcd" with other facts and a right digest."""
    data = len(facts).to_bytes(8, "little") + facts + b"image"
    return digests.of(b"abcd" + data) + data


DAMAGE = {
    "empty": lambda data: b"",
    "short": lambda data: data[:5],
    "head only": lambda data: data[:40],
    "truncated": lambda data: data[:-1],
    "longer": lambda data: data + b"!",
    "last byte": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "no length": lambda data: b"\xff" * 8 + data[8:],
    "no facts": lambda data: signed(b""),
    "unreadable facts": lambda data: signed(b"xyz"),
    "a list": lambda data: signed(marshal.dumps([])),
    "a number": lambda data: signed(marshal.dumps(5)),
    "no names": lambda data: signed(marshal.dumps({})),
    "numbers for names": lambda data: signed(marshal.dumps({1: 2})),
    "zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_entry_is_none(tmp_path, kind):
    entries.store(tmp_path, "abcd", ENTRY)
    (path,) = files(tmp_path)
    path.write_bytes(DAMAGE[kind](path.read_bytes()))
    assert entries.load(tmp_path, "abcd") is None
    entries.store(tmp_path, "abcd", ENTRY)
    assert entries.load(tmp_path, "abcd") == ENTRY


def test_one_wrong_bit_anywhere_is_noticed(tmp_path):
    entries.store(tmp_path, "abcd", ENTRY)
    (path,) = files(tmp_path)
    data = path.read_bytes()
    for position in range(len(data)):
        path.write_bytes(data[:position] + bytes([data[position] ^ 4]) + data[position + 1 :])
        assert entries.load(tmp_path, "abcd") is None, data[: position + 1]


def test_an_entry_under_another_name_is_none(tmp_path):
    """A user who can only rename files must not choose the kernel that runs."""
    entries.store(tmp_path, "ab12", ENTRY)
    (path,) = files(tmp_path)
    path.rename(path.with_name("ab34"))
    assert entries.load(tmp_path, "ab34") is None and entries.load(tmp_path, "ab12") is None


def test_what_depends_on_more_than_can_be_told_is_not_kept(tmp_path):
    entries.store(tmp_path, "abcd", ENTRY._replace(system_files=None))
    assert not files(tmp_path)


def test_an_entry_goes_with_the_system_files_that_it_was_made_of(tmp_path):
    header = tmp_path / "h.h"
    header.write_text("text")
    entry = ENTRY._replace(system_files={str(header): dependencies.file_state(str(header))})
    entries.store(tmp_path / "cache", "abcd", entry)
    assert entries.load(tmp_path / "cache", "abcd").image == ENTRY.image
    os.utime(header, (1, 1))
    assert entries.load(tmp_path / "cache", "abcd") is None
    header.unlink()
    assert entries.load(tmp_path / "cache", "abcd") is None


def test_where_entries_are_kept(monkeypatch, tmp_path):
    for name in ("PYGPU_CACHE_DIR", "PYCUDA_CACHE_DIR", "PYGPU_DISABLE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PYCUDA_DISABLE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert entries.directory(None) == tmp_path / "xdg" / "PyGPU" / "kernels"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert entries.directory(None) == tmp_path / ".cache" / "PyGPU" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which its specification says to ignore
    assert entries.directory(None) == tmp_path / ".cache" / "PyGPU" / "kernels"
    monkeypatch.delenv("HOME")
    with monkeypatch.context() as patch:
        patch.setattr(pwd, "getpwuid", {}.__getitem__)  # a user that no file knows
        assert entries.directory(None) is None
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "a"))
    assert entries.directory(None) == tmp_path / "a"
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path / "b"))
    assert entries.directory(None) == tmp_path / "b"
    assert entries.directory(str(tmp_path / "c")) == entries.directory(tmp_path / "c")
    assert entries.directory(False) is None
    for name in ("PYGPU_DISABLE_CACHE", "PYCUDA_DISABLE_CACHE"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "1")
            assert entries.directory(None) is None and entries.directory(tmp_path) is None


class Word(str):
    """A str of a class that marshal does not write."""


def test_an_entry_that_cannot_be_written_is_left_out(tmp_path):
    entries.store(tmp_path, "abcd", ENTRY._replace(names={Word("f<int>"): "_Z1fIiEvv"}))
    assert not files(tmp_path)


def test_digests():
    assert digests.of(b"ab") == digests.new(b"a" + b"b").digest() != digests.of(b"a")
    started = digests.new(b"a")
    started.update(b"b")
    assert started.digest() == digests.of(b"ab") and len(digests.of(b"")) == digests.NBYTES


@pytest.mark.parametrize("way", ["", "import sys; sys.modules['_blake2'] = None"])
def test_digests_of_a_python_without_blake2(python, way):
    """So is Python in FIPS mode."""
    found = python(
        f"{way}\nfrom PyGPU._runtime import digests; print(digests.of(b'x').hex())"
    ).stdout
    made = hashlib.sha256(b"x") if way else hashlib.blake2b(b"x", digest_size=32)
    assert found.strip() == made.hexdigest()
