"""Kernels of the ``host`` target: the system's C++ compiler makes a shared library of the text."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from PyGPU._compile.cache import entries, files
from PyGPU._compile.compilers import host_link, host_lockstep, host_prelude, libraries
from PyGPU._compile.compilers.options import Options
from PyGPU._compile.source import (
    child_launches,
    dynamic_shared,
    headers,
    includes,
    kernel_types,
    signature,
)
from PyGPU._runtime import PACKAGE, errors, include_root

if TYPE_CHECKING:
    import subprocess

#: Kernels watched access by access (PYGPU_HOST_STRICT=1): calls into the machine for each.
STRICT_FLAGS = (
    "-fsanitize=kernel-address",
    "--param=asan-instrumentation-with-call-threshold=0",
    "--param=asan-stack=0",
    "--param=asan-globals=0",
    "-fno-sanitize-address-use-after-scope",
)
_STRICT_FLAGS_OF_CLANG = (
    "-fsanitize=kernel-address",
    *("-mllvm", "-asan-instrumentation-with-call-threshold=0"),
    *("-mllvm", "-asan-stack=0", "-mllvm", "-asan-globals=0"),
    "-fno-sanitize-address-use-after-scope",
)
#: Functions by which a kernel allocates, copies and fills; new and delete by their symbols.
_WATCHED = (
    *("malloc", "calloc", "free", "memcpy", "memmove", "memset"),
    *("_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"),
)
STRICT_LINK = tuple(f"-Wl,--wrap={name}" for name in _WATCHED)
# Unique symbols would keep a library from being unloaded; a stack that grows past its guard page
# must touch it. Functions are declared to have vector forms: include/PyGPU/host/loop_math.h.
_BASE_FLAGS = (
    *("-fPIC", "-shared", "-pipe", "-fno-strict-aliasing", "-fno-semantic-interposition"),
    *("-fno-math-errno", "-fno-trapping-math", "-fstack-clash-protection", "-fopenmp-simd"),
    *("-Wno-unknown-pragmas", "-Wno-attributes", "-Wno-psabi"),
)
# Macros of a text that count in our header too, which is precompiled.
_FOR_OUR_HEADER = {
    "-DNDEBUG",
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
    "-D__CUDA_NO_BFLOAT16_OPERATORS__",
    "-D__CUDA_NO_BFLOAT162_OPERATORS__",
}
_STANDARDS = {"c++03": "gnu++17", "c++98": "gnu++17", "c++11": "gnu++17", "c++14": "gnu++17"}


@lru_cache
def _find(asked: str | None, path: str) -> str:
    for name in [asked] if asked else ["g++", "c++", "clang++"]:
        found = libraries.program_on(path, name)
        if found:
            return found
    raise errors.CompilerMissing(
        "kernels of the host target need a C++ compiler, and "
        + (f"PYGPU_HOST_CXX={asked} is not found." if asked else "none is found.")
        + " Install g++, or name a compiler in PYGPU_HOST_CXX.",
        [asked or "g++"],
    )


def compiler() -> str:
    """The path of the C++ compiler: PYGPU_HOST_CXX, else g++, c++ or clang++."""
    asked, path = os.environ.get("PYGPU_HOST_CXX"), os.environ.get("PATH", os.defpath)
    found = _find(asked, path)
    if not os.path.exists(found):  # it was removed since
        _find.cache_clear()
        found = _find(asked, path)
    return found


_real = lru_cache(os.path.realpath)


def identity() -> str:
    """What tells one installed compiler from another, without running it."""
    path = compiler()
    state = os.stat(path)
    return f"{_real(path)} {state.st_size} {state.st_mtime_ns}"


def _run(command: list[str], name: str) -> subprocess.CompletedProcess[str]:
    """Run the compiler; CompileError with its messages where it fails."""
    import signal
    import subprocess  # which programs whose kernels are in the cache need not wait for

    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise errors.CompileError(f"{command[0]} does not run: {error}", command) from None
    if done.returncode:
        why = ""
        if done.returncode < 0:
            number = -done.returncode
            why = f": {command[0]} was killed by signal {number} ({signal.strsignal(number)})"
        raise errors.CompileError(
            f"compilation of {name} failed{why}", command, stdout=done.stdout, stderr=done.stderr
        )
    return done


def is_strict() -> bool:
    return os.environ.get("PYGPU_HOST_STRICT", "") == "1"


@lru_cache
def _lockstep_flags(compiler: str, is_clang: bool) -> list[str]:
    """The flags for it; CompileError where the compiler does not know them."""
    result = host_lockstep.flags(is_clang)
    probe = [compiler, *result, "-x", "c++", "-fsyntax-only", "/dev/null"]
    try:
        _run(probe, "nothing")
    except errors.CompileError as error:
        raise errors.CompileError(host_lockstep.REASON, probe, stderr=error.stderr) from None
    return result


def is_clang() -> bool:
    return "clang" in os.path.basename(_real(compiler()))


def flags(options: Options, in_lockstep: bool = False) -> list[str]:
    """The compiler's flags that decide what a precompiled header is good for."""
    standard = options.std or "c++17"
    result = [f"-std={_STANDARDS.get(standard, standard.replace('c++', 'gnu++'))}", *_BASE_FLAGS]
    if not is_clang():  # which makes none of them
        result.append("-fno-gnu-unique")
    result.append("-O0" if options.debug else f"-O{options.optimize or '2'}")
    if options.debug or options.line_info:
        result.append("-g")
    if options.is_without_fma():
        result.append("-ffp-contract=off")
    result += options.processor
    if not options.warnings:
        result.append("-w")
    result += [macro for macro in options.macros if macro in _FOR_OUR_HEADER]
    if os.environ.get("PYGPU_HOST_WARP", "").strip() == "64":
        result.append("-DPYGPU_HOST_WARP=64")
    result = list(dict.fromkeys(result))  # said twice, a flag would need a header of its own
    if in_lockstep:
        result += _lockstep_flags(compiler(), is_clang())
    elif is_strict():
        result += _STRICT_FLAGS_OF_CLANG if is_clang() else STRICT_FLAGS
    return result


