"""Images of the target ``cuda``: by NVRTC, and linked by nvJitLink or by the driver's linker."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from PyGPU._compile.cache.entry import Entry
from PyGPU._compile.compilers import device_link, rtc
from PyGPU._compile.compilers.backend import Cached, Job
from PyGPU._compile.compilers.link_input import Input
from PyGPU._compile.source import alignment, constants, kernel_types, variables, wrapping
from PyGPU._compile.source.found import Found
from PyGPU._runtime import core, errors


def misaligned(found: Found) -> list[str]:
    """Return warnings about the user's headers, which NVRTC reads itself."""
    texts = ((path, data.decode("utf-8", "replace")) for path, data in found.files.items())
    return [
        f"{path}: NVRTC passes over __align__ and attributes behind the brace of a structure; "
        "write them before the name: struct __align__(16) name {...}"
        for path, text in texts
        if alignment.in_front(text) != text
    ]


def compile(job: Job, arch: str, words: list[str]) -> Entry:
    """Compile a source text for an architecture, with NVRTC's options."""
    request, options = job.request, job.options
    compiler = rtc.library("nvrtc")
    known = compiler.architectures()
    number = int(re.sub(r"\D", "", arch))
    target = arch
    if number not in known:
        # A device that is newer than the compiler gets the newest PTX that its driver can compile.
        older = [one for one in known if one <= number]
        if not older or job.is_named:
            raise errors.CompileError(
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
        request.source,
        options.macros,
        request.want == "cubin",
        variables.expressions(request.source),
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


def link(
    inputs: Sequence[Input],
    arch: str,
    options: Mapping[int, int],
    verbose: bool,
    cached: Cached,
) -> Entry:
    """Link images; see :meth:`Backend.link`."""
    compiler = rtc.library("nvrtc")
    is_known = int(re.sub(r"\D", "", arch)) in compiler.architectures()
    linker = device_link.linker(compiler.path, compiler.version()[0], arch, is_known)
    words = [arch, str(verbose), *(f"{key}={value}" for key, value in options.items())]

    def make(_: Path | None) -> Entry:
        if isinstance(linker, device_link.DriverLinker):  # works in the current context
            errors.check(core._context_handle(), "cuCtxGetCurrent")
        return Entry(*linker.link(inputs, arch, options, verbose), {})

    return cached(linker.identity(), words, make)
