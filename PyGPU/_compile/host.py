"""Kernels of the ``host`` target: the system's C++ compiler makes a shared library of the text."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from PyGPU._compile import cache, headers, signature
from PyGPU._compile.options import Options, log
from PyGPU._runtime import PACKAGE, errors, include_root

#: Kernels watched access by access (PYGPU_HOST_STRICT=1): calls into the machine for each.
STRICT_FLAGS = (
    "-fsanitize=kernel-address",
    "--param=asan-instrumentation-with-call-threshold=0",
    "--param=asan-stack=0",
    "--param=asan-globals=0",
    "-fno-sanitize-address-use-after-scope",
)
#: Functions by which a kernel allocates, copies and fills; new and delete by their symbols.
_WATCHED = (
    *("malloc", "calloc", "free", "memcpy", "memmove", "memset"),
    *("_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"),
)
STRICT_LINK = tuple(f"-Wl,--wrap={name}" for name in _WATCHED)
# Unique symbols would keep a library from being unloaded; a stack that grows past its guard page
# must touch it.
_BASE_FLAGS = (
    *("-fPIC", "-shared", "-pipe", "-fno-strict-aliasing", "-fno-semantic-interposition"),
    *("-fno-math-errno", "-fno-gnu-unique", "-fstack-clash-protection"),
    *("-Wno-unknown-pragmas", "-Wno-attributes"),
)
# -ffast-math itself would link a start-up file that makes the whole process flush subnormals.
_FAST_MATH = (
    *("-fno-signed-zeros", "-fno-trapping-math", "-fassociative-math", "-freciprocal-math"),
)
_PRELUDE = "PyGPU/host/prelude.h"
_STANDARDS = {"c++03": "gnu++17", "c++98": "gnu++17", "c++11": "gnu++17", "c++14": "gnu++17"}


def compiler() -> str:
    """The path of the C++ compiler: PYGPU_HOST_CXX, else g++, c++ or clang++."""
    asked = os.environ.get("PYGPU_HOST_CXX")
    for name in [asked] if asked else ["g++", "c++", "clang++"]:
        found = shutil.which(name)
        if found:
            return found
    raise errors.CompilerMissing(
        "kernels of the host target need a C++ compiler, and "
        + (f"PYGPU_HOST_CXX={asked} is not found." if asked else "none is found.")
        + " Install g++, or name a compiler in PYGPU_HOST_CXX.",
        [asked or "g++"],
    )


def identity() -> str:
    """What tells one installed compiler from another, without running it."""
    path = os.path.realpath(compiler())
    state = os.stat(path)
    return f"{path} {state.st_size} {state.st_mtime_ns}"


def is_strict() -> bool:
    return os.environ.get("PYGPU_HOST_STRICT", "") == "1"


def flags(options: Options) -> list[str]:
    """The compiler's flags that decide what a precompiled header is good for."""
    standard = options.std or "c++17"
    result = [f"-std={_STANDARDS.get(standard, standard.replace('c++', 'gnu++'))}", *_BASE_FLAGS]
    result.append("-O0" if options.debug else f"-O{options.optimize or '2'}")
    if options.debug or options.line_info:
        result.append("-g")
    if options.fast_math:
        result += _FAST_MATH
    if any(re.fullmatch(r"-?-fmad=false", word) for word in options.other):
        result.append("-ffp-contract=off")
    if not options.warnings:
        result.append("-w")
    if os.environ.get("PYGPU_HOST_WARP", "").strip() == "64":
        result.append("-DPYGPU_HOST_WARP=64")
    if is_strict():
        result += STRICT_FLAGS
    return result


# Options of NVIDIA's device compilers, which change nothing that a C++ compiler would do.
_FOR_DEVICES = re.compile(
    r"--?(?:fmad|ftz|prec-div|prec-sqrt|restrict|dopt|device-c|device-w|diag-\w+|default-device|"
    r"device-as-default-execution-space|dlto|device-debug|extra-device-vectorization|ewp|minimal|"
    r"split-compile|jump-table-density|device-int128|builtin-[\w-]+|no-source-include|time|ptxas)\b"
)


