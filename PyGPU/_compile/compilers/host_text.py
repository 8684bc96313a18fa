"""Kernel texts of programs as the host's compiler gets them, and tables of the names in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from PyGPU._compile.cache import files
from PyGPU._compile.cache.entries import Entry
from PyGPU._compile.compilers import host_compiler
from PyGPU._compile.compilers.backend import Job
from PyGPU._compile.compilers.options import Options
from PyGPU._compile.source import (
    child_launches,
    dynamic_shared,
    headers,
    kernel_types,
    library_names,
    name_expressions,
    signature,
    variables,
    wrapping,
)
from PyGPU._compile.source.includes import Found
from PyGPU._runtime import CompileError

_DIRECTIVE = r"(?m)^[ \t]*(?:#|%:|\?\?=)[ \t]*(?!include[ \t]*<|pragma\b|line\b)"
# Options of macros that cannot define a kernel. signature.kernels() marks a kernel as unsure if its
# name or its types contain a macro.
_VALUE = r"(?s)-U.*|-D\w+(?:\([^)]*\))?(?:=(?!.*(?:__global__|template|namespace))[^{}\"]*)?"
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


def declared(
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
    words += [
        *options.for_headers(),
        *host_compiler.include_options(options, found, "-isystem"),
    ]
    with files.scratch() as scratch:
        unit = Path(scratch, "kernel.cu")
        files.write_text(unit, options.numbered(name, source))
        try:
            text = _without_headers(host_compiler.run([*words, str(unit)], name).stdout)
        except CompileError:  # the compilation reports it, with the user's lines
            text = source
    return signature.kernels(text), _expressions(text)


def _types(kernels: Sequence[signature.Kernel]) -> dict[str, list[str]]:
    """Return {name of a kernel: its parameters' types}, with an item for each overload."""
    found: dict[str, list[str]] = {}
    for kernel in kernels:
        types = found.setdefault(kernel.full_name, []) if not kernel.is_template else [kernel.types]
        if kernel.types not in types:
            types.append(kernel.types)
    return found


def addresses(
    kernels: Sequence[signature.Kernel], expressions: Iterable[str], by_type: bool = False
) -> dict[str, str]:
    """Return the rows of a table of names: of kernels and of name expressions.

    If `by_type` is True, the parameters' types distinguish a kernel from other functions of its
    name. An overloaded kernel is found by its mangled names only, as in the vendors' images.
    """
    found: dict[str, str] = {}
    for name, types in _types(kernels).items():
        casts = [f"(void (*)({one}))&{name}" for one in types]
        if len(types) > 1:
            found.update(zip(casts, casts))
        else:
            found[name] = casts[0] if by_type else f"&{name}"
    found.update({name_expressions.plain(one): one for one in expressions})
    return found


class Text:
    """A text as the compiler gets it, and what its table of names may have."""

    def __init__(self, job: Job, base: list[str]) -> None:
        request, options, found = job.request, job.options, job.found
        texts = found.texts(request.source)
        self._kernels, self._expressions = declared(
            request.source, request.name, base, options, found
        )
        renamed = library_names.declared(texts)
        # glibc declares the other integers in the same way.
        integers = headers.own_integers(texts)
        renamed += [one for one, its in integers.items() if re.search("long long|^char", its)]
        body = f"{dynamic_shared.in_cpp(wrapping.wrapped(request.source, request.extern_c))}\n"
        body = library_names.renaming(renamed) + options.numbered(request.name, body)
        self.body = child_launches.rewritten(body) if request.relocatable else body
        self.headers = headers.on_demand(texts, found.is_complete, "device")
        self.after = library_names.without_renaming(renamed)
        self._choose([*request.expressions])

    def _choose(self, requested: list[str]) -> None:
        """Choose the tables of names to try in turn, and the questions that go with each.

        If a function has the name of a kernel, the compiler cannot report the kernel's types: the
        second table states them. The last two tables lack overloads and variables, which the reader
        of source texts may have misread.
        """
        kernels = self._kernels
        overloaded = {one for one, types in _types(kernels).items() if len(types) > 1}
        doubtful = [one for one in kernel_types.doubtful(kernels) if one not in overloaded]
        expressions = [*dict.fromkeys([*requested, *self._expressions])]
        chosen = [(kernels, expressions)]
        if overloaded or expressions != requested:
            chosen.append(([one for one in kernels if one.full_name not in overloaded], requested))
        self._asked = [  # expressions of the table, and names whose types the compiler reports
            (names, asked) for _, names in chosen for asked in ([*doubtful, *requested], requested)
        ]
        rows = [addresses(*one, by_type) for one in chosen for by_type in (False, True)]
        questions = [kernel_types.questions(asked) for _, asked in self._asked]
        self.tables = [*zip(rows, questions)]

    def table_after(self, number: int, log: str) -> int:
        """Return the number of the table to try after a compiler's messages; 0 for none."""
        number += 1 if re.search("overloaded|matching function", log) else 2
        is_ours = kernel_types.QUESTIONS in log or host_compiler.TABLE in log
        return number if is_ours and number < len(self.tables) else 0

    def described(self, image: bytes, number: int) -> Entry:
        """Return the image of a table, with the names and the parameters that it shows."""
        expressions, asked = self._asked[number]
        names = {one: name_expressions.plain(one) for one in expressions}
        answers = kernel_types.answers(image, asked)
        return Entry(image, "", names, kernel_types.table(self._kernels, answers, names))
