"""Back end of the target ``host``: the system's C++ compiler makes shared libraries of texts."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyGPU._compile.cache import dependencies, entries, files
from PyGPU._compile.cache.entries import Entry
from PyGPU._compile.compilers import host_compiler, host_lockstep, host_prelude, processor
from PyGPU._compile.compilers.backend import Backend, Input, Job, Linker, Request
from PyGPU._compile.compilers.options import Options
from PyGPU._compile.source import headers, lockstep
from PyGPU._compile.source.includes import Found
from PyGPU._runtime import CompileError, include_root

if TYPE_CHECKING:
    from PyGPU._compile.compilers.host_text import Text


# PyGPU's own kernels are written in one form.
_OWN_KERNEL = re.compile(r"__global__ void(?: __launch_bounds__\([^)]*\))?\s+(\w+)\(")
# Names by which the threads of a block may wait for each other. Token pasting (##) may form one.
_WAITS = (
    rb"##|__sync|__shfl|__ballot|__any|__all|__match|__reduce|__activemask|__nanosleep|"
    rb"cooperative_groups|this_thread_block|\basm\b"
)


def may_wait(source: str, found: Found) -> bool:
    """Return True if threads of the kernels in a source text may wait for each other."""
    texts = found.texts(source)
    texts += [one for text in texts for one in headers.built_in(text)]
    return not found.is_complete or any(re.search(_WAITS, text) for text in texts)


def _in_lockstep(job: Job) -> bool:
    """Return True if the lanes of a warp execute each step together."""
    request = job.request
    return not request.own and lockstep.is_needed(
        request.source, job.options.macros, job.found.files, request.relocatable
    )


def table_of_names(rows: Mapping[str, str], may_wait: bool, label: str = "") -> str:
    """Return the C++ text of an image's table of names, of their addresses."""
    table = f"PyGPU_kernels_{label}_{len(rows)}" if label else "PyGPU_host_names"
    waits = "true" if may_wait else "false"
    words = [f'PYGPU_HOST_KERNEL("{one}", {waits}, {rows[one]}),' for one in rows]
    return f'#line 1 "{host_compiler.TABLE}"\nPYGPU_HOST_KERNELS({table}, {" ".join(words)})\n'


class _OwnText:
    """PyGPU's own text, with the interface of :class:`host_text.Text`."""

    headers: tuple[str, ...] = ()
    after = ""

    def __init__(self, request: Request, options: Options) -> None:
        self.body = options.numbered(request.name, f"{request.source}\n")
        names = _OWN_KERNEL.findall(request.source)
        self.tables = [({one: f"&{one}" for one in names}, "")]

    def table_after(self, number: int, log: str) -> int:
        return 0

    def described(self, image: bytes, number: int) -> Entry:
        return Entry(image, "", {})


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
    if request.own:
        text: _OwnText | Text = _OwnText(request, options)
    else:
        from PyGPU._compile.compilers.host_text import Text

        text = Text(job, base)
    label = entries.key(text.body, *base, *options.macros)[:16] if relocatable else ""
    # A relocatable object may call functions of other objects, which may wait.
    waits = relocatable or in_lockstep or may_wait(request.source, found)
    after = text.after + (host_lockstep.TEXT if in_lockstep and not relocatable else "")
    prelude = host_prelude.options(folder, base)
    with files.scratch() as scratch:
        unit, image, listed = (Path(scratch, "kernel" + end) for end in (".cpp", ".so", ".d"))
        ours = host_compiler.include_options(options, found)
        needed = [word for one in text.headers for word in ("-include", one)]
        rest = [*options.for_headers(), *needed, *ours]
        rest += options.without_nvidias()
        rest += [str(unit), "-o", str(image), "-MD", "-MF", str(listed)]
        rest += (
            ["-c"]
            if relocatable
            else [*host_compiler.linking(in_lockstep), *host_compiler.few_libraries(in_lockstep)]
        )
        number = 0
        while True:
            rows, questions = text.tables[number]
            table = table_of_names(rows, waits, label)
            files.write_text(unit, text.body + table + questions + after)
            try:
                done = host_compiler.run([host_compiler.compiler(), *base, *prelude, *rest], name)
                break
            except CompileError as error:
                if following := text.table_after(number, str(error.stderr)):
                    number = following
                elif host_prelude.drop_if_damaged(prelude):
                    prelude = [*host_prelude.PLAIN]
                else:
                    raise
        if not image.exists():
            raise CompileError(
                f"{host_compiler.compiler()} made no image of {name}", [*base], done.stdout
            )
        # clang++ lists the precompiled header among the dependencies.
        unlisted = [scratch, *(os.path.dirname(word) for word in prelude if os.path.isabs(word))]
        left = dependencies.system_files([listed], unlisted, found.files, since)
        log = done.stderr + (
            host_lockstep.UNCHECKED if in_lockstep and host_compiler.is_strict() else ""
        )
        entry = text.described(image.read_bytes(), number)
        return entry._replace(log=log.strip(), system_files=left)


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
