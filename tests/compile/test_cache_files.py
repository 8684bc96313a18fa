"""The cache's files among other users and under a limit: what is trusted, what goes first."""

import os
import stat
import time
from pathlib import Path

import pytest

from PyGPU._compile import cache_command
from PyGPU._compile.cache import entries, eviction, files
from PyGPU._compile.compilers import host_prelude
from PyGPU._runtime import settings

pytestmark = pytest.mark.no_device

ENTRY = entries.Entry(bytes(1000), "", {})


def name(number):
    return entries.key(str(number))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with one entry, "first"."""
    monkeypatch.delenv("PYGPU_CACHE_MAXSIZE", raising=False)
    files._refuse.cache_clear()
    entries.store(tmp_path / "cache", name("first"), ENTRY)
    assert is_there(tmp_path / "cache", "first")
    return tmp_path / "cache"


def path_of(folder, number):
    return folder / name(number)[:2] / name(number)


def is_there(folder, number):
    return entries.load(folder, name(number)) is not None


def give_away(path, monkeypatch):
    """Let a file be another user's, who is not root."""
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)


# Trust.


def test_files_of_others_are_not_run(folder, monkeypatch):
    give_away(path_of(folder, "first"), monkeypatch)
    if os.geteuid() == 0:
        assert not is_there(folder, "first")
    else:
        with pytest.warns(UserWarning, match="is not used"):
            assert not is_there(folder, "first")


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_files_that_others_can_write_are_not_run(folder, mode):
    path = path_of(folder, "first")
    path.chmod(mode)
    assert not is_there(folder, "first")
    entries.store(folder, name("first"), ENTRY)
    assert is_there(folder, "first") and stat.S_IMODE(path.stat().st_mode) == 0o644


def test_links_and_pipes_are_not_followed(folder, tmp_path):
    path = path_of(folder, "first")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert not is_there(folder, "first")
    path.unlink()
    os.mkfifo(path)
    assert not is_there(folder, "first")  # and comes back


@pytest.mark.parametrize("mode", [0o2775, 0o757, 0o1777])
@pytest.mark.parametrize("inside", [False, True])
def test_folders_that_others_can_write_are_not_used(folder, mode, inside):
    place = path_of(folder, "first").parent if inside else folder
    place.chmod(mode)
    with pytest.warns(UserWarning, match=rf"{place} is not used.* mode {mode:o}.*chmod go-w"):
        assert not is_there(folder, "first")
    assert not is_there(folder, "first"), "and this is said once"
    before = path_of(folder, "first").stat()
    entries.store(folder, name("first"), ENTRY)
    assert path_of(folder, "first").stat() == before, "nor is anything put there"
    place.chmod(0o755)
    assert is_there(folder, "first")


@pytest.mark.parametrize("inside", [False, True])
def test_folders_that_a_umask_of_002_made_are_used_and_left_as_they_are(folder, inside):
    place = path_of(folder, "first").parent if inside else folder
    place.chmod(0o775)
    assert is_there(folder, "first")
    entries.store(folder, name("first"), ENTRY)
    entries.store(folder, name("second"), ENTRY)
    assert is_there(folder, "first") and is_there(folder, "second")
    assert stat.S_IMODE(place.stat().st_mode) == 0o775


def test_folders_of_others_are_not_used(folder, monkeypatch):
    give_away(folder, monkeypatch)
    with pytest.warns(UserWarning, match=f"{folder} is not used"):
        assert not is_there(folder, "first")


@pytest.mark.parametrize("umask, expected", [(0o002, 0o022), (0, 0o022), (0o077, 0o077)])
def test_whatever_the_umask_what_we_make_is_trusted(tmp_path, umask, expected):
    before = os.umask(umask)
    try:
        entries.store(tmp_path / "made" / "cache", name(1), ENTRY)
        with files.alone(tmp_path / "made" / "locks" / "lock"):
            pass
    finally:
        os.umask(before)
    for path in (tmp_path / "made").rglob("*"):
        full = 0o777 if path.is_dir() else 0o666
        assert stat.S_IMODE(path.stat().st_mode) in (full & ~expected, 0o644 & ~expected), path
    assert is_there(tmp_path / "made" / "cache", 1)


def test_the_lock_makes_no_file_through_a_link(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("text")
    for target in (precious, tmp_path / "new"):
        (tmp_path / "lock").symlink_to(target)
        entered = False
        with files.alone(tmp_path / "lock"):
            entered = True
        assert entered
        (tmp_path / "lock").unlink()
    assert precious.read_text() == "text" and not (tmp_path / "new").exists()


# The limit.


def age(folder, number, hours):
    then = time.time() - 3600 * hours
    os.utime(path_of(folder, number), (then, then))


def test_what_was_not_used_for_longest_goes_first(folder, monkeypatch):
    for number in range(20):
        entries.store(folder, name(number), ENTRY)
        age(folder, number, 100 - number)
    age(folder, "first", 1000)
    assert is_there(folder, 3), "which makes it the last that was used"
    size = path_of(folder, 3).stat().st_size
    monkeypatch.setenv("PYGPU_CACHE_MAXSIZE", str(10 * size))
    entries.store(folder, name("last"), ENTRY)
    kept = [number for number in range(20) if is_there(folder, number)]
    assert kept == [3, *range(13, 20)], "of 10, one is free"
    assert is_there(folder, "last") and not is_there(folder, "first")


def test_the_limit_holds_whatever_is_stored(folder, monkeypatch):
    monkeypatch.setenv("PYGPU_CACHE_MAXSIZE", "20000")
    for number in range(100):
        entries.store(folder, name(number), ENTRY)
        assert sum(item.nbytes for item in eviction.items(folder)) <= 20000
        assert is_there(folder, number)


def test_what_is_not_the_caches_stays(folder, monkeypatch):
    others = [folder / "notes.txt", folder / "ab" / "thesis", folder / "data" / name(1)]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(5000))
    monkeypatch.setenv("PYGPU_CACHE_MAXSIZE", "0")
    entries.store(folder, name(2), ENTRY)
    assert eviction.items(folder) == []
    entries.store(folder, name(2), ENTRY)
    eviction.clear(folder)
    assert sorted(path for path in folder.rglob("*") if path.is_file()) == sorted(others)


