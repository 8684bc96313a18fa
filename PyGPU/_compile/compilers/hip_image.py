"""Images of the target ``hip``, by HIPRTC."""

from __future__ import annotations

from PyGPU._compile.cache.entry import Entry
from PyGPU._compile.compilers import rtc
from PyGPU._compile.compilers.backend import Job
from PyGPU._compile.source import dynamic_shared, kernel_types, variables, wrapping
from PyGPU._runtime import CompileError

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


def compile(job: Job, words: list[str]) -> Entry:
    """Compile a source text with HIPRTC's options."""
    request, options = job.request, job.options
    text = options.numbered(request.name, wrapping.wrapped(request.source, request.extern_c))
    spelled = {one: _as_hiprtc_takes_it(one) for one in request.expressions}
    entry, parameters = kernel_types.compiled(
        request.source,
        options.macros,
        True,
        variables.expressions(request.source),
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
