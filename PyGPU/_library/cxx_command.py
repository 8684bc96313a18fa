"""``python -m PyGPU cxx``: run a C++ compiler on CUDA sources for the target ``host``.

The compiler reads copies of the sources and of their headers whose launches are rewritten. Build
systems put the command before their compiler; its exit status is the compiler's.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from PyGPU._compile.compilers import host_compiler, host_lockstep
from PyGPU._compile.source import includes
from PyGPU._library import host_sources
from PyGPU._library.toolchains import HEADER_VARIABLES, SOURCE_ENDINGS
from PyGPU._runtime import include_root

_USAGE = """usage: python -m PyGPU cxx COMPILER ARGUMENT...

Run a C++ compiler for the target host on CUDA sources: launches (kernel<<<grid, block>>>(x)) and
extern __shared__ are rewritten in copies, and messages name the originals. The options are those
of the compiler: python -m PyGPU --cflags --target host prints the options that the sources need.

    python -m PyGPU cxx g++ $(python -m PyGPU --cflags --target host) -c mine.cu -o mine.o"""
_FOLDERS = ("-I", "-iquote", "-isystem", "-idirafter")
#: Options of C++ compilers whose value may be the next word.
_WITH_VALUE = (
    *(*_FOLDERS, "-D", "-U", "-include", "-imacros", "-o", "-x", "-MF", "-MJ", "-MT", "-MQ"),
    *("-L", "-l", "-T", "-u", "-Xpreprocessor", "-Xassembler", "-Xlinker", "-Xclang", "-mllvm"),
    *("--param", "-target"),
)


class _Words(NamedTuple):
    """The words of a compiler's command line by their meanings."""

    sources: dict[int, str]  # absolute paths by their positions
    folders: list[str]  # of headers
    macros: list[str]
    pre_includes: list[str]
    texts: list[str]  # files with names of headers that the compiler may write
    outputs: list[str]


def _parsed(words: Sequence[str]) -> _Words:
    result = _Words({}, [], [], [], [], [])
    position = 0
    while position < len(words):
        at, word = position, words[position]
        position += 1
        option = next((one for one in _WITH_VALUE if word.startswith(one)), None)
        if list_of_make := re.fullmatch(r"-Wp,-MM?D,(.*)", word):
            result.texts.append(list_of_make[1])
        elif not word.startswith("-"):
            if word.endswith(SOURCE_ENDINGS) and os.path.isfile(word):
                result.sources[at] = os.path.abspath(word)
        elif option:
            value = word[len(option) :]
            if not value and position < len(words):
                value = words[position]
                position += 1
            if option in _FOLDERS:
                if include_root() not in (Path(value), *Path(value).parents):  # not our own
                    result.folders.append(value)
            elif option in ("-D", "-U"):
                result.macros.append(option + value)
            elif option in ("-include", "-imacros"):
                result.pre_includes.append(value)
            elif option in ("-MF", "-MJ"):
                result.texts.append(value)
            elif option == "-o":
                result.outputs.append(value)
    result.folders.extend(includes.variable_folders(HEADER_VARIABLES))
    if {"-MD", "-MMD"} & {*words}:
        stems = [os.path.splitext(os.path.basename(one))[0] for one in result.sources.values()]
        result.texts.extend(f"{one}-{stem}.d" for one in result.outputs for stem in stems)
        result.texts.extend(f"{os.path.splitext(one)[0]}.d" for one in (*result.outputs, *stems))
    if {"-E", "-M", "-MM"} & {*words}:
        result.texts.extend(result.outputs)
    return result


def _expanded(words: Iterable[str]) -> Iterator[str]:
    """Yield the words of a command line and of its response files (``@file``)."""
    for word in words:
        if word.startswith("@") and os.path.isfile(word[1:]):
            yield from _expanded(shlex.split(Path(word[1:]).read_text("utf-8", "surrogateescape")))
        else:
            yield word


def _folder(outputs: Sequence[str]) -> Path:
    """Make a folder for copies: beside the output, so ccache finds the same command again."""
    beside = Path(os.path.abspath(f"{outputs[-1]}.PyGPU")) if outputs else None
    if beside is None or outputs[-1] == os.devnull:
        return Path(tempfile.mkdtemp(prefix="PyGPU-"))
    shutil.rmtree(beside, ignore_errors=True)  # of an interrupted command
    try:
        beside.mkdir()
    except OSError:  # the compiler will say that it cannot write there
        return _folder([])
    return beside


def _lockstep_options(command: Sequence[str]) -> list[str]:
    """Return the options for a command whose sources have warps that run in lockstep."""
    # A launcher such as ccache may stand before the compiler.
    programs = itertools.takewhile(lambda word: not word.startswith("-"), command)
    result = host_lockstep.flags(any("clang" in os.path.basename(one) for one in programs))
    only_compiles = any(word in ("-c", "-S", "-E", "-M", "-MM") for word in command)
    return result if only_compiles else [*result, *host_lockstep.LINK]


def _rewritten(command: Sequence[str], parsed: _Words, copies: Path) -> list[str] | None:
    """Copy the sources, rewritten; return the words that compile the copies, or None."""
    words = command[1:]
    sources = {path: Path(path).read_bytes() for path in parsed.sources.values()}
    known = parsed.folders, parsed.pre_includes, parsed.macros
    found = includes.scan_all(sources, *known).files
    waiting = host_sources.in_lockstep(sources, *known)
    if not host_sources.copied(sources, found, copies, lockstep_sources=waiting):
        return None
    result = [
        f"{copies}{parsed.sources[at]}" if at in parsed.sources else word
        for at, word in enumerate(words)
    ]
    # A launcher such as ccache may stand before the compiler.
    first = next((at for at, word in enumerate(words) if word.startswith("-")), 0)
    result[first:first] = [
        *host_sources.definitions([*sources.values(), *found.values()]),
        *host_sources.copied_folders(parsed.folders, copies),
    ]
    result += host_sources.named_originals(words, copies)
    if waiting:
        return [*host_compiler.without_strict(result), *_lockstep_options(command)]
    return result


def _named_originals(text: bytes, copies: Path) -> bytes:
    """Return a text of the compiler, or a list for make, with the originals instead of copies."""
    for_make = str(copies).replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
    return text.replace(os.fsencode(for_make), b"").replace(os.fsencode(copies), b"")


def main(arguments: Sequence[str]) -> int:
    """Run the command with its arguments, and return the compiler's exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    compiler, *words = _expanded(arguments)
    parsed = _parsed(words)
    folder = _folder(parsed.outputs)
    copies = folder / "copies"
    try:
        command = _rewritten([compiler, *words], parsed, copies) or words
        done = subprocess.run([compiler, *command], capture_output=True)
    except OSError as error:
        print(f"{compiler} does not run: {error}", file=sys.stderr)
        return 127
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for path in map(Path, parsed.texts):
        if path.is_file():
            path.write_bytes(_named_originals(path.read_bytes(), copies))
    for stream, text in ((sys.stdout, done.stdout), (sys.stderr, done.stderr)):
        stream.flush()
        stream.buffer.write(_named_originals(text, copies))
    return done.returncode if done.returncode >= 0 else 128 - done.returncode