def test_what_a_killed_process_left_goes_after_a_while(folder, monkeypatch):
    left, new = (path_of(folder, "first").with_name(".new-" + end) for end in ("old", "now"))
    for path in (left, new):
        path.write_bytes(bytes(10))
    os.utime(left, (1, 1))
    eviction.shrink(folder, settings.value("PYGPU_CACHE_MAXSIZE"))
    assert not left.exists() and new.exists() and is_there(folder, "first")


@pytest.mark.parametrize(
    ("value", "nbytes"), [("7", 7), ("3k", 3 << 10), (" 2G ", 2 << 30), ("1.5GB", 3 << 29)]
)
def test_a_limit_may_have_a_suffix(monkeypatch, value, nbytes):
    monkeypatch.setenv("PYGPU_CACHE_MAXSIZE", value)
    assert settings.value("PYGPU_CACHE_MAXSIZE") == nbytes


def test_the_command(folder, monkeypatch, capsys, python):
    def told(*arguments):
        cache_command.main(arguments)
        return capsys.readouterr().out

    monkeypatch.setenv("PYGPU_CACHE_DIR", str(folder))
    monkeypatch.delenv("PYGPU_DISABLE_CACHE", raising=False)
    place = folder / "prelude" / name("header")
    place.mkdir(parents=True)
    (place / "prelude.h.gch").write_bytes(bytes(10**6))
    text = told()
    assert f"cache: {folder}\n" in text and "1 kernels, 1 precompiled headers, 1.0 MB" in text
    assert "1073.7 MB" in text
    program = "import sys, runpy; sys.argv = ['PyGPU', 'cache']; "
    assert python(program + "runpy.run_module('PyGPU', run_name='__main__')").stdout == text
    removed = f"cache: {folder}\nremoved: 1 kernels, 1 precompiled headers, 1.0 MB\n"
    assert told("--clear") == removed and not list(folder.iterdir())
    monkeypatch.setenv("PYGPU_DISABLE_CACHE", "1")
    assert "off" in told()
    with pytest.raises(SystemExit):
        told("--nonsense")


# Precompiled headers.


@pytest.fixture
def options(tmp_path, monkeypatch):
    """options() -> the words for a header that is made of a few bytes; .made counts them."""

    def precompile(words, _):
        options.made += 1
        header, _, made = map(Path, words[-3:])
        made.write_bytes(b"precompiled " + header.read_bytes() * 1000)

    def options(folder=tmp_path / "cache"):
        return host_prelude.options(folder, ["-O2"])

    options.made = 0
    monkeypatch.setattr(host_prelude.host_compiler, "run", precompile)
    host_prelude._bad.clear()
    files._refuse.cache_clear()
    return options


def test_a_precompiled_header_is_made_once(options):
    words = options()
    assert words[0] == "-include" and os.path.exists(words[1] + ".gch")
    assert options() == words and options.made == 1
    assert not host_prelude.drop_if_damaged(words)


SPOILED = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "empty": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "of others": lambda path: path.chmod(0o666),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_a_spoiled_header_is_made_anew(options, kind):
    words = options()
    made = Path(words[1] + ".gch")
    SPOILED[kind](made)
    assert options() == words and options.made == 2
    assert made.read_bytes().startswith(b"precompiled") and made.stat().st_mode & 0o777 == 0o644


def test_a_header_that_is_full_of_zeros_is_dropped_when_it_fails(options):
    words = options()
    made = Path(words[1] + ".gch")
    data = made.read_bytes()
    made.write_bytes(data[:5000] + bytes(len(data) - 5000))
    assert options() == words, "its size and its head are right"
    assert host_prelude.drop_if_damaged(words) and not made.exists()
    assert options() == words and options.made == 2
    assert not host_prelude.drop_if_damaged([*host_prelude.PLAIN])


def test_without_room_or_trust_the_header_is_not_precompiled(options, tmp_path, monkeypatch):
    monkeypatch.setenv("PYGPU_CACHE_MAXSIZE", str(50 << 20))
    assert options() == [*host_prelude.PLAIN] and not options.made
    monkeypatch.delenv("PYGPU_CACHE_MAXSIZE")
    (tmp_path / "file").write_text("no folder")
    assert options(tmp_path / "file" / "below") == [*host_prelude.PLAIN]
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.warns(UserWarning, match="is not used"):
        assert options(tmp_path / "open") == [*host_prelude.PLAIN]
    assert not options.made and not list((tmp_path / "open").iterdir())
