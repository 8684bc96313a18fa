"""Entries of the cache of compiled kernels: keys, damage, and where they are kept."""

import pytest

from PyGPU._compile import cache

pytestmark = pytest.mark.no_device

ENTRY = cache.Entry(b"\x7fELF\0image", "a log", {"f<int>": "_Z1fIiEvv"})


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_what_is_stored_is_loaded(tmp_path):
    name = cache.key("a", b"b", 1)
    assert cache.load(tmp_path, name) is None
    cache.store(tmp_path, name, ENTRY)
    assert cache.load(tmp_path, name) == ENTRY
    assert len(files(tmp_path)) == 1
    cache.store(tmp_path, name, ENTRY._replace(log=""))
    assert cache.load(tmp_path, name).log == "" and len(files(tmp_path)) == 1


def test_keys():
    known = [("a", "b"), ("ab",), ("", "ab"), ("ab", ""), ("b", "a"), ("a", "b", ""), ()]
    assert len({cache.key(*parts) for parts in known}) == len(known)
    assert cache.key("a", b"b") == cache.key("a", "b") == cache.key(b"a", "b")
    assert cache.key("\udcff")  # the name of a file that is no text
    assert cache.key("x").isalnum()


DAMAGE = {
    "empty": lambda data: b"",
    "short": lambda data: data[:5],
    "head only": lambda data: data[:40],
    "truncated": lambda data: data[:-1],
    "longer": lambda data: data + b"!",
    "last byte": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "no length": lambda data: b"\xff" * 8 + data[8:],
    "no json": lambda data: data[:8] + b"[" * 50 + data[58:],
    "deep json": lambda data: (100_000).to_bytes(8, "little") + b"[" * 100_000,
    "a list": lambda data: (2).to_bytes(8, "little") + b"[]",
    "a number": lambda data: (1).to_bytes(8, "little") + b"5",
    "no names": lambda data: (2).to_bytes(8, "little") + b"{}",
    "zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_entry_is_none(tmp_path, kind):
    cache.store(tmp_path, "abcd", ENTRY)
    (path,) = files(tmp_path)
    path.write_bytes(DAMAGE[kind](path.read_bytes()))
    assert cache.load(tmp_path, "abcd") is None
    cache.store(tmp_path, "abcd", ENTRY)
    assert cache.load(tmp_path, "abcd") == ENTRY


def test_one_wrong_bit_anywhere_is_noticed(tmp_path):
    cache.store(tmp_path, "abcd", ENTRY)
    (path,) = files(tmp_path)
    data = path.read_bytes()
    for position in range(len(data)):
        path.write_bytes(data[:position] + bytes([data[position] ^ 4]) + data[position + 1 :])
        assert cache.load(tmp_path, "abcd") is None, data[: position + 1]


def test_where_entries_are_kept(monkeypatch, tmp_path):
    for name in ("PYGPU_CACHE_DIR", "PYCUDA_CACHE_DIR", "PYGPU_DISABLE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PYCUDA_DISABLE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.directory(None) == tmp_path / "xdg" / "PyGPU" / "kernels"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.directory(None) == tmp_path / ".cache" / "PyGPU" / "kernels"
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "a"))
    assert cache.directory(None) == tmp_path / "a"
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path / "b"))
    assert cache.directory(None) == tmp_path / "b"
    assert cache.directory(str(tmp_path / "c")) == cache.directory(tmp_path / "c")
    assert cache.directory(False) is None
    for name in ("PYGPU_DISABLE_CACHE", "PYCUDA_DISABLE_CACHE"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "1")
            assert cache.directory(None) is None and cache.directory(tmp_path) is None
