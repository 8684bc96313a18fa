"""Compilation of source texts to images, by the back end of a target and through the disk cache."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence
from pathlib import Path

from PyGPU._compile.cache import entries, own_files
from PyGPU._compile.cache.architectures import target_of
from PyGPU._compile.cache.entries import Entry
from PyGPU._compile.compilers import options as _options
from PyGPU._compile.compilers.backend import Backend, Job, Request
from PyGPU._compile.compilers.device_names import architecture, capability
from PyGPU._compile.source import includes
from PyGPU._compile.source.includes import Found
from PyGPU._runtime import announcements, core

__all__ = ["Backend", "Request", "backend_named", "build", "compiled", "own"]


@functools.cache
def backend_named(target: str) -> Backend:
    """Return the back end of a target. Its module is imported at first use."""
    if target == "cuda":
        from PyGPU._compile.compilers.cuda import Cuda

        return Cuda()
    if target == "hip":
        from PyGPU._compile.compilers.hip import Hip

        return Hip()
    from PyGPU._compile.compilers.host import Host

    return Host()


#: Back end of the target in use.
own = backend_named(core.target)


def backend_for(arch: str | None) -> Backend:
    """Return the back end that compiles for an architecture, or `own` for None.

    The target ``host`` accepts NVIDIA's names and compiles for the host machine. So programs that
    name the architecture of one GPU can run there.
    """
    target = target_of(arch) if arch else None
    is_accepted = target == "cuda" and not own.needs_architecture
    return own if target is None or is_accepted else backend_named(target)


def backend_of(arch: str) -> Backend:
    """Return the back end of the target of an architecture, or `own` for an unknown name."""
    return backend_named(target_of(arch) or own.name)


def device_architecture() -> str:
    """Return the name of the current device's architecture, as its vendor's compiler expects it."""
    return architecture(own.has_compute_capability)


def build(request: Request, backend: Backend | None = None) -> Entry:
    """Return the image of a source text, from the cache or from the compiler of the target in use.

    Raise CompileError without a compiler, or if the text does not compile; ``.stderr`` is the log.
    """
    backend = backend or own
    options = _options.parse(request.options)
    options.include_dirs = [*request.include_dirs, *options.include_dirs]
    arch = request.arch or options.arch
    if arch:
        backend.check_architecture(arch)
    if (options.relocatable or options.link_time) and not request.relocatable:
        _options.note("-rdc=true and -dlto are ignored: DynamicSourceModule makes images to link")
    return compiled(backend, request, options, arch)


def build_for(request: Request, arch: str) -> Entry:
    """Return the image of a source text for a named architecture. No device is needed."""
    backend = backend_of(arch)
    is_linked = not backend.why_not_linked and _options.parse(request.options).relocatable
    named = arch if backend.needs_architecture else None
    return build(request._replace(arch=named, loads=False, relocatable=is_linked), backend)


def compiled(
    backend: Backend, request: Request, options: _options.Options, arch: str | None
) -> Entry:
    """Return the image of a source text, with the options parsed before."""
    is_named = arch is not None
    if arch is None:
        arch = device_architecture() if backend.needs_architecture else ""
    found = _found(backend, request, options)
    job = Job(request, options, found, arch, is_named, _device(backend, request))
    identity, words = backend.key(job)
    folder = entries.directory(request.cache_dir)
    # The image is cached only if the key contains all files that the compiler may read.
    reads_more = any(re.match(_READS_FILES, word) for word in options.other)
    cache = folder if found.is_complete and not reads_more else None
    name = _name(backend, job, identity, words, folder)
    return entries.found_or_made(
        cache, name, lambda: _made(backend, job, words, folder, name if cache else None)
    )


def _made(
    backend: Backend, job: Job, words: list[str], folder: Path | None, name: str | None
) -> Entry:
    """Compile a source text, and store the image under its name in the cache, if it has one."""
    request = job.request
    lines = request.source.count("\n") + 1
    text = f"{request.name} ({lines} lines) for {job.arch or backend.name}"
    with announcements.announced(f"compiling {text}", f"compiled {text}"):
        entry = backend.make(job, words, folder)
    # If a file changed during the compilation, the image may be of either version of it.
    if name is not None and _found(backend, request, job.options) == job.found:
        entries.store(folder, name, entry)
    return entry


def _device(backend: Backend, request: Request) -> tuple[int, int] | None:
    """Return the compute capability of the device that loads the image; None if it is unknown."""
    is_loaded_here = request.loads and backend is own and backend.needs_architecture
    return capability() if is_loaded_here and core.cudaGetDeviceCount()[0] else None


def _found(backend: Backend, request: Request, options: _options.Options) -> Found:
    """Return the user's files that the source text may include, also from the working directory."""
    if request.own:
        return Found({}, True, False, "")
    folders = [*options.include_dirs, *includes.variable_folders(backend.include_variables), ""]
    return includes.scan(request.source, folders, options.pre_includes, options.macros)


# Options by which a compiler may read files that PyGPU does not search for.
_READS_FILES = (
    r"@|--?(?:i|optf|options-file|(?:use-|create-)?pch|specs|fplugin|wrapper|fprofile|Xclang|B)"
)


def _name(
    backend: Backend, job: Job, identity: str, words: Sequence[str], folder: Path | None
) -> str:
    """Return the name of the image in the cache."""
    request, options, found = job.request, job.options, job.found
    variables = (*backend.include_variables, *backend.variables)
    return entries.key(
        backend.name,
        identity,
        own_files.digest(folder),
        request.source,
        request.extern_c,
        request.own,
        request.name,
        request.want,
        "\0".join([*words, *options.macros, "", *options.pre_includes]),
        "\0".join(request.expressions),
        "\0".join(os.environ.get(name, "") for name in variables),
        "\0".join(found.installed),
        *(part for path in sorted(found.files) for part in (path, found.files[path])),
    )
