"""``python -m PyGPU cxx``: run a C++ compiler on CUDA sources for the target ``host``.

The compiler reads copies of the sources and of their headers whose launches are rewritten. Build
systems put the command before their compiler; its exit status is the compiler's.
"""

from __future__ import annotations

import contextlib
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
    search: tuple[list[str], list[str], list[str]]  # folders, headers before all sources, macros
    texts: list[str]  # files with names of headers that the compiler may write
    outputs: list[str]


def _parsed(words: Sequence[str]) -> _Words:
    given: dict[str, list[str]] = {option: [] for option in _WITH_VALUE}
    sources, texts, waiting = {}, [], ""
    for at, word in enumerate(words):
        option = next((one for one in _WITH_VALUE if word.startswith(one)), "")
        if waiting:
            given[waiting].append(word)
            waiting = ""
        elif word == option:
            waiting = option
        elif option:
            given[option].append(word[len(option) :])
        elif list_of_make := re.fullmatch(r"-Wp,-MM?D,(.*)", word):
            texts.append(list_of_make[1])
        elif word.endswith(SOURCE_ENDINGS) and word[0] != "-" and os.path.isfile(word):
            sources[at] = os.path.abspath(word)
    folders = [Path(one) for option in _FOLDERS for one in given[option]]
    users = [str(one) for one in folders if include_root() not in (one, *one.parents)]
    users += includes.variable_folders(HEADER_VARIABLES)
    macros = [option + value for option in ("-D", "-U") for value in given[option]]
    outputs = given["-o"]
    texts += [*given["-MF"], *given["-MJ"]]
    if {"-MD", "-MMD"} & {*words}:
        stems = [os.path.splitext(os.path.basename(one))[0] for one in sources.values()]
        texts += [f"{one}-{stem}.d" for one in outputs for stem in stems]
        texts += [f"{os.path.splitext(one)[0]}.d" for one in (*outputs, *stems)]
    if {"-E", "-M", "-MM"} & {*words}:
        texts += outputs
    search = users, given["-include"] + given["-imacros"], macros
    return _Words(sources, search, texts, outputs)


def _expanded(words: Iterable[str]) -> Iterator[str]:
    """Yield the words of a command line and of its response files (``@file``)."""
    for word in words:
        if word.startswith("@") and os.path.isfile(word[1:]):
            yield from _expanded(shlex.split(Path(word[1:]).read_text("utf-8", "surrogateescape")))
        else:
            yield word


def _folder(outputs: Sequence[str]) -> Path:
    """Make a folder for copies: beside the output, so ccache finds the same command again."""
    if outputs and outputs[-1] != os.devnull:
        beside = Path(os.path.abspath(f"{outputs[-1]}.PyGPU"))
        shutil.rmtree(beside, ignore_errors=True)  # of an interrupted command
        with contextlib.suppress(OSError):  # the compiler will say that it cannot write there
            beside.mkdir()
            return beside
    return Path(tempfile.mkdtemp(prefix="PyGPU-"))


def _rewritten(compiler: str, words: list[str], parsed: _Words, copies: Path) -> list[str]:
    """Copy the sources, rewritten; return the words that compile the copies, if there are any."""
    sources = {path: Path(path).read_bytes() for path in parsed.sources.values()}
    made = host_sources.copied(sources, parsed.search, words, copies)
    if made is None:
        return words
    # A launcher such as ccache may stand before the compiler.
    start = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    result = [
        f"{copies}{parsed.sources[at]}" if at in parsed.sources else word
        for at, word in enumerate(words)
    ]
    result = [*result[:start], *made.first, *result[start:], *made.last]
    if not made.lockstep_sources:
        return result
    is_clang = any("clang" in os.path.basename(one) for one in (compiler, *words[:start]))
    result = [*host_compiler.without_strict(result), *host_lockstep.flags(is_clang)]
    only_compiles = {"-c", "-S", "-E", "-M", "-MM"} & {*words}
    return result if only_compiles else [*result, *host_lockstep.LINK]


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
        command = [compiler, *_rewritten(compiler, words, parsed, copies)]
        done = subprocess.run(command, capture_output=True)
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
