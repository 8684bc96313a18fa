"""Builds of shared libraries from sources.

A cache stores each library under a key that depends on the contents of its files.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyGPU._compile.cache import dependencies, entries, eviction, files, own_files
from PyGPU._compile.compilers import host_compiler
from PyGPU._compile.compilers import options as _options
from PyGPU._compile.source import hints, includes
from PyGPU._library import host_sources
from PyGPU._library.toolchains import HEADER_VARIABLES, Toolchain
from PyGPU._runtime import CompileError, CompilerMissing, announcements, digests, programs

if TYPE_CHECKING:
    from PyGPU._types import CacheDir

# Environment variables that the compilers and the linkers read, by their manuals and nvcc.profile.
_READ = (
    r"(?:C|C_INCLUDE_|CPLUS_INCLUDE_|LIBRARY_|COMPILER_|ROCM_|HSA_|(?:HIP_)?DEVICE_LIB_|HIP_\w*)PATH|"
    r"(?:GCC|LD|CCC|NVCC|HIPCC)_\w+|HIP_(?:COMPILER|RUNTIME)|HCC_AMDGPU_TARGET|LDEMULATION|GNUTARGET|"
    r"SOURCE_DATE_EPOCH|(?:SYSTEM_)?INCLUDES|LIBRARIES|(?:CUDAFE|PTXAS)_FLAGS"
)
# Programs that a compiler, or a script or ccache in its place, finds on PATH.
_PROGRAMS = ("g++", "gcc", "clang++", "clang", "as", "ld")
# Folders of the system into which a library may be installed later.
_LIBRARY_FOLDERS = ("/usr/local/lib", "/usr/local/lib64")
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


@lru_cache
def _programs(folders: tuple[str, ...], compiler: str) -> list[str]:
    """Return the compiler and the programs that it may run. A process searches once."""
    names = [os.path.basename(compiler), *_PROGRAMS]
    return [compiler, *filter(os.path.isfile, (f"{a}/{b}" for a in folders for b in names))]


def _named(words: Iterable[str], compiler: str) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """Return the states of the files that a build with these options may read, and the folders.

    The files are libraries, objects, scripts of the linker and programs. A library or a program
    that is named without its folder may be any of the files with its name.
    """
    parts = [part for word in words for part in (word, *re.split(r"[,=:]", word))]
    paths = {*parts, *(re.sub(r"^(?:-[A-Za-z]|@)", "", part) for part in parts)}
    folders = sorted(filter(os.path.isdir, paths))
    for part, following in zip(parts, [*parts[1:], ""]):
        if found := re.fullmatch(r"(?:-l|--library)(.*)", part):
            name = found[1] or following
            names = [f"lib{name}.so", f"lib{name}.a", name[1:]]  # the last for -l:name
            paths |= {f"{a}/{b}" for a in (*folders, *_LIBRARY_FOLDERS) for b in names}
    searched = [*folders, *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    result: dict[str, tuple[int, ...]] = {
        program: dependencies.file_state(program) or ()
        for program in _programs(tuple(searched), compiler)
    }
    for path in filter(os.path.isfile, paths):
        own = os.stat(path)  # the time of change, too: programs can set the modification time
        result[os.path.abspath(path)] = own.st_size, own.st_mtime_ns, own.st_ctime_ns
    return result, folders


class _Build:
    """A build: its files, its commands and its result."""

    def __init__(self, request: Request) -> None:
        self.request, toolchain = request, request.toolchain
        self.sources = {one: Path(one).read_bytes() for one in request.sources}
        parsed = _options.parse([one for one in request.options if not one.startswith("-X")])
        self.is_relocatable = parsed.relocatable
        folders = [*parsed.include_dirs, *includes.variable_folders(HEADER_VARIABLES)]
        folders = [*request.include_dirs, *map(os.path.abspath, folders)]
        self.search = folders, parsed.pre_includes, parsed.macros
        given = toolchain.linked(request.options, request.libraries)
        self.linked = [*given, *toolchain.libraries()]
        self.words = [
            *toolchain.compiling("", request.architectures, request.options),
            *toolchain.linking(request.architectures),
            *self.linked,
        ]
        names = re.findall(rf"(?m)^(?:{_READ})$", "\n".join(os.environ))
        self.variables = {name: os.environ[name] for name in names}
        values = [one for value in self.variables.values() for one in (value, *value.split())]
        options = [*request.options, *given, *values]
        self.named, named_folders = _named(options, toolchain.compiler())
        # All named folders, because some may have headers (-iquote, C_INCLUDE_PATH).
        self.found = includes.scan(
            self.sources, [*folders, *named_folders], parsed.pre_includes, parsed.macros
        )

    def key(self) -> str:
        request, toolchain = self.request, self.request.toolchain
        contents = {**self.found.files, **self.sources}
        return entries.key(
            "library",
            toolchain.name,
            own_files.digest(entries.directory(request.cache_dir)),
            repr((self.words, sorted(self.variables.items()), sorted(self.named.items()))),
            repr((self.found.installed, request.sources, request.include_dirs)),
            *(part for path in sorted(contents) for part in (path, contents[path])),
        )

    def _compile(
        self, folder: Path, copies: host_sources.Copies | None, source: str, number: int
    ) -> tuple[Path, Path, str]:
        """Compile a source; return its object, its list of headers, and the compiler's log."""
        request, toolchain = self.request, self.request.toolchain
        made, listed = folder / f"{number}.o", folder / f"{number}.d"
        text, first, last = source, [], []
        options = toolchain.compiling(Path(source).suffix, request.architectures, request.options)
        if copies:
            text, first, last = f"{folder}{source}", copies.first, copies.last
            if source in copies.lockstep_sources:
                options = host_compiler.without_strict(options) + host_compiler.lockstep_flags()
        words = [
            toolchain.compiler(),
            "-c",
            *first,
            *options,
            *(word for one in request.include_dirs for word in ("-I", one)),
            *last,
            *toolchain.includes(),
            *("-MD", "-MF", str(listed), "-o", str(made), text),
        ]
        log = self._run(words, source, [self.sources[source], *self.found.files.values()]).stderr
        return made, listed, log.replace(str(folder), "")

    def make(self, library: Path) -> tuple[str, dict[str, tuple[int, int]] | None]:
        """Build the library. Return the log, and the system's files in the form of an entry.

        They are None if a file that a compiler or the linker read is unknown.
        """
        from concurrent.futures import ThreadPoolExecutor  # slow, and for builds only

        request, toolchain = self.request, self.request.toolchain
        since = time.time()
        with files.scratch() as scratch:
            folder, copies = Path(scratch), None
            if not toolchain.has_toolkit:
                copies = host_sources.copied(
                    self.sources, self.search, request.options, folder, self.is_relocatable
                )
            jobs = min(len(request.sources), os.cpu_count() or 1, _JOBS)
            with ThreadPoolExecutor(jobs) as pool:
                run_all = pool.map if jobs > 1 else map  # one job needs no thread
                compile_one = partial(self._compile, folder, copies)
                made = list(run_all(compile_one, request.sources, itertools.count()))
            words = [
                toolchain.compiler(),
                *toolchain.linking(request.architectures),
                *("-Xlinker", "-t"),  # lists the files that the linker reads
                *(str(one) for one, _, _ in made),
                *self.linked,
                *("-o", str(library)),
            ]
            done = self._run(words, "the library", [])
            log = "".join(one for _, _, one in made) + done.stderr
            linked = dependencies.linked(done.stdout)
            if os.path.realpath(made[0][0]) not in linked:  # the linker ignores -t
                return log.strip(), None
            lists = [listed for _, listed, _ in made]
            known = [*self.found.files, *self.sources, *self.named]
            return log.strip(), dependencies.system_files(lists, [scratch], known, since, linked)

    def _run(self, words: list[str], name: str, texts: Iterable[bytes]) -> programs.Finished:
        """Run a compiler. If it fails, raise CompileError with advice about its texts."""
        toolchain = self.request.toolchain
        done = programs.run(words, env=toolchain.environment())
        if done.status in programs.CANNOT_RUN:
            raise CompilerMissing(f"{words[0]} does not run: {done.stderr}", words)
        if done.status:
            ours = [] if toolchain.has_toolkit else texts
            advice = hints.hint_of_headers(one.decode("utf-8", "replace") for one in ours)
            message = f"build of {name} failed" + (f": {advice}" if advice else "")
            raise CompileError(message, words, stdout=done.stdout, stderr=done.stderr)
        return done


