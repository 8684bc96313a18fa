"""From kernel text to an image for the device in use: the compiler's options and the disk cache."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PyGPU._compile.cache import entries
from PyGPU._compile.cache.architectures import target_of
from PyGPU._compile.compilers import host, processor, rtc
from PyGPU._compile.compilers import options as _options
from PyGPU._compile.compilers.device_names import capability, device_architecture
from PyGPU._compile.source import (
    alignment,
    dynamic_shared,
    headers,
    includes,
    kernel_types,
    lockstep,
    signature,
)
from PyGPU._runtime import core, errors, include_root

if TYPE_CHECKING:
    from PyGPU._types import CacheDir


@dataclass(frozen=True)
class Request:
    """What is to be compiled."""

    source: str
    options: tuple[str, ...] = ()
    arch: str | None = None  # "sm_90", "compute_90", "gfx90a"; None: the current device's
    include_dirs: tuple[str, ...] = ()
    extern_c: bool = True
    expressions: tuple[str, ...] = ()
    want: str = "cubin"  # or "ptx"
    relocatable: bool = False  # for link.py
    name: str = "kernel.cu"
    cache_dir: CacheDir = None
    loads: bool = False  # is it for the device at hand, whatever the architecture?
    tuned: bool = False  # on host: may the image need what not every processor has?
    keep: bool = False  # the text and the image, for a person to look at: see kept.py
    target: str = core.target  # whose compiler is asked


_NVIDIA = r"(?:sm|compute)_(\d{2,3})[af]?"


def check_architecture(arch: str, target: str = core.target) -> None:
    """CompileError for what cannot be the name of an architecture of this target."""
    good = re.fullmatch(r"gfx[0-9a-f]+(?::\S+)?", arch) if target == "hip" else None
    if not (good or re.fullmatch(_NVIDIA, arch)):
        example = "gfx90a" if target == "hip" else "sm_90"
        raise errors.CompileError(
            f"arch={arch!r}: no architecture of this target; expected a name such as {example}",
            [arch],
        )


def target_for(arch: str | None) -> str:
    """Target whose compiler makes images for `arch`.

    On the host machine, NVIDIA's names stand for the machine itself: programs that ask for the
    GPU of their author load the image here.
    """
    asked = target_of(arch) if arch else None
    return core.target if asked is None or (core.target, asked) == ("host", "cuda") else asked


def build(request: Request) -> entries.Entry:
    """The image of a text, from the cache or from the compiler.

    Raises
    ------
    CompileError
        Without a compiler, or with its log.
    """
    options = _options.parse(request.options)
    options.include_dirs = [*request.include_dirs, *options.include_dirs]
    arch = request.arch or options.arch
    if arch:
        check_architecture(arch, request.target)
    if (options.relocatable or options.link_time) and not request.relocatable:
        _options.note("-rdc=true and -dlto are ignored: DynamicSourceModule makes what is linked")
    return _BACKENDS[request.target](request, options, arch)


def build_for(request: Request, arch: str) -> entries.Entry:
    """The image of a text for a named architecture, ``host`` too: no device is needed."""
    target = target_of(arch) or core.target
    is_linked = target != "hip" and _options.parse(request.options).relocatable
    plain = None if target == "host" else arch
    return build(replace(request, arch=plain, target=target, loads=False, relocatable=is_linked))


def _wrapped(request: Request) -> str:
    source = headers.with_visible_references(request.source)
    return headers.wrap_extern_c(source) if request.extern_c else source


def _found(request: Request, options: _options.Options) -> includes.Found:
    """What the text may include of the user's files, those in the working directory too."""
    folders = [*options.include_dirs, *_folders_of_environment(request.target), ""]
    return includes.scan(request.source, folders, options.pre_includes, options.macros)


# Variables that name folders of headers, and others that change what a compiler does.
_FOLDERS = dict.fromkeys(("hip", "host"), ("CPATH", "CPLUS_INCLUDE_PATH"))
_VARIABLES = {
    "hip": ("HIPRTC_COMPILE_OPTIONS_APPEND", "HIPRTC_LINK_OPTIONS_APPEND"),
    "host": ("GCC_EXEC_PREFIX", "COMPILER_PATH"),
}


def _folders_of_environment(target: str) -> list[str]:
    values = [os.environ[name] for name in _FOLDERS.get(target, ()) if os.environ.get(name)]
    return [folder for value in values for folder in value.split(os.pathsep)]


# Options by which a compiler reads files of which we know nothing.
_READS_FILES = (
    r"@|--?(?:i|optf|options-file|(?:use-|create-)?pch|specs|fplugin|wrapper|fprofile|Xclang|B)"
)


