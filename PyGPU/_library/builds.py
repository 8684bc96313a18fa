"""Builds of shared libraries from sources.

A cache stores each library under a key that depends on the contents of its files.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyGPU._compile import (
    dependencies,
    entries,
    entry,
    eviction,
    files,
    includes,
    own_files,
    toolkit_headers,
)
from PyGPU._compile import options as _options
from PyGPU._library.toolchains import HEADER_VARIABLES, Toolchain
from PyGPU._runtime import CompileError, CompilerMissing, digests, hooks

if TYPE_CHECKING:
    import subprocess

    from PyGPU._types import CacheDir

# Folders of the system into which a library may be installed later.
_LIBRARY_FOLDERS = ("/usr/local/lib", "/usr/local/lib64")
_LARGE = 1 << 26  # bytes of a named file whose size and time are compared instead of its contents
_JOBS = 8  # maximum number of concurrent compilers; each may use a gigabyte of memory


@dataclass(frozen=True)
class Request:
    """Sources of a library, and how to build it."""

    toolchain: Toolchain
    sources: tuple[str, ...]  # absolute paths
    architectures: tuple[str, ...]
    options: tuple[str, ...]
    include_dirs: tuple[str, ...]  # absolute paths
    libraries: tuple[str, ...]
    cache_dir: CacheDir = None


def _host_sources() -> Any:
    """Return the module that rewrites sources for the host. Cached libraries do not need it."""
    return hooks.loaded("PyGPU._library.host_sources")


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _parts(words: Iterable[str]) -> list[str]:
    """Return the parts of options, each of which may name a file, a folder or a library."""
    parts = [part for word in words for part in (word, *re.split(r"[,=:]", word))]
    return [one for part in parts for one in (part, re.sub(r"^(?:-[A-Za-z]|@)", "", part))]


def _named_files(parts: Sequence[str], folders: Iterable[str]) -> dict[str, bytes]:
    """Return digests of the files that options name: libraries, objects, scripts, programs.

    A library that is named without its folder may be any of the files with its name.
    """
    names = []
    for part, following in zip(parts, [*parts[1:], ""]):
        if found := re.fullmatch(r"(?:-l|--library)(.*)", part):
            name = found[1] or following
            names += [name[1:]] if name.startswith(":") else [f"lib{name}.so", f"lib{name}.a"]
    found_files = {}
    for path in {*parts, *(os.path.join(folder, name) for folder in folders for name in names)}:
        if path and os.path.isfile(path):
            state = os.stat(path)
            is_large = state.st_size > _LARGE
            data = b"%d %d" % (state.st_size, state.st_mtime_ns) if is_large else _read(path)
            found_files[os.path.abspath(path)] = digests.of(data)
    return found_files


class _Build:
    """A build: its files, its commands and its result."""

    def __init__(self, request: Request) -> None:
        self.request, toolchain = request, request.toolchain
        self.sources = {path: _read(path) for path in request.sources}
        words = [word for name in toolchain.option_variables for word in _options.flags_in(name)]
        words = [word for word in (*request.options, *words) if not word.startswith("-X")]
        self.parsed = _options.parse(words)
        folders = [*self.parsed.include_dirs, *includes.variable_folders(HEADER_VARIABLES)]
        self.folders = [*request.include_dirs, *map(os.path.abspath, folders)]
        searched = [*self.folders, *includes.variable_folders(["C_INCLUDE_PATH"])]
        self.found = includes.scan_all(
            self.sources, searched, self.parsed.pre_includes, self.parsed.macros
        )
        self.words = [
            *toolchain.compiling("", request.architectures, request.options),
            *toolchain.linking(request.architectures),
            *toolchain.linked(request.options, request.libraries),
            *toolchain.libraries(),
        ]
        self.variables = [os.environ.get(name, "") for name in toolchain.variables]
        parts = _parts([*words, *self.words, *self.variables])
        self.named_folders = [one for one in dict.fromkeys(parts) if os.path.isdir(one)]
        self.named = _named_files(parts, [*self.named_folders, *_LIBRARY_FOLDERS])

    def key(self) -> str:
        request, toolchain = self.request, self.request.toolchain
        contents = {**self.found.files, **self.sources, **self.named}
        return entries.key(
            "library",
            toolchain.name,
            toolchain.identity(self.named_folders),
            own_files.digest(entries.directory(request.cache_dir)),
            "\0".join(self.words),
            "\0".join(self.variables),
            "\0".join(request.sources),
            "\0".join(request.include_dirs),
            "\0".join(self.found.installed),
            *(part for path in sorted(contents) for part in (path, contents[path])),
        )

    def _compile(
        self,
        folder: Path,
        definitions: list[str],
        lockstep_sources: set[str],
        source: str,
        number: int,
    ) -> tuple[Path, Path, str]:
        """Compile a source; return its object, its list of headers, and the compiler's log."""
        request, toolchain = self.request, self.request.toolchain
        made, listed = folder / f"{number}.o", folder / f"{number}.d"
        copies = folder / "copies"
        where = [word for one in request.include_dirs for word in ("-I", one)]
        text, first = source, []
        if copies.is_dir():
            text, first = f"{copies}{source}", _host_sources().copied_folders(self.folders, copies)
            where += _host_sources().named_originals(request.options, copies)
        options = toolchain.compiling(Path(source).suffix, request.architectures, request.options)
        if source in lockstep_sources:
            options = toolchain.in_lockstep(options)
        words = [
            toolchain.compiler(),
            "-c",
            *first,
            *options,
            *where,
            *definitions,
            *toolchain.includes(),
            *("-MD", "-MF", str(listed), "-o", str(made), text),
        ]
        log = _run(words, toolchain, source, partial(self._hint, source)).stderr
        return made, listed, log.replace(str(copies), "")

    def _hint(self, source: str) -> str:
        """Return advice for a source that does not compile, or an empty text."""
        if self.request.toolchain.has_toolkit:
            return ""
        contents = [self.sources[source], *self.found.files.values()]
        return toolkit_headers.hint(data.decode("utf-8", "replace") for data in contents)

    def make(self, library: Path) -> tuple[str, dict[str, tuple[int, int]] | None]:
        """Build the library. Return the log, and the system's files in the form of an entry.

        They are None if a file that a compiler or the linker read is unknown.
        """
        from concurrent.futures import (
            ThreadPoolExecutor,
        )  # a late import: slow, and for builds only

        request, toolchain = self.request, self.request.toolchain
        since = time.time()
        with files.scratch() as scratch:
            folder, definitions, lockstep_sources = Path(scratch), [], set()
            if not toolchain.has_toolkit:
                is_shared, contents = self.parsed.relocatable, {**self.found.files, **self.sources}
                lockstep_sources = _host_sources().in_lockstep(
                    self.sources,
                    self.folders,
                    self.parsed.pre_includes,
                    self.parsed.macros,
                    is_shared,
                )
                _host_sources().copied(
                    self.sources, self.found.files, folder / "copies", is_shared, lockstep_sources
                )
                definitions = _host_sources().definitions(contents.values())
            jobs = min(len(request.sources), os.cpu_count() or 1, _JOBS)
            with ThreadPoolExecutor(jobs) as pool:
                made = list(
                    pool.map(
                        lambda pair: self._compile(
                            folder, definitions, lockstep_sources, pair[1], pair[0]
                        ),
                        enumerate(request.sources),
                    )
                )
            words = [
                toolchain.compiler(),
                *toolchain.linking(request.architectures),
                *toolchain.trace,
                *(str(one) for one, _, _ in made),
                *toolchain.linked(request.options, request.libraries),
                *toolchain.libraries(),
                *("-o", str(library)),
            ]
            done = _run(words, toolchain, "the library")
            log = "".join(one for _, _, one in made) + done.stderr
            lists = [listed for _, listed, _ in made]
            known = [*self.found.files, *self.sources, *self.named]
            linked = dependencies.linked(done.stdout)
            is_known = self.found.is_complete and os.path.realpath(made[0][0]) in linked
            system_files = (
                dependencies.system_files(lists, [scratch], known, since, linked)
                if is_known
                else None
            )
            return log.strip(), system_files


