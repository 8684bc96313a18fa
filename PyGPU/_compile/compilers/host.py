"""Back end of the target ``host``: the system's C++ compiler makes shared libraries of texts."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from PyGPU._compile.cache import dependencies, entries, files
from PyGPU._compile.cache.entries import Entry
from PyGPU._compile.compilers import host_compiler, host_lockstep, host_prelude, processor
from PyGPU._compile.compilers.backend import Backend, Input, Job, Linker
from PyGPU._compile.compilers.options import Options
from PyGPU._compile.source import (
    child_launches,
    dynamic_shared,
    headers,
    kernel_types,
    library_names,
    lockstep,
    name_expressions,
    signature,
    variables,
    wrapping,
)
from PyGPU._compile.source.includes import Found
from PyGPU._runtime import CompileError, include_root


def _include_options(options: Options, found: Found, for_ours: str = "-I") -> list[str]:
    ours = [headers.folder("device"), headers.folder("host/cuda"), str(include_root())]
    words = [word for folder in options.include_dirs for word in ("-I", folder)]
    words += [word for folder in ours for word in (for_ours, folder)]
    return [*words, *(["-idirafter", "."] if found.uses_working_directory else [])]


# Names by which the threads of a block may wait for each other. Token pasting (##) may form one.
_WAITS = (
    rb"##|__sync|__shfl|__ballot|__any|__all|__match|__reduce|__activemask|__nanosleep|"
    rb"cooperative_groups|this_thread_block|\basm\b"
)

_DIRECTIVE = r"(?m)^[ \t]*(?:#|%:|\?\?=)[ \t]*(?!include[ \t]*<|pragma\b|line\b)"
# Options of macros that cannot define a kernel. signature.kernels() marks a kernel as unsure if its
# name or its types contain a macro.
_VALUE = r"(?s)-U.*|-D\w+(?:\([^)]*\))?(?:=(?!.*(?:__global__|template|namespace))[^{}\"]*)?"
# PyGPU's own kernels are written in one form.
_OWN_KERNEL = re.compile(r"__global__ void(?: __launch_bounds__\([^)]*\))?\s+(\w+)\(")
_LINE_MARK = r'(?m)^# \d+ ".*"((?: \d)*)$'


def _without_headers(preprocessed: str) -> str:
    """Remove the text of system headers and PyGPU's headers, which the flag 3 marks.

    Parts that contain ``__global__`` are kept.
    """
    parts = re.split(_LINE_MARK, preprocessed)
    return "".join(
        text
        for flags, text in zip(parts[1::2], parts[2::2])
        if " 3" not in flags or "__global__" in text
    )


def _expressions(text: str) -> list[str]:
    return [*variables.expressions(text), *name_expressions.instances(text)]


def _declared(
    source: str, name: str, base: list[str], options: Options, found: Found
) -> tuple[list[signature.Kernel], list[str]]:
    """Return the kernels that a source text declares, and name expressions.

    The expressions are of variables, and of explicit instances of kernels.

    The text is preprocessed first if macros or included files may change its declarations.
    """
    plain = found.is_complete and not (options.pre_includes or found.files)
    plain = plain and not re.search(_DIRECTIVE, source)
    if plain and all(re.fullmatch(_VALUE, word) for word in options.macros):
        kernels = signature.kernels(source, options.macros)
        if not options.macros or all(kernel.is_sure for kernel in kernels):
            return kernels, _expressions(source)
    words = [
        host_compiler.compiler(),
        *(word for word in base if word != "-shared"),
        "-E",
        "-w",
        "-x",
        "c++",
    ]
    # Without PyGPU's header, which defines __global__ as an empty macro.
    words += ["-D__CUDACC__=1", "-D__CUDA_ARCH__=900", "-DPYGPU_READS_KERNELS"]
    words += [*options.for_headers(), *_include_options(options, found, "-isystem")]
    with files.scratch() as scratch:
        unit = Path(scratch, "kernel.cu")
        files.write_text(unit, options.numbered(name, source))
        try:
            text = _without_headers(host_compiler.run([*words, str(unit)], name).stdout)
        except CompileError:  # the compilation reports it, with the user's lines
            text = source
    return signature.kernels(text), _expressions(text)


def may_wait(source: str, found: Found) -> bool:
    """Return True if threads of the kernels in a source text may wait for each other."""
    texts = found.texts(source)
    texts += [one for text in texts for one in headers.built_in(text)]
    return not found.is_complete or any(re.search(_WAITS, text) for text in texts)


def _types(kernels: Sequence[signature.Kernel]) -> dict[str, list[str]]:
    """Return {name of a kernel: its parameters' types}, with an item for each overload."""
    found: dict[str, list[str]] = {}
    for kernel in kernels:
        types = found.setdefault(kernel.full_name, []) if not kernel.is_template else [kernel.types]
        if kernel.types not in types:
            types.append(kernel.types)
    return found


_TABLE = "(table of names)"


def table_of_names(
    kernels: Sequence[signature.Kernel],
    expressions: Sequence[str],
    may_wait: bool,
    label: str = "",
    by_type: bool = False,
) -> str:
    """Return the C++ text of an image's table of names: of kernels and of name expressions.

    If `by_type` is True, the parameters' types distinguish a kernel from other functions of its
    name. An overloaded kernel is found by its mangled names only, as in the vendors' images.
    """
    addresses: dict[str, str] = {}
    for name, types in _types(kernels).items():
        casts = [f"(void (*)({one}))&{name}" for one in types]
        if len(types) > 1:
            addresses.update(zip(casts, casts))
        else:
            addresses[name] = casts[0] if by_type else f"&{name}"
    addresses.update({name_expressions.plain(one): one for one in expressions})
    table = f"PyGPU_kernels_{label}_{len(addresses)}" if label else "PyGPU_host_names"
    waits = "true" if may_wait else "false"
    rows = [f'PYGPU_HOST_KERNEL("{one}", {waits}, {addresses[one]}),' for one in addresses]
    return f'#line 1 "{_TABLE}"\nPYGPU_HOST_KERNELS({table}, {" ".join(rows)})\n'


def _in_lockstep(job: Job) -> bool:
    """Return True if the lanes of a warp execute each step together."""
    request = job.request
    return not request.own and lockstep.is_needed(
        request.source, job.options.macros, job.found.files, request.relocatable
    )


class _Text(NamedTuple):
    """A text as the compiler gets it, and what its table of names may have."""

    body: str
    kernels: list[signature.Kernel]
    expressions: list[str]  # of variables, and of explicit instances of kernels
    headers: list[str]  # that the text needs
    after: str  # directives after the table


def _own_text(job: Job) -> _Text:
    source = job.request.source
    kernels = [signature.Kernel(one, (), False, "", True) for one in _OWN_KERNEL.findall(source)]
    return _Text(job.options.numbered(job.request.name, f"{source}\n"), kernels, [], [], "")


def _users_text(job: Job, base: list[str]) -> _Text:
    request, options, found = job.request, job.options, job.found
    texts = found.texts(request.source)
    kernels, expressions = _declared(request.source, request.name, base, options, found)
    renamed = library_names.declared(texts)
    # glibc declares the other integers in the same way.
    integers = headers.own_integers(texts)
    renamed += [one for one, its in integers.items() if re.search("long long|^char", its)]
    body = f"{dynamic_shared.in_cpp(wrapping.wrapped(request.source, request.extern_c))}\n"
    body = library_names.renaming(renamed) + options.numbered(request.name, body)
    body = child_launches.rewritten(body) if request.relocatable else body
    needed = headers.on_demand(texts, found.is_complete, "device")
    return _Text(body, kernels, expressions, needed, library_names.without_renaming(renamed))


class _Attempt(NamedTuple):
    """A table of names, and the questions that go with it."""

    kernels: Sequence[signature.Kernel]
    expressions: Sequence[str]
    asked: Sequence[str]  # kernels and expressions whose types the compiler reports
    by_type: bool


def _attempts(text: _Text, requested: list[str]) -> list[_Attempt]:
    """Return the tables of names to try in turn.

    If a function has the name of a kernel, the compiler cannot report the kernel's types: the
    second table states them. The last two tables lack overloads and variables, which the reader of
    source texts may have misread.
    """
    kernels = text.kernels
    overloaded = {one for one, types in _types(kernels).items() if len(types) > 1}
    doubtful = [one for one in kernel_types.doubtful(kernels) if one not in overloaded]
    expressions = [*dict.fromkeys([*requested, *text.expressions])]
    tables = [(kernels, expressions)]
    if overloaded or expressions != requested:
        tables.append(([one for one in kernels if one.full_name not in overloaded], requested))
    return [
        _Attempt(*table, asked, by_type)
        for table in tables
        for asked, by_type in (([*doubtful, *requested], False), (requested, True))
    ]


def _compiled(job: Job, folder: Path | None) -> Entry:
    """Compile a source text to a shared library, or to an object if it is relocatable.

    The header is precompiled in `folder`, unless that is None.
    """
    request, options, found = job.request, job.options, job.found
    name, relocatable, in_lockstep = request.name, request.relocatable, _in_lockstep(job)
    since = time.time()
    base = host_compiler.flags(options, in_lockstep)
    if relocatable:
        base.remove("-shared")
        # The object may be linked to kernels whose warps run in lockstep: they need frame pointers.
        base.append("-fno-omit-frame-pointer")
    text = _own_text(job) if request.own else _users_text(job, base)
    attempts = _attempts(text, [*request.expressions])
    label = entries.key(text.body, *base, *options.macros)[:16] if relocatable else ""
    # A relocatable object may call functions of other objects, which may wait.
    waits = relocatable or in_lockstep or may_wait(request.source, found)
    after = text.after + (host_lockstep.TEXT if in_lockstep and not relocatable else "")
    prelude = host_prelude.options(folder, base)
    with files.scratch() as scratch:
        unit, image, listed = (Path(scratch, "kernel" + end) for end in (".cpp", ".so", ".d"))
        needed = [word for one in text.headers for word in ("-include", one)]
        rest = [*options.for_headers(), *needed, *_include_options(options, found)]
        rest += options.without_nvidias()
        rest += [str(unit), "-o", str(image), "-MD", "-MF", str(listed)]
        rest += (
            ["-c"]
            if relocatable
            else [*host_compiler.linking(in_lockstep), *host_compiler.few_libraries(in_lockstep)]
        )
        while True:
            attempt = attempts[0]
            table = table_of_names(
                attempt.kernels, attempt.expressions, waits, label, attempt.by_type
            )
            questions = kernel_types.questions(attempt.asked)
            files.write_text(unit, text.body + table + questions + after)
            try:
                done = host_compiler.run([host_compiler.compiler(), *base, *prelude, *rest], name)
                break
            except CompileError as error:
                log = str(error.stderr)
                step = 1 if re.search("overloaded|matching function", log) else 2
                is_ours = _TABLE in log or kernel_types.QUESTIONS in log
                if is_ours and step < len(attempts):
                    del attempts[:step]
                elif host_prelude.drop_if_damaged(prelude):
                    prelude = [*host_prelude.PLAIN]
                else:
                    raise
        if not image.exists():
            raise CompileError(
                f"{host_compiler.compiler()} made no image of {name}", [*base], done.stdout
            )
        data = image.read_bytes()
        named = {one: name_expressions.plain(one) for one in attempt.expressions}
        answers = kernel_types.answers(data, attempt.asked)
        reported = {} if request.own else kernel_types.table(text.kernels, answers, named)
        # clang++ lists the precompiled header among the dependencies.
        unlisted = [scratch, *(os.path.dirname(word) for word in prelude if os.path.isabs(word))]
        left = dependencies.system_files([listed], unlisted, found.files, since)
        log = done.stderr + (
            host_lockstep.UNCHECKED if in_lockstep and host_compiler.is_strict() else ""
        )
        return Entry(data, log.strip(), named, reported, left)


_OBJECT, _ARCHIVE = b"\x7fELF", b"!<arch>\n"
# Symbol of the table of an object's kernels; host.py makes the name.
_KERNELS_OF_OBJECT = rb"\0PyGPU_kernels_[0-9a-f]+_\d+(?=\0)"


def _ending(data: bytes) -> str | None:
    """Return the suffix for the file of an object or an archive; None if the data is neither."""
    return ".o" if data.startswith(_OBJECT) else ".a" if data.startswith(_ARCHIVE) else None


def _table_of(objects: Sequence[bytes]) -> str:
    """Return the text of the table that the machine looks for, with the rows of all objects."""
    found = [match for data in objects for match in re.finditer(_KERNELS_OF_OBJECT, data)]
    names = [match.group()[1:].decode() for match in found]
    rows = [f"{name}[{row}]" for name in names for row in range(int(name.rpartition("_")[2]))]
    declared = [f'extern "C" const PyGPUHostKernel {name}[];' for name in names]
    return "\n".join(
        [
            "#include <PyGPU/host/kernel_row.h>",
            *declared,
            "const PyGPUHostKernel PyGPU_host_names[] = {",
            *(f"{row}," for row in rows),
            "{nullptr, nullptr, nullptr, 0, nullptr, 0}};\n",
        ]
    )


def _named(log: str, files: dict[str, str]) -> str:
    """Return a log with the names of the inputs instead of our temporary files."""
    for file, name in files.items():
        log = log.replace(file, name)
    return log


class HostLinker:
    """The system's linker, which links relocatable objects and archives."""

    def identity(self) -> str:
        return " ".join([host_compiler.identity(), *host_compiler.linking()])

    def link(
        self, inputs: Sequence[Input], arch: str, options: Mapping[int, int], verbose: bool
    ) -> tuple[bytes, str]:
        with files.scratch() as scratch:
            table, image = Path(scratch, "table.cpp"), Path(scratch, "linked.so")
            in_lockstep = any(host_lockstep.CALLS in one.data for one in inputs)
            text = _table_of([one.data for one in inputs])
            files.write_text(table, text + (host_lockstep.TEXT if in_lockstep else ""))
            given: dict[str, str] = {}
            for number, (_, data, name) in enumerate(inputs):
                ending = _ending(data)
                if ending is None:
                    raise CompileError(
                        f"{name}: expected an object that compile(..., options=['-rdc=true']) made "
                        "for the host target, or an archive",
                        [name],
                    )
                files.write(Path(scratch, f"{number}{ending}"), data)
                given[f"{scratch}/{number}{ending}"] = name
            # Archives come last: they define names that the objects use.
            ordered = [str(table), *sorted(given, key=lambda file: file.endswith(".a"))]
            words = ["-shared", "-fPIC", "-std=c++17", "-I", str(include_root()), *ordered]
            words += host_compiler.lockstep_flags() if in_lockstep else []
            words += ["-o", str(image), *host_compiler.linking(in_lockstep), "-Wl,--no-undefined"]
            try:
                log = host_compiler.run(
                    [host_compiler.compiler(), *words], "the linked image"
                ).stderr
            except CompileError as error:
                log = _named(error.stderr or "", given)
                raise CompileError("linking failed", error.command_line, stderr=log) from None
            return image.read_bytes(), _named(log, given).strip()


class Host(Backend):
    """Back end that runs the system's C++ compiler."""

    name = "host"
    needs_architecture = False
    has_toolkit = False
    include_variables = ("CPATH", "CPLUS_INCLUDE_PATH")
    variables = ("GCC_EXEC_PREFIX", "COMPILER_PATH")

    def suffix(self, image: bytes) -> str:
        return "so"

    def version(self) -> str:
        state = host_compiler.identity().partition(" ")[2]
        return f"host {os.path.basename(state)}"

    def key(self, job: Job) -> tuple[str, list[str]]:
        request, options = job.request, job.options
        options.processor = processor.flags(request.source) if request.tuned else ()
        words = host_compiler.flags(options, _in_lockstep(job))
        words += [*options.other, *options.include_dirs, *(["-c"] if request.relocatable else [])]
        return host_compiler.identity(), [*words, str(host_compiler.is_strict())]

    def make(self, job: Job, words: list[str], folder: Path | None) -> Entry:
        return _compiled(job, folder)

    def linker(self, arch: str) -> Linker:
        return HostLinker()
