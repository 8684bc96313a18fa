"""Back end of the target ``hip``: HIPRTC, which makes no images to link."""

from __future__ import annotations

from pathlib import Path

from PyGPU._compile.cache.entries import Entry
from PyGPU._compile.compilers import rtc
from PyGPU._compile.compilers.backend import Backend, Job
from PyGPU._compile.source import dynamic_shared, headers, kernel_types, wrapping
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

    def key(self, job: Job) -> tuple[str, list[str]]:
        if job.request.want == "ptx":
            raise NotImplementedError("target='ptx': AMD's compiler makes code objects, no PTX")
        if job.is_named and not rtc.compiles_for(rtc.locate("hiprtc"), job.arch):
            raise CompileError(f"arch={job.arch!r}: this HIPRTC does not know it", ["hiprtc"])
        return rtc.identity("hiprtc"), _words(job)

    def make(self, job: Job, words: list[str], folder: Path | None) -> Entry:
        return _compiled(job, words)


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


# Functions without an annotation are device functions too, as with NVRTC's option for that.
_BOTH_SIDES = (
    "#pragma clang force_cuda_host_device begin\n",
    "\n#pragma clang force_cuda_host_device end\n",
)


def _as_hiprtc_takes_it(expression: str) -> str:
    """Return an equal name expression that HIPRTC takes, or raise CompileError."""
    name = expression.strip()
    if name.startswith("("):
        raise CompileError(
            f"name_expressions: HIPRTC takes no casts such as {expression!r}: get_function finds "
            "an overloaded kernel by its mangled name (_Z1fPf), name_expressions an instance "
            "of a template (f<float>)",
            ["hiprtc"],
        )
    # HIPRTC compiles a name that begins with "::", but does not find it.
    return name[2:].lstrip() if name.startswith("::") else name


def _compiled(job: Job, words: list[str]) -> Entry:
    """Compile a source text with HIPRTC's options."""
    request, options = job.request, job.options
    text = options.numbered(request.name, wrapping.wrapped(request.source, request.extern_c))
    spelled = {one: _as_hiprtc_takes_it(one) for one in request.expressions}
    entry, parameters = kernel_types.compiled(
        None if request.own else request.source,
        options.macros,
        True,
        lambda asked, names: rtc.compiled(
            lambda changed: rtc.library("hiprtc").compile(
                changed + kernel_types.questions(asked),
                request.name,
                words,
                [*dict.fromkeys(spelled.values())],
                "Code",
                [*dict.fromkeys(name for name in names if name not in spelled.values())],
            ),
            dynamic_shared.alignas_first(text).join(_BOTH_SIDES),
            "attributes are not compatible",  # of an explicit instance of a kernel, inside of them
            lambda both: both[len(_BOTH_SIDES[0]) : -len(_BOTH_SIDES[1])],
        ),
    )
    requested = {one: entry.names[spelling] for one, spelling in spelled.items()}
    return entry._replace(parameters=parameters, names={**entry.names, **requested})