def _cached(
    request: Request,
    options: _options.Options,
    found: includes.Found,
    compiler: str,
    words: list[str],
    make: Callable[[Path | None], entries.Entry],
) -> entries.Entry:
    folder = entries.directory(request.cache_dir)
    knows_all = not any(re.match(_READS_FILES, word) for word in options.other)
    kept = folder if found.is_complete and knows_all else None
    variables = (*_FOLDERS.get(request.target, ()), *_VARIABLES.get(request.target, ()))
    name = entries.key(
        request.target,
        compiler,
        headers.fingerprint(),
        request.source,
        request.extern_c,
        request.name,
        request.want,
        "\0".join([*words, *options.macros, "", *options.pre_includes]),
        "\0".join(request.expressions),
        "\0".join(os.environ.get(name, "") for name in variables),
        *(part for path in sorted(found.files) for part in (path, found.files[path])),
    )
    entry = entries.load(kept, name)
    if entry is None:
        entry = make(folder)
        if kept is not None and _found(request, options) == found:  # else one changed meanwhile
            entries.store(kept, name, entry)
    return entry


def _host(request: Request, options: _options.Options, arch: str | None) -> entries.Entry:
    found = _found(request, options)
    in_lockstep = lockstep.is_needed(
        request.source, options.macros, found.files, request.relocatable
    )
    options.processor = processor.flags(request.source) if request.tuned else ()
    words = [*host.flags(options, in_lockstep), *options.other, *options.include_dirs]
    words += ["-c"] if request.relocatable else []
    return _cached(
        request,
        options,
        found,
        host.identity(),
        [*words, str(host.is_strict())],
        lambda folder: host.compile(
            request.source,
            _wrapped(request),
            request.name,
            options,
            found,
            request.expressions,
            folder,
            request.relocatable,
            in_lockstep,
        ),
    )


def _numbered(request: Request, options: _options.Options) -> str:
    return f'{options.in_front()}#line 1 "{request.name}"\n{_wrapped(request)}'


def _with_types(
    request: Request, options: _options.Options, compile: Callable[[Sequence[str]], entries.Entry]
) -> entries.Entry:
    """What the compiler makes, with the kernels' parameters.

    Parameters
    ----------
    compile : callable(names) -> entries.Entry
        Compiles the text, and asks for the types of these kernels.
    """
    kernels = signature.kernels(request.source, options.macros)
    asked = kernel_types.doubtful(kernels) if request.want == "cubin" else []
    try:
        entry = compile(asked)
    except errors.CompileError:
        if not asked:
            raise
        asked = []  # one may not be there, by its conditions
        entry = compile(asked)
    reported = kernel_types.answers(entry.image, asked)
    return entry._replace(parameters=kernel_types.table(kernels, reported, entry.names))


def _nvrtc_words(
    request: Request, options: _options.Options, found: includes.Found, arch: str
) -> list[str]:
    words = [f"--gpu-architecture={arch}", f"-std={options.std or 'c++17'}"]
    words += ["--device-as-default-execution-space"]
    words += [f"--pre-include={headers.folder('rtc')}/prelude.h"]
    words += [f"-I{headers.folder(name)}" for name in ("rtc", "device")]
    words += [f"-I{folder}" for folder in options.include_dirs]
    texts = list(found.texts(request.source))
    ours = headers.on_demand(texts, found.is_complete)
    words += [f"--pre-include={one}" for one in ours]
    words += headers.prelude_switches(texts, found.is_complete)
    words += rtc.toolkit_include_options("nvrtc")
    words += [f"-I{include_root()}"]
    words += ["-I."] if found.uses_working_directory else []
    words += options.for_headers()
    words += ["--use_fast_math"] if options.fast_math else []
    words += ["-G"] if options.debug else []
    words += ["-lineinfo"] if options.line_info else []
    words += ["-w"] if not options.warnings else []
    words += [f"--maxrregcount={options.max_registers}"] if options.max_registers else []
    words += [f"--ptxas-options={word}" for word in options.ptxas]
    if request.relocatable:
        words += ["--relocatable-device-code=true", *(["-dlto"] if options.link_time else [])]
    return [*words, *options.other]


def _at_hand() -> tuple[int, int] | None:
    """The compute capability of the device that is to load the image, if it is NVIDIA's."""
    return capability() if core.target == "cuda" and core.cudaGetDeviceCount()[0] else None


def _loadable(arch: str, device: tuple[int, int] | None) -> str:
    """``sm_80`` as ``compute_80``, which the driver translates, where its images do not load: they
    do on devices of the same major version alone."""
    plain = re.fullmatch(r"sm_(\d+)(\d)", arch)
    return f"compute_{arch[3:]}" if plain and device and device[0] > int(plain[1]) else arch