def _few_libraries(in_lockstep: bool) -> list[str]:
    """libstdc++ comes with the machine's library. To look through it takes the linker as long as
    all the rest takes the compiler for a small kernel."""
    if in_lockstep or is_strict() or is_clang():
        return []
    return ["-nodefaultlibs", "-lm", "-lgcc", "-lc"]


def linking(in_lockstep: bool = False) -> list[str]:
    """What the compiler needs to make a shared library for the machine."""
    words = ["-Wl,-Bsymbolic", "-L", str(PACKAGE), "-lPyGPU_host"]
    return [*words, *(host_lockstep.LINK if in_lockstep else STRICT_LINK if is_strict() else ())]


def _include_options(options: Options, found: includes.Found, for_ours: str = "-I") -> list[str]:
    ours = [headers.folder("device"), headers.folder("host/cuda"), str(include_root())]
    words = [word for folder in options.include_dirs for word in ("-I", folder)]
    words += [word for folder in ours for word in (for_ours, folder)]
    return [*words, *(["-idirafter", "."] if found.uses_working_directory else [])]


# Whatever lets the threads of a block wait for each other. Pasted names (##) hide it.
_WAITS = (
    rb"##|__sync|__shfl|__ballot|__any|__all|__match|__reduce|__activemask|__nanosleep|"
    rb"cooperative_groups|this_thread_block|\basm\b"
)


_DIRECTIVE = r"(?m)^[ \t]*(?:#|%:|\?\?=)[ \t]*(?!include[ \t]*<|pragma\b|line\b)"
# Macros that make no kernel; one that stands in a kernel's name or types leaves that unsure.
_VALUE = r"(?s)-U.*|-D\w+(?:\([^)]*\))?(?:=(?!.*(?:__global__|template|namespace))[^{}\"]*)?"
_LINE_MARK = r'(?m)^# \d+ ".*"((?: \d)*)$'


def _of_user(preprocessed: str) -> str:
    """What is not of the system's headers, which are long and ours count as: 3 marks them."""
    parts = re.split(_LINE_MARK, preprocessed)
    return "".join(
        text
        for flags, text in zip(parts[1::2], parts[2::2])
        if " 3" not in flags or "__global__" in text
    )


def _kernels(
    source: str, name: str, base: list[str], options: Options, found: includes.Found
) -> list[signature.Kernel]:
    """The kernels of a text, as the compiler will see it."""
    plain = found.is_complete and not (options.pre_includes or found.files)
    plain = plain and not re.search(_DIRECTIVE, source)
    if plain and all(re.fullmatch(_VALUE, word) for word in options.macros):
        kernels = signature.kernels(source, options.macros)
        if not options.macros or all(kernel.is_sure for kernel in kernels):
            return kernels
    words = [compiler(), *(word for word in base if word != "-shared"), "-E", "-w", "-x", "c++"]
    # Our header is left out: it would replace __global__.
    words += ["-D__CUDACC__=1", "-D__CUDA_ARCH__=900", "-DPYGPU_READS_KERNELS"]
    words += [*options.for_headers(), *_include_options(options, found, "-isystem")]
    with files.scratch() as scratch:
        unit = Path(scratch, "kernel.cu")
        files.write_text(unit, f'{options.in_front()}#line 1 "{name}"\n{source}')
        try:
            text = _of_user(_run([*words, str(unit)], name).stdout)
        except errors.CompileError:  # the compilation says what is wrong, in the user's lines
            text = source
    return signature.kernels(text)