def built(request: Request) -> tuple[Path, str]:
    """Return the path of a library and the compiler's log. Build the library if it is not cached.

    Without a usable cache, the file is temporary: :func:`discard` removes it. Raise
    FileNotFoundError for a missing source, CompilerMissing or CompileError; the latter's
    ``.stderr`` has the messages.
    """
    build = _Build(request)
    folder = entries.directory(request.cache_dir) if build.found.is_complete else None
    name = build.key() if folder else ""
    if folder and (found := _cached(folder, name)):
        return found
    sources = ", ".join(os.path.basename(path) for path in request.sources)
    text = f"{sources} for {request.toolchain.name}"
    with contextlib.ExitStack() as entered:
        entered.enter_context(announcements.announced(f"building {text}", f"built {text}"))
        if folder:
            entered.enter_context(files.alone(folder / name[:2] / f"lock-{name[:16]}"))
            if found := _cached(folder, name):  # made by another process meanwhile
                return found
        made, log, system_files = _built_temporarily(build)
        if not folder or system_files is None or _Build(request).key() != name:  # a file changed
            return made, log
        data = made.read_bytes()
        digest = digests.of(data)
        library = entries.put(folder, f"{digest.hex()}{eviction.LIBRARY}", data, 0o755)
        if library is None:
            return made, log
        discard(made)
        entries.store(folder, name, entries.Entry(digest, log, {}, {}, system_files))
        return library, log


def _cached(folder: Path, name: str) -> tuple[Path, str] | None:
    """Return a library and its log; None if it is missing, damaged or out of date.

    The image of the entry is the digest of the library. It also names the library's file, because
    the loader does not read another file of the same name.
    """
    kept = entries.load(folder, name)
    if kept is None:
        return None
    library = folder / kept.image.hex()[:2] / f"{kept.image.hex()}{eviction.LIBRARY}"
    changed = os.stat(library).st_ctime_ns if library.exists() else 0
    return (library, kept.log) if _digest(library, changed) == kept.image else None


@lru_cache
def _digest(library: Path, changed: int) -> bytes | None:
    """Return the digest of a library; None if it is missing. `changed` is the time of change."""
    data = files.read(library)
    return None if data is None else digests.of(data)


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