def _cuda(request: Request, options: _options.Options, arch: str | None) -> entries.Entry:
    asked = arch or device_architecture()
    arch = _loadable(asked, _at_hand()) if request.loads else asked
    found = _found(request, options)
    words = _nvrtc_words(request, options, found, arch)

    def make(folder: Path | None) -> entries.Entry:
        compiler = rtc.library("nvrtc")
        known = compiler.architectures()
        number = int(re.sub(_NVIDIA, r"\1", arch))
        target = arch
        if number not in known:
            # A device that is newer than the compiler gets the newest text that it can translate.
            older = [one for one in known if one <= number]
            if not older or (request.arch or options.arch):
                raise errors.CompileError(
                    f"arch={asked!r}: this NVRTC compiles for "
                    + ", ".join(f"sm_{n}" for n in known),
                    ["nvrtc", *words],
                )
            target = f"compute_{older[-1]}"
        if request.want == "ptx":
            target = target.replace("sm_", "compute_")
        image = "PTX" if target.startswith("compute_") else "CUBIN"
        if request.relocatable and options.link_time:
            image = "LTOIR"
        entry = _with_types(
            request,
            options,
            lambda asked: compiler.compile(
                alignment.in_front(_numbered(request, options)) + kernel_types.questions(asked),
                request.name,
                [f"--gpu-architecture={target}", *words[1:]],
                request.expressions,
                image,
            ),
        )
        return entry._replace(log="\n".join(filter(None, [entry.log, *_misaligned(found)])))

    return _cached(request, options, found, rtc.identity("nvrtc"), words, make)


def _misaligned(found: includes.Found) -> list[str]:
    """What to tell of headers, which NVRTC reads itself."""
    texts = ((path, data.decode("utf-8", "replace")) for path, data in found.files.items())
    return [
        f"{path}: NVRTC passes over __align__ and attributes behind the brace of a structure; "
        "write them before the name: struct __align__(16) name {...}"
        for path, text in texts
        if alignment.in_front(text) != text
    ]


# Functions without an annotation are the device's too, as with NVRTC's option for that.
_BOTH_SIDES = (
    "#pragma clang force_cuda_host_device begin\n",
    "\n#pragma clang force_cuda_host_device end\n",
)


def _hip(request: Request, options: _options.Options, arch: str | None) -> entries.Entry:
    if request.want == "ptx":
        raise NotImplementedError("target='ptx': AMD's compiler makes code objects, no PTX")
    if arch and not rtc.compiles_for(rtc.locate("hiprtc"), arch):
        raise errors.CompileError(f"arch={arch!r}: this HIPRTC does not know it", ["hiprtc"])
    arch = arch or device_architecture()
    found = _found(request, options)
    words = [f"--offload-arch={arch}", f"-std={options.std or 'c++17'}"]
    words += ["-include", f"{headers.folder('rtc_hip')}/prelude_hip.h"]
    words += [f"-I{headers.folder(name)}" for name in ("rtc_hip", "rtc", "device")]
    words += [f"-I{folder}" for folder in options.include_dirs]
    texts = list(found.texts(request.source))
    for header in headers.on_demand(texts, found.is_complete, "rtc_hip"):
        words += ["-include", header]
    words += headers.prelude_switches(texts, found.is_complete)
    words += rtc.toolkit_include_options("hiprtc")
    words += [f"-I{include_root()}"]
    words += ["-idirafter."] if found.uses_working_directory else []
    words += options.for_headers()
    words += ["-ffast-math"] if options.fast_math else []
    words += [f"-O{options.optimize}"] if options.optimize else []
    words += ["-g"] if options.debug or options.line_info else []
    words += ["-w"] if not options.warnings else []
    words += ["-ffp-contract=off"] if options.is_without_fma() else []
    words += options.without_nvidias()
    return _cached(
        request,
        options,
        found,
        rtc.identity("hiprtc"),
        words,
        lambda folder: _with_types(
            request,
            options,
            lambda asked: rtc.library("hiprtc").compile(
                dynamic_shared.alignas_first(_numbered(request, options)).join(_BOTH_SIDES)
                + kernel_types.questions(asked),
                request.name,
                words,
                request.expressions,
                "Code",
            ),
        ),
    )


_BACKENDS = {"cuda": _cuda, "hip": _hip, "host": _host}


def version_text() -> str:
    """The name and version of the compiler that is used."""
    if core.target == "host":
        return f"host {os.path.basename(host.identity())}"
    prefix = "nvrtc" if core.target == "cuda" else "hiprtc"
    major, minor = rtc.library(prefix).version()
    return f"{prefix} {major}.{minor}"
