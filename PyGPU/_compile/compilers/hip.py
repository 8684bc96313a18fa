"""Back end of the target ``hip``: HIPRTC, which makes no images to link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PyGPU._compile.cache.entry import Entry
from PyGPU._compile.compilers import rtc
from PyGPU._compile.compilers.backend import Backend, Cached, Job
from PyGPU._compile.compilers.link_input import Input
from PyGPU._compile.source import headers
from PyGPU._runtime import CompileError, include_root


class Hip(Backend):
    """AMD's run-time compiler."""

    name = "hip"
    architectures = r"(?:sm|compute)_\d{2,3}[af]?|gfx[0-9a-f]+(?::\S+)?"
    example = "gfx90a"
    has_compute_capability = False
    include_variables = ("CPATH", "CPLUS_INCLUDE_PATH")
    variables = ("HIPRTC_COMPILE_OPTIONS_APPEND", "HIPRTC_LINK_OPTIONS_APPEND")
    why_not_linked = (
        "HIPRTC's code is not linked (before ROCm 5.3 none could be), and HIP has no launches from "
        "device code: put the texts into one SourceModule, and launch from Python"
    )

    def suffix(self, image: bytes) -> str:
        return "hsaco"

    def version(self) -> str:
        major, minor = rtc.library("hiprtc").version()
        return f"hiprtc {major}.{minor}"

    def compile(self, job: Job, cached: Cached) -> Entry:
        if job.request.want == "ptx":
            raise NotImplementedError("target='ptx': AMD's compiler makes code objects, no PTX")
        if job.is_named and not rtc.compiles_for(rtc.locate("hiprtc"), job.arch):
            raise CompileError(f"arch={job.arch!r}: this HIPRTC does not know it", ["hiprtc"])
        words = _words(job)
        return cached(rtc.identity("hiprtc"), words, lambda _: self.images().compile(job, words))

    def device_library(self, libname: str, folder: str | None) -> None:
        if libname != "cudadevrt":
            raise OSError(f"cannot find lib{libname}.a: {self.why_not_linked}")

    def link(
        self,
        inputs: Sequence[Input],
        arch: str,
        options: Mapping[int, int],
        verbose: bool,
        cached: Cached,
    ) -> Entry:
        raise NotImplementedError(self.why_not_linked)


def _words(job: Job) -> list[str]:
    """Return HIPRTC's options."""
    options, found = job.options, job.found
    words = [f"--offload-arch={job.arch}", f"-std={options.std or 'c++17'}"]
    words += ["-include", f"{headers.folder('rtc_hip')}/prelude_hip.h"]
    words += [f"-I{headers.folder(name)}" for name in ("rtc_hip", "rtc", "device")]
    words += [f"-I{folder}" for folder in options.include_dirs]
    texts = list(found.texts(job.request.source))
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
    return words + options.without_nvidias()