def _understood(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if _FOR_DEVICES.match(word):
            log.info(
                "the option %s is ignored: it means something to NVIDIA's compilers only", word
            )
        else:
            yield word


def include_dirs(options: Options) -> list[str]:
    root = include_root()
    return [
        *options.include_dirs,
        headers.folder("device"),
        headers.folder("host/cuda"),
        str(root),
    ]


def _run(command: list[str], name: str) -> subprocess.CompletedProcess[str]:
    """Run the compiler; CompileError with its messages where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise errors.CompileError(f"{command[0]} does not run: {error}", command) from None
    if done.returncode:
        raise errors.CompileError(
            f"compilation of {name} failed", command, stdout=done.stdout, stderr=done.stderr
        )
    return done


def _prelude(folder: Path | None, base: list[str]) -> list[str]:
    """Options that put our header before the text, precompiled where it can be kept."""
    plain = ["-include", _PRELUDE]
    if folder is None:
        return plain
    name = cache.key("prelude", identity(), headers.fingerprint(), *base)
    place = folder / "prelude" / name
    header = place / "prelude.h"
    ready = ["-include", str(header)]
    if (place / "prelude.h.gch").exists() and header.exists():
        return ready
    with cache.alone(place / "lock"), tempfile.TemporaryDirectory() as scratch:
        if (place / "prelude.h.gch").exists() and header.exists():
            return ready  # another process made it meanwhile
        made = Path(scratch, "prelude.h")
        made.write_text(f"#include <{_PRELUDE}>\n")
        command = [compiler(), *base, "-x", "c++-header", "-I", str(include_root())]
        command = [word for word in command if word != "-shared"]
        _run([*command, str(made), "-o", f"{made}.gch"], "PyGPU's header for kernels")
        # The header first: whoever sees the precompiled one finds both.
        kept = cache.place(header, made.read_bytes()) and cache.place(
            place / "prelude.h.gch", Path(f"{made}.gch").read_bytes()
        )
        return ready if kept else plain


_DYNAMIC = re.compile(
    r"\bextern\s+(?:volatile\s+)?__shared__\s+(?:volatile\s+)?(?:__align__\s*\([^)]*\)\s*|"
    r"alignas\s*\([^)]*\)\s*)?([\w:<>,\s*]+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
_CONTAINER = re.compile(r'(?:\bnamespace\b[\s\w:]*|\bextern\s*"[^"]*"\s*)$')


def dynamic_shared(source: str) -> str:
    """``extern __shared__ T name[];``, which no macro can express, in terms that C++ has."""
    if "__shared__" not in source:
        return source
    blank = signature.without_comments(source)
    result, last, position = [], 0, 0
    stack: list[bool] = []  # is each open brace a function's, or inside one?

    def advance(to: int) -> None:
        nonlocal position
        for index in range(position, to):
            if blank[index] == "{":
                inside = bool(stack) and stack[-1]
                stack.append(inside or not _CONTAINER.search(blank[max(0, index - 200) : index]))
            elif blank[index] == "}" and stack:
                stack.pop()
        position = to

    for match in _DYNAMIC.finditer(blank):
        advance(match.start())
        kind, name = match.group(1).strip(), match.group(2)
        if stack and stack[-1]:
            text = f"PYGPU_DYNAMIC_SHARED({kind}, {name});"
        else:
            text = f"static const ::PyGPU::host::DynamicShared<{kind}> {name};"
        result += [source[last : match.start()], text, "\n" * match.group(0).count("\n")]
        last = match.end()
    return "".join([*result, source[last:]])


# Whatever lets the threads of a block wait for each other. Pasted names (##) hide it.
_WAITS = re.compile(
    rb"##|__sync|__shfl|__ballot|__any|__all|__match|__reduce|__activemask|__nanosleep|"
    rb"cooperative_groups|this_thread_block|\basm\b"
)
_NEEDS_PREPROCESSOR = re.compile(
    r'^[ \t]*#[ \t]*(?:if|ifdef|ifndef|include[ \t]*"|define\b[^\n]*(?:\\\n[^\n]*)*__global__)',
    re.M,
)


def _kernels(source: str, name: str, base: list[str], options: Options) -> list[signature.Kernel]:
    """The kernels of a text, as the compiler will see it."""
    if not _NEEDS_PREPROCESSOR.search(source):
        return signature.kernels(source)
    words = [compiler(), base[0], "-E", "-P", "-w", "-x", "c++", *options.macros]
    words += ["-D__CUDACC__=1", "-D__CUDA_ARCH__=900"]
    for folder in include_dirs(options):
        words += ["-I", folder]
    for header in options.pre_includes:
        words += ["-include", header]
    with tempfile.TemporaryDirectory() as scratch:
        unit = Path(scratch, "kernel.cu")
        unit.write_text(source)
        return signature.kernels(_run([*words, str(unit)], name).stdout)


def compile(
    source: str,
    wrapped: str,
    name: str,
    options: Options,
    expressions: Sequence[str],
    folder: Path | None,
) -> cache.Entry:
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
    expressions : sequence of str
        Names of template instances (``axpy<float>``) that are wanted.
    folder : Path or None
        Where the precompiled header may be kept.

    Returns
    -------
    cache.Entry
    """
    base = flags(options)
    table: dict[str, None] = {}
    for kernel in _kernels(source, name, base, options):
        if not kernel.is_template:
            table[f"{kernel.scope}::{kernel.name}" if kernel.scope else kernel.name] = None
    texts = headers.contents(source, options.include_dirs, options.pre_includes)
    waits = "true" if any(map(_WAITS.search, (source.encode(), *texts))) else "false"
    rows = [f'PYGPU_HOST_KERNEL("{one}", {waits}, {one}),' for one in [*table, *expressions]]
    text = (
        f'#line 1 "{name}"\n{dynamic_shared(wrapped)}\n'
        f'#line 1 "(table of kernels)"\nPYGPU_HOST_KERNELS({" ".join(rows)})\n'
    )
    command = [compiler(), *base, *_prelude(folder, base), *options.macros]
    for place in include_dirs(options):
        command += ["-I", place]
    for header in options.pre_includes:
        command += ["-include", header]
    with tempfile.TemporaryDirectory() as scratch:
        unit, image = Path(scratch, "kernel.cpp"), Path(scratch, "kernel.so")
        unit.write_text(text)
        command += [*_understood(options.other), str(unit), "-o", str(image), "-Wl,-Bsymbolic"]
        command += ["-L", str(PACKAGE), "-lPyGPU_host"]
        command += STRICT_LINK if is_strict() else ()
        done = _run(command, name)
        return cache.Entry(
            image.read_bytes(), done.stderr.strip(), {one: one for one in expressions}
        )
