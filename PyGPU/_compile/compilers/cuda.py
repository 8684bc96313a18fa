"""Back end of the target ``cuda``: NVRTC, and nvJitLink or the driver's linker."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

from PyGPU._compile.cache.entries import Entry
from PyGPU._compile.compilers import device_link, libraries, rtc
from PyGPU._compile.compilers.backend import LIBRARY, Backend, Input, Job, Linker
from PyGPU._compile.source import alignment, constants, headers, kernel_types, wrapping
from PyGPU._compile.source.includes import Found
from PyGPU._runtime import CompileError, include_root


def loadable(arch: str, device: tuple[int, int] | None) -> str:
    """Return the architecture to compile for, so that a device can load the image.

    A device loads images for its own major version only. For an older ``sm_80`` the result is
    ``compute_80``, whose PTX the driver compiles.
    """
    plain = re.fullmatch(r"sm_(\d+)(\d)", arch)
    return f"compute_{arch[3:]}" if plain and device and device[0] > int(plain[1]) else arch


def nvidia_library(libname: str, folder: str | None = None) -> Input:
    """Return a library of device code from the toolkit or its wheels.

    Raises
    ------
    OSError
        If the library is not found.
    """
    if folder:
        folders = [folder]
    else:
        folders = [*libraries.beside(rtc.locate("nvrtc")), *libraries.folders("nvrtc")]
    folders = list(dict.fromkeys(folders))
    paths = [os.path.join(one, f"lib{libname}.a") for one in folders]
    found = iter(()) if folder else libraries.by_pathfinder("nvrtc", "find_static_lib", libname)
    for path in itertools.chain(paths, found):
        if os.path.isfile(path):
            return Input(LIBRARY, Path(path).read_bytes(), path)
    raise OSError(
        f"cannot find lib{libname}.a in {os.pathsep.join(folders)}; install the CUDA toolkit or "
        "'pip install nvidia-cuda-runtime'"
    )


class Cuda(Backend):
    """NVIDIA's run-time compiler and linkers."""

    name = "cuda"
    understands_ptx = True
    portable_image = "ptx"

    def suffix(self, image: bytes) -> str:
        return "cubin" if image.startswith(b"\x7fELF") else "ptx"

    def version(self) -> str:
        major, minor = rtc.library("nvrtc").version()
        return f"nvrtc {major}.{minor}"

    def key(self, job: Job) -> tuple[str, list[str]]:
        return rtc.identity("nvrtc"), _words(job)

    def make(self, job: Job, words: list[str], folder: Path | None) -> Entry:
        return _compiled(job, words)

    def device_library(self, libname: str, folder: str | None) -> Input:
        return nvidia_library(libname, folder)

    def linker(self, arch: str) -> Linker:
        compiler = rtc.library("nvrtc")
        is_known = int(re.sub(r"\D", "", arch)) in compiler.architectures()
        return device_link.linker(compiler.path, compiler.version()[0], arch, is_known)


def _words(job: Job) -> list[str]:
    """Return NVRTC's options."""
    request, options, found = job.request, job.options, job.found
    words = [
        f"--gpu-architecture={loadable(job.arch, job.device)}",
        f"-std={options.std or 'c++17'}",
    ]
    words += ["--device-as-default-execution-space"]
    words += [f"--pre-include={headers.folder('rtc')}/prelude.h"]
    words += [f"-I{headers.folder(name)}" for name in ("rtc", "device")]
    words += [f"-I{folder}" for folder in options.include_dirs]
    texts = list(found.texts(request.source))
    ours = headers.on_demand(texts, found.is_complete, "rtc")
    words += [f"--pre-include={one}" for one in ours]
    words += headers.prelude_switches(texts, found.is_complete)
    words += ["--device-int128"] if any(b"__int128" in text for text in texts) else []
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


def misaligned(found: Found) -> list[str]:
    """Return warnings about the user's headers, which NVRTC reads itself."""
    texts = ((path, data.decode("utf-8", "replace")) for path, data in found.files.items())
    return [
        f"{path}: NVRTC passes over __align__ and attributes behind the brace of a structure; "
        "write them before the name: struct __align__(16) name {...}"
        for path, text in texts
        if alignment.in_front(text) != text
    ]


def _compiled(job: Job, words: list[str]) -> Entry:
    """Compile a source text with NVRTC's options."""
    request, options = job.request, job.options
    arch = loadable(job.arch, job.device)
    compiler = rtc.library("nvrtc")
    known = compiler.architectures()
    number = int(re.sub(r"\D", "", arch))
    target = arch
    if number not in known:
        # A device that is newer than the compiler gets the newest PTX that its driver can compile.
        older = [one for one in known if one <= number]
        if not older or job.is_named:
            raise CompileError(
                f"arch={job.arch!r}: this NVRTC compiles for "
                + ", ".join(f"sm_{n}" for n in known),
                ["nvrtc", *words],
            )
        target = f"compute_{older[-1]}"
    if request.want == "ptx":
        target = target.replace("sm_", "compute_")
    image = "PTX" if target.startswith("compute_") else "CUBIN"
    if request.relocatable and options.link_time:
        image = "LTOIR"
    text = options.numbered(request.name, wrapping.wrapped(request.source, request.extern_c))
    entry, parameters = kernel_types.compiled(
        None if request.own else request.source,
        options.macros,
        request.want == "cubin",
        lambda asked, names: rtc.compiled(
            lambda changed: compiler.compile(
                changed + kernel_types.questions(asked),
                request.name,
                [f"--gpu-architecture={target}", *words[1:]],
                [*dict.fromkeys([*request.expressions, *names])],
                image,
            ),
            alignment.in_front(text),
            constants.REFUSED,
            constants.as_constexpr,
        ),
    )
    log = "\n".join(filter(None, [entry.log, *misaligned(job.found)]))
    return entry._replace(parameters=parameters, log=log)
