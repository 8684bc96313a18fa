"""``python -m PyGPU cxx``: run a C++ compiler on CUDA sources for the target ``host``.

The compiler reads copies of the sources and of their headers whose launches are rewritten. Build
systems put the command before their compiler; its exit status is the compiler's.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PyGPU._compile import files, host_compiler, host_lockstep, includes
from PyGPU._library import host_sources
from PyGPU._library.toolchains import SOURCE_ENDINGS
from PyGPU._runtime import include_root

_USAGE = """usage: python -m PyGPU cxx COMPILER ARGUMENT...

Run a C++ compiler for the target host on CUDA sources: launches (kernel<<<grid, block>>>(x)) and
extern __shared__ are rewritten in copies, and messages name the originals. The options are those
of the compiler: python -m PyGPU --cflags --target host prints the options that the sources need.

    python -m PyGPU cxx g++ $(python -m PyGPU --cflags --target host) -c mine.cu -o mine.o"""
_FOLDERS = ("-I", "-iquote", "-isystem", "-idirafter")
#: Options of C++ compilers whose value may be the next word.
_WITH_VALUE = (
    *_FOLDERS,
    *("-D", "-U", "-include", "-imacros", "-o", "-x", "-MF", "-MT", "-MQ", "-L", "-l", "-T", "-u"),
    *("-Xpreprocessor", "-Xassembler", "-Xlinker", "-Xclang", "-mllvm", "--param", "-target"),
)


class _Words(NamedTuple):
    """The words of a compiler's command line by their meanings."""

    sources: dict[int, str]  # absolute paths by their positions
    folders: list[str]  # of headers
    macros: list[str]
    pre_includes: list[str]
    lists: list[str]  # files for make with the headers of an object


def _parsed(words: Sequence[str]) -> _Words:
    result = _Words({}, [], [], [], [])
    outputs, is_listing = [], False
    position = 0
    while position < len(words):
        at, word = position, words[position]
        position += 1
        option = next((one for one in _WITH_VALUE if word.startswith(one)), None)
        if word in ("-MD", "-MMD"):
            is_listing = True
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
            elif option == "-MF":
                result.lists.append(value)
            elif option == "-o":
                outputs.append(value)
    if is_listing and not result.lists:
        result.lists.extend(os.path.splitext(one)[0] + ".d" for one in outputs)
    return result


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
    found, _ = includes.scan_all(sources, *known)
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
    if waiting:
        return [*host_compiler.without_strict(result), *_lockstep_options(command)]
    return result


def _named_originals(path: str, copies: Path) -> None:
    """Replace the copies by the originals in a list of headers for make."""
    for_make = str(copies).replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
    try:
        text = Path(path).read_text("utf-8", "surrogateescape")
    except OSError:  # the compiler failed, or names the list in another way
        return
    changed = text.replace(for_make, "")
    Path(path).write_text(changed, "utf-8", "surrogateescape")


def main(arguments: Sequence[str]) -> int:
    """Run the command with its arguments, and return the compiler's exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    compiler, *words = arguments
    parsed = _parsed(words)
    with files.scratch() as scratch:
        copies = Path(scratch) / "copies"
        command = _rewritten(arguments, parsed, copies) or words
        try:
            done = subprocess.run([compiler, *command], stderr=subprocess.PIPE)
        except OSError as error:
            print(f"{compiler} does not run: {error}", file=sys.stderr)
            return 127
        for path in parsed.lists:
            _named_originals(path, copies)
        sys.stderr.flush()
        sys.stderr.buffer.write(done.stderr.replace(os.fsencode(copies), b""))
    return done.returncode if done.returncode >= 0 else 128 - done.returncode
