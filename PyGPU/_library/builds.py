"""Builds of shared libraries from sources.

A cache stores each library under a key that depends on the contents of its files.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
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
from PyGPU._library.toolchains import Toolchain
from PyGPU._runtime import CompileError, CompilerMissing, hooks

if TYPE_CHECKING:
    from PyGPU._types import CacheDir

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


class _Build:
    """A build: its files, its commands and its result."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.sources = {path: _read(path) for path in request.sources}
        words = [word for word in request.options if not word.startswith("-X")]
        self.parsed = _options.parse(words)
        self.folders = [*request.include_dirs, *map(os.path.abspath, self.parsed.include_dirs)]
        self.found, self.is_complete = includes.scan_all(
            self.sources, self.folders, self.parsed.pre_includes, self.parsed.macros
        )

    def key(self) -> str:
        request, toolchain = self.request, self.request.toolchain
        words = [
            *toolchain.compiling("", request.architectures, request.options),
            *toolchain.linking(request.architectures, request.options),
            *toolchain.libraries(),
        ]
        contents = {**self.found, **self.sources}
        return entries.key(
            "library",
            toolchain.name,
            toolchain.identity(),
            own_files.digest(entries.directory(request.cache_dir)),
            "\0".join(words),
            "\0".join(request.sources),
            "\0".join(request.include_dirs),
            "\0".join(request.libraries),
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
        log = _run(words, toolchain, source, partial(self._hint, source))
        return made, listed, log.replace(str(copies), "")

    def _hint(self, source: str) -> str:
        """Return advice for a source that does not compile, or an empty text."""
        if self.request.toolchain.has_toolkit:
            return ""
        contents = [self.sources[source], *self.found.values()]
        return toolkit_headers.hint(data.decode("utf-8", "replace") for data in contents)

    def make(self, library: Path) -> tuple[str, dict[str, tuple[int, int]] | None]:
        """Build the library. Return the log, and the system's headers in the form of an entry.

        The headers are None if a file that the sources include is unknown.
        """
        from concurrent.futures import (
            ThreadPoolExecutor,
        )  # a late import: slow, and for builds only

        request, toolchain = self.request, self.request.toolchain
        since = time.time()
        with files.scratch() as scratch:
            folder, definitions, lockstep_sources = Path(scratch), [], set()
            if not toolchain.has_toolkit:
                is_shared, contents = self.parsed.relocatable, {**self.found, **self.sources}
                lockstep_sources = _host_sources().in_lockstep(
                    self.sources,
                    self.folders,
                    self.parsed.pre_includes,
                    self.parsed.macros,
                    is_shared,
                )
                _host_sources().copied(
                    self.sources, self.found, folder / "copies", is_shared, lockstep_sources
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
                *toolchain.linking(request.architectures, request.options),
                *(str(one) for one, _, _ in made),
                *(
                    one if one.startswith("-") or "/" in one else f"-l{one}"
                    for one in request.libraries
                ),
                *toolchain.libraries(),
                *("-o", str(library)),
            ]
            log = "".join(one for _, _, one in made) + _run(words, toolchain, "the library")
            lists = [listed for _, listed, _ in made]
            known = [*self.found, *self.sources]
            system_headers = (
                dependencies.system_files(lists, [scratch], known, since)
                if self.is_complete
                else None
            )
            return log.strip(), system_headers


def _run(words: list[str], toolchain: Toolchain, name: str, hint: Callable[[], str] = str) -> str:
    """Run a compiler and return its log. If it fails, raise CompileError with `hint()`."""
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
    return done.stderr


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
    if folder is None or not build.is_complete:
        return _built_temporarily(build)
    name = build.key()
    library = folder / name[:2] / f"{name}{eviction.LIBRARY}"
    found = _cached_entry(folder, name, library)
    if found is not None:
        return library, found.log
    with _announced(request), files.alone(library.with_name(f"lock-{name[:16]}")):
        found = _cached_entry(folder, name, library)  # made by another process meanwhile
        if found is not None:
            return library, found.log
        try:
            files.make_folder(library.parent)
        except OSError:
            return _built_temporarily(build)
        if not (files.has_trusted(folder, library.parent) and os.access(library.parent, os.W_OK)):
            return _built_temporarily(build)
        temporary = library.with_name(f".new-{os.urandom(8).hex()}")
        try:
            log, system_headers = build.make(temporary)
            if system_headers is None or _Build(request).key() != name:  # a file changed meanwhile
                return _moved_to_temporary_folder(temporary), log
            os.chmod(temporary, 0o755)
            os.replace(temporary, library)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        entries.store(folder, name, entry.Entry(b"", log, {}, {}, system_headers))
        return library, log


def _cached_entry(folder: Path, name: str, library: Path) -> entry.Entry | None:
    """Return the entry of a library in the cache, or None if it is missing or out of date."""
    kept = entries.load(folder, name)
    try:
        state = os.stat(library)
    except OSError:
        return None
    if kept is None or not files.is_trusted(state):
        return None
    files.note_use(library, state)
    return kept


_temporary_folders: set[str] = set()


def _temporary_folder() -> Path:
    import tempfile

    folder = tempfile.mkdtemp(prefix="PyGPU-")
    _temporary_folders.add(folder)
    return Path(folder)


def _moved_to_temporary_folder(library: Path) -> Path:
    import shutil

    kept = _temporary_folder() / "library.so"
    shutil.move(library, kept)
    return kept


def _built_temporarily(build: _Build) -> tuple[Path, str]:
    library = _temporary_folder() / "library.so"
    with _announced(build.request):
        return library, build.make(library)[0]


def discard(library: Path) -> None:
    """Remove a temporary library, whose file is not needed once it is loaded."""
    folder = str(library.parent)
    if folder in _temporary_folders:
        import shutil

        _temporary_folders.discard(folder)
        shutil.rmtree(folder, ignore_errors=True)