def may_wait(source: str, found: includes.Found) -> bool:
    """May threads of a text's kernels wait for each other?"""
    return not found.is_complete or any(re.search(_WAITS, text) for text in found.texts(source))


def kernel_table(
    kernels: Sequence[signature.Kernel],
    expressions: Sequence[str],
    may_wait: bool,
    label: str = "",
    by_type: bool = False,
) -> tuple[list[str], str]:
    """The names of a text's kernels, and the text by which its image describes them.

    With `by_type`, a kernel is distinguished from other functions of its name by its parameters.
    Several kernels of a name have no name of their own, as in the vendors' images.
    """
    overloads: dict[str, set[str]] = {}
    for kernel in kernels:
        if not kernel.is_template:
            overloads.setdefault(kernel.full_name, set()).add(kernel.types)
    plain = {one: min(types) for one, types in overloads.items() if not by_type or len(types) == 1}
    names = [*plain, *expressions]
    address = dict.fromkeys(names, "")
    if by_type:
        address.update({one: f"(void (*)({types}))" for one, types in plain.items()})
    table = f"PyGPU_kernels_{label}_{len(names)}" if label else "PyGPU_host_kernels"
    waits = "true" if may_wait else "false"
    rows = [f'PYGPU_HOST_KERNEL("{one}", {waits}, {address[one]}&{one}),' for one in names]
    return names, f'#line 1 "(table of kernels)"\nPYGPU_HOST_KERNELS({table}, {" ".join(rows)})\n'


def _prelude(folder: Path | None, base: list[str]) -> list[str]:
    """Options that put our header before the text, precompiled where it can be kept."""
    if folder is None:
        return [*host_prelude.PLAIN]
    root = str(include_root())
    # By the contents of what is read, so that other changes of PyGPU's leave it alone.
    read = includes.scan(host_prelude.TEXT, [root]).files
    parts = [part for path in sorted(read) for part in (os.path.relpath(path, root), read[path])]
    flags = [word for word in base if word not in ("-w", "-shared")]
    # clang++ looks for the header where it was precompiled, and knows others by where they lie.
    where = f"{os.path.realpath(folder)}:{os.path.realpath(root)}" if is_clang() else ""
    name = entries.key("prelude", where, identity(), *flags, *parts)

    def precompile(header: Path, made: Path) -> bool:
        command = [compiler(), *flags, "-x", "c++-header", "-I", root, str(header), "-o", str(made)]
        try:
            _run(command, "PyGPU's header for kernels")
        except errors.CompileError:  # the same happens to the kernel, or it does not matter
            return False
        return True

    return host_prelude.options(folder, name, precompile)


def _system_files(
    listed: Path, own: Sequence[str], found: includes.Found, since: float
) -> dict[str, tuple[int, int]] | None:
    """What the compiler read beside the user's headers and ours, which are in the folders `own`
    too, as far as that is known."""
    known = {os.path.realpath(path) for path in found.files}
    ours = [os.path.realpath(folder) for folder in (str(include_root()), *own)]
    result = {}
    try:
        text = listed.read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    # A makefile's rule, in which blanks of names are escaped.
    for word in re.findall(r"(?:\\[^\n]|[^\s\\])+", text.partition(": ")[2]):
        path = os.path.realpath(re.sub(r"\\(.)|\$(\$)", r"\1\2", word))
        state = entries.file_state(path)
        if path in known or path.startswith(tuple(folder + os.sep for folder in ours)):
            continue
        # What was written just now may be written again within its time's resolution.
        if state is None or state[1] > (since - 2) * 1e9:
            return None
        result[path] = state
    return result


