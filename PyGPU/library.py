"""Users' compiled code, from its sources or from a shared library: :func:`load`, :func:`build`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from PyGPU._library import builds, toolchains
from PyGPU._library import library as _library
from PyGPU._library.library import Library
from PyGPU._runtime import as_list as _as_list
from PyGPU._runtime import core as _core
from PyGPU._runtime import docstrings

__all__ = ["Library", "LibraryFunction", "build", "load"]

LibraryFunction = _core.LibraryFunction

if TYPE_CHECKING:
    from PyGPU._types import CacheDir

    _Path = Union[str, os.PathLike[str]]


def _words(argument: str, given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, (str, bytes)) or not all(isinstance(one, str) for one in given):
        raise TypeError(f"{argument}: expected a list of str, got {given!r}")
    return tuple(given)


def _folders(given: Sequence[_Path]) -> tuple[str, ...]:
    if isinstance(given, (str, bytes, os.PathLike)):
        raise TypeError(f"include_dirs: expected a list of paths, got {given!r}")
    return tuple(os.path.abspath(os.fspath(one)) for one in given)


def _checked(sources: Sequence[_Path]) -> tuple[str, ...]:
    paths = tuple(os.path.abspath(os.fspath(one)) for one in sources)
    if not paths:
        raise ValueError("source: expected at least one file")
    for path in paths:
        if not path.endswith(toolchains.SOURCE_ENDINGS):
            raise ValueError(
                f"source: {path}: expected a file that ends with one of "
                f"{', '.join(toolchains.SOURCE_ENDINGS)}, or a single .so"
            )
        if not os.path.isfile(path):
            raise FileNotFoundError(f"source: there is no file {path}")
    return paths


def _request(
    sources: Sequence[_Path],
    target: str | None,
    options: Sequence[str],
    include_dirs: Sequence[_Path],
    libraries: Sequence[str],
    arch: str | Sequence[str],
    cache_dir: CacheDir,
) -> builds.Request:
    toolchain = toolchains.of(target)
    return builds.Request(
        toolchain,
        _checked(sources),
        tuple(toolchain.architectures(arch)),
        _words("options", options),
        _folders(include_dirs),
        _words("libraries", libraries),
        cache_dir,
    )


def _declarations(given: str | os.PathLike[str]) -> _library.Declarations:
    """Return the functions that a text or a header declares."""
    if isinstance(given, os.PathLike) or re.fullmatch(r"[^\n;()]*\.(?:h|hpp|hh|cuh)", given):
        return _library.in_header(Path(given).read_text("utf-8", "surrogateescape"))
    return _library.in_text(given)


def load(
    source: _Path | Sequence[_Path],
    declarations: str | os.PathLike[str] = "",
    *,
    options: Sequence[str] = (),
    include_dirs: Sequence[_Path] = (),
    libraries: Sequence[str] = (),
    arch: str | Sequence[str] = "native",
    cache_dir: CacheDir = None,
    errors: bool = False,
) -> Library:
    """Load a compiled library; sources are built first, for the target in use.

    The same CUDA source is compiled by nvcc on the target `cuda`, by hipcc on `hip`, and by the
    system's C++ compiler on `host`. A library that was built before is found in the cache by the
    contents of its sources and of all files that they include.

    :param path or sequence of paths source: One shared library (``.so``), or the sources of one:
        ``.cu``, ``.cpp``, ``.hip``.
    :param str or path declarations: Prototypes of functions without ``PYGPU_EXPORT``, such as
        ``"int f(double *a, long n);"``, or a header with them. What is wrong with a function of a
        header is raised at its first use.
    :param options: Options of the target's compiler. On `host`, those of nvcc are understood.
    :param sequence of paths include_dirs: Folders of headers.
    :param libraries: Libraries to link: a name such as ``"cublas"``, a file, or a word that begins
        with ``-``.
    :param arch: Architectures of the device code, such as ``"sm_90"``; by default the current
        device's.
    :param path, None or False cache_dir: Folder of the cache, or False for none; by default
        ``PYGPU_CACHE_DIR``.
    :param errors: Results of type ``int`` are errors of the runtime, which raise, as
        ``cudaError_t`` does.
    :returns: The functions as attributes.
    :raises PyGPU.errors.CompilerMissing: The target's compiler is not found.
    :raises PyGPU.errors.CompileError: A source does not compile, or the library does not link;
        ``.stderr`` has the messages.
    :raises OSError: The file is missing, or is no library that can be loaded on this target.
    :raises ValueError: A declaration cannot be read.
    :raises AttributeError: The library lacks a declared function.

    >>> import PyGPU
    >>> maths = PyGPU.load("libm.so.6", "double hypot(double x, double y);")
    >>> maths.hypot(3.0, 4.0)
    5.0
    """
    is_one = isinstance(source, (str, os.PathLike))
    sources: list[Any] = [source] if is_one else _as_list("source", source)
    declared = _declarations(declarations)
    if len(sources) == 1 and re.search(r"\.so(?:\.\d+)*$", os.fspath(sources[0])):
        name = os.fspath(sources[0])
        # A name without a folder is the loader's to find, unless it is a file here.
        path = Path(name) if "/" not in name and not os.path.exists(name) else Path(name).absolute()
        if path.is_absolute() and not path.is_file():
            raise FileNotFoundError(f"source: there is no file {path}")
        return _library.opened(path, name, declared, errors)
    request = _request(sources, None, options, include_dirs, libraries, arch, cache_dir)
    path, _ = builds.built(request)
    try:
        label = ", ".join(os.path.basename(one) for one in request.sources)
        return _library.opened(path, label, declared, errors)
    finally:
        builds.discard(path)


def build(
    *sources: _Path,
    out: _Path | None = None,
    target: str | None = None,
    arch: str | Sequence[str] = "native",
    options: Sequence[str] = (),
    include_dirs: Sequence[_Path] = (),
    libraries: Sequence[str] = (),
    cache_dir: CacheDir = None,
) -> Path:
    """Build a shared library from sources and return its path, without loading it.

    Parameters
    ----------
    *sources : path
        Files of source code, as for :func:`PyGPU.load`.
    out : path, optional
        File of the library, or a folder for it; by default the library stays in the cache.
    target : str, optional
        ``"cuda"``, ``"hip"`` or ``"host"``; by default the target in use.
    arch, options, include_dirs, libraries, cache_dir : optional
        As for :func:`PyGPU.load`. Several architectures make one library for all of them.

    Returns
    -------
    pathlib.Path
        Path of the library.

    Raises
    ------
    PyGPU.errors.CompilerMissing
        The target's compiler is not found.
    PyGPU.errors.CompileError
        A source does not compile, or the library does not link; ``.stderr`` has the messages.
    FileNotFoundError
        A source is missing, or the folder of `out`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import PyGPU
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "one.cpp").write_text('extern "C" int one() { return 1; }')
    >>> library = PyGPU.build(folder / "one.cpp", target="host", out=folder)
    >>> library.name
    'one.so'
    >>> PyGPU.load(library, "int one();").one()
    1
    """
    request = _request(sources, target, options, include_dirs, libraries, arch, cache_dir)
    to = None if out is None else Path(out)
    if to and not to.is_dir() and not to.parent.is_dir():
        raise FileNotFoundError(f"out: {to}: there is no folder {to.parent}")
    path, _ = builds.built(request)
    if to is None:
        return path
    if to.is_dir():
        to = to / f"{Path(request.sources[0]).stem}.so"
    temporary = to.with_name(f".{to.name}-{os.urandom(4).hex()}")
    try:
        import shutil  # slow to import, and needed for a copy alone

        shutil.copyfile(path, temporary)
        os.chmod(temporary, 0o755)
        os.replace(temporary, to)
    finally:
        temporary.unlink(missing_ok=True)
        builds.discard(path)
    return to.absolute()


docstrings.complete(__name__)