def _run(
    words: list[str], toolchain: Toolchain, name: str, hint: Callable[[], str] = str
) -> subprocess.CompletedProcess[str]:
    """Run a compiler. If it fails, raise CompileError with `hint()`."""
    import subprocess  # a late import: slow, and not needed for cached libraries

    try:
        done = subprocess.run(
            words,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=toolchain.environment(),
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise CompilerMissing(f"{words[0]} does not run: {error}", words) from None
    if done.returncode:
        advice = hint()
        message = f"build of {name} failed" + (f": {advice}" if advice else "")
        raise CompileError(message, words, stdout=done.stdout, stderr=done.stderr)
    return done


def _announced(request: Request) -> contextlib.AbstractContextManager[None]:
    """Announce the build of the ``with`` block if it takes long."""
    names = ", ".join(os.path.basename(path) for path in request.sources)
    text = f"{names} for {request.toolchain.name}"
    announcements = hooks.loaded("PyGPU._runtime.announcements")  # a late import
    shown: contextlib.AbstractContextManager[None] = announcements.announced(
        f"building {text}", f"built {text}"
    )
    return shown


def built(request: Request) -> tuple[Path, str]:
    """Return the path of a library and the compiler's log. Build the library if it is not cached.

    Without a usable cache, the file is temporary: :func:`discard` removes it.

    Raises
    ------
    FileNotFoundError
        If a source is missing.
    CompilerMissing
        If the target's compiler is not found.
    CompileError
        If a source does not compile, or the library does not link. ``.stderr`` has the messages.
    """
    build = _Build(request)
    folder = entries.directory(request.cache_dir)
    if folder is None or not build.found.is_complete:
        with _announced(request):
            return _built_temporarily(build)[:2]
    name = build.key()
    library = folder / name[:2] / f"{name}{eviction.LIBRARY}"
    found = _cached_entry(folder, name, library)
    if found is not None:
        return library, found.log
    with _announced(request), files.alone(library.with_name(f"lock-{name[:16]}")):
        found = _cached_entry(folder, name, library)  # made by another process meanwhile
        if found is not None:
            return library, found.log
        made, log, system_files = _built_temporarily(build)
        if system_files is None or _Build(request).key() != name:  # a file changed meanwhile
            return made, log
        data = made.read_bytes()
        is_trusted = files.has_trusted(folder, library.parent)
        if not (is_trusted and files.place(library, data, 0o755)):
            return made, log
        discard(made)
        made_entry = entry.Entry(digests.of(data), log, {}, {}, system_files)
        entries.store(folder, name, made_entry)
        return library, log


def _cached_entry(folder: Path, name: str, library: Path) -> entry.Entry | None:
    """Return the entry of a library in the cache, or None if it is missing or out of date.

    The image of the entry is the digest of the library, which may be damaged.
    """
    kept = entries.load(folder, name)
    data = None if kept is None else files.read(library)
    return kept if kept and data is not None and digests.of(data) == kept.image else None


_temporary_folders: set[str] = set()


def _built_temporarily(
    build: _Build,
) -> tuple[Path, str, Mapping[str, tuple[int, int]] | None]:
    """Build a library in a temporary folder. Return its path and what :meth:`_Build.make` does."""
    import tempfile

    library = Path(tempfile.mkdtemp(prefix="PyGPU-"), "library.so")
    _temporary_folders.add(str(library.parent))
    try:
        return library, *build.make(library)
    except BaseException:
        discard(library)
        raise


def discard(library: Path) -> None:
    """Remove a temporary library, whose file is not needed once it is loaded."""
    folder = str(library.parent)
    if folder in _temporary_folders:
        import shutil

        _temporary_folders.discard(folder)
        shutil.rmtree(folder, ignore_errors=True)