def compile(
    source: str,
    wrapped: str,
    name: str,
    options: Options,
    found: includes.Found,
    expressions: Sequence[str],
    folder: Path | None,
    relocatable: bool,
    in_lockstep: bool,
) -> entries.Entry:
    """Compile a text.

    Parameters
    ----------
    source : str
        As the user wrote it.
    wrapped : str
        The same with C names, or unchanged.
    name : str
        What the messages call it.
    options : _options.Options
    found : includes.Found
        The user's headers.
    expressions : sequence of str
        Names of template instances (``axpy<float>``) that are wanted.
    folder : Path or None
        Where the precompiled header may be kept.
    relocatable : bool
        Make an object for host_link.py of it.
    in_lockstep : bool
        As :func:`lockstep.is_needed` says.

    Returns
    -------
    entries.Entry
    """
    since = time.time()
    base = flags(options, in_lockstep)
    if relocatable:
        base.remove("-shared")
        # A text that launches may be linked to kernels whose warps run in lockstep.
        base.append("-fno-omit-frame-pointer")
    kernels = _kernels(source, name, base, options, found)
    body = f'{options.in_front()}#line 1 "{name}"\n{dynamic_shared.in_cpp(wrapped)}\n'
    body = child_launches.rewritten(body) if relocatable else body
    label = entries.key(body, *base, *options.macros)[:16] if relocatable else ""
    asked = [*kernel_types.doubtful(kernels), *expressions]
    # What is linked may call functions of other texts.
    waits = relocatable or in_lockstep or may_wait(source, found)

    def text(by_type: bool) -> str:
        table = kernel_table(kernels, expressions, waits, label, by_type)[1]
        hooks = host_lockstep.TEXT if in_lockstep and not relocatable else ""
        return body + table + kernel_types.questions(asked) + hooks

    prelude = _prelude(folder, base)
    with files.scratch() as scratch:
        unit, image, listed = (Path(scratch, "kernel" + end) for end in (".cpp", ".so", ".d"))
        files.write_text(unit, text(False))
        ours = headers.on_demand(found.texts(source), found.is_complete, "host")
        needed = [word for one in ours for word in ("-include", one)]
        rest = [*options.for_headers(), *needed, *_include_options(options, found)]
        rest += options.without_nvidias()
        rest += [str(unit), "-o", str(image), "-MD", "-MF", str(listed)]
        rest += ["-c"] if relocatable else [*linking(in_lockstep), *_few_libraries(in_lockstep)]
        try:
            done = _run([compiler(), *base, *prelude, *rest], name)
        except errors.CompileError as error:
            if "overloaded" in str(error.stderr):  # a kernel is not the only function of its name
                asked = [*expressions]  # whose type the compiler does not say then
                files.write_text(unit, text(True))
            elif not host_prelude.drop_if_damaged(prelude):
                raise
            else:
                prelude = [*host_prelude.PLAIN]
            done = _run([compiler(), *base, *prelude, *rest], name)
        if not image.exists():
            raise errors.CompileError(f"{compiler()} made no image of {name}", [*base], done.stdout)
        data, names = image.read_bytes(), {one: one for one in expressions}
        reported = kernel_types.table(kernels, kernel_types.answers(data, asked), names)
        # clang++ names the precompiled header too.
        own = [scratch, *(os.path.dirname(word) for word in prelude if os.path.isabs(word))]
        left = _system_files(listed, own, found, since)
        log = done.stderr + (host_lockstep.UNCHECKED if in_lockstep and is_strict() else "")
        return entries.Entry(data, log.strip(), names, reported, left)


def link(inputs: Sequence[tuple[str, bytes]]) -> tuple[bytes, str]:
    """Link objects that :func:`compile` made of relocatable texts, and archives of functions.

    Parameters
    ----------
    inputs : sequence of (name, data)

    Returns
    -------
    (bytes, str)
        The image, and what the linker said.
    """
    with files.scratch() as scratch:
        table, image = Path(scratch, "table.cpp"), Path(scratch, "linked.so")
        in_lockstep = any(host_lockstep.CALLS in data for _, data in inputs)
        text = host_link.table_of([data for _, data in inputs])
        files.write_text(table, text + (host_lockstep.TEXT if in_lockstep else ""))
        given: dict[str, str] = {}
        for number, (name, data) in enumerate(inputs):
            ending = host_link.ending(data)
            if ending is None:
                raise errors.CompileError(
                    f"{name}: neither an object that compile(..., options=['-rdc=true']) made for "
                    "the host target nor an archive",
                    [name],
                )
            Path(scratch, f"{number}{ending}").write_bytes(data)
            given[f"{scratch}/{number}{ending}"] = name
        # Archives last: they have what others lack.
        ordered = [str(table), *sorted(given, key=lambda file: file.endswith(".a"))]
        words = ["-shared", "-fPIC", "-std=c++17", "-I", str(include_root()), *ordered]
        words += _lockstep_flags(compiler(), is_clang()) if in_lockstep else []
        words += ["-o", str(image), *linking(in_lockstep), "-Wl,--no-undefined"]
        try:
            log = _run([compiler(), *words], "the linked image").stderr
        except errors.CompileError as error:
            log = host_link.named(error.stderr or "", given)
            raise errors.CompileError("linking failed", error.command_line, stderr=log) from None
        return image.read_bytes(), host_link.named(log, given).strip()
