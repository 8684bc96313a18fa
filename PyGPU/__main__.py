"""``python -m PyGPU``, or ``pygpu``: the commands of PyGPU.

Without a command, it shows the targets that are built, the one in use, and why the others are not.
``--help`` lists the commands, and ``--help`` after a command its options.
``--cflags --target cuda`` prints options for the target's compiler.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shlex
import signal
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import PyGPU
from PyGPU._runtime import PACKAGE, commands, configuration
from PyGPU._runtime.parts import MissingPart


def flags(parser: argparse.ArgumentParser, given: argparse.Namespace) -> str:
    """Return the compiler options that the command line names, as words of a shell."""
    from PyGPU._library import toolchains

    arch = given.arch.split(",") if given.arch else "native"
    try:
        return shlex.join(toolchains.flags(toolchains.of(given.target), given.flags, arch))
    except (ValueError, PyGPU.errors.CompilerMissing) as error:
        parser.error(str(error))


def info(arguments: list[str]) -> None:
    """Print the facts, or options for compilers."""
    parser = commands.parser(
        "info",
        """Show the targets that are built, the one in use and why the others are not, the versions
        of runtime and driver, the devices, and the folders of headers and libraries.

        For build systems, it prints the options that compile and link a program's own CUDA
        sources.""",
        [
            ("", "the facts, as PyGPU.show_config() prints them"),
            ("--json", "the same for a program"),
            ("--cflags --target cuda", "options for nvcc"),
            ("--cmakedir", "for CMake: -DPyGPU_DIR=$(...)"),
        ],
    )
    _show(parser, arguments)


def overview(arguments: list[str]) -> None:
    """Print the facts as `info` does; the help lists the commands."""
    parser = argparse.ArgumentParser(
        prog=commands.program(),
        description=_commands(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s [command] [options]",
    )
    _show(parser, arguments)


def _show(parser: argparse.ArgumentParser, arguments: list[str]) -> None:
    """Add the options of `info`, and do what they ask for."""
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--version", action="version", version=f"PyGPU {PyGPU.__version__}")
    for name, meaning in (
        ("includes", "folders of headers"),
        ("cflags", "options that compile a .cu file, with those folders"),
        ("ldflags", "options that link objects to a shared library"),
    ):
        parser.add_argument(
            f"--{name}",
            dest="flags",
            action="append_const",
            const=name,
            default=[],
            help=f"print the {meaning}",
        )
    parser.add_argument(
        "--cmakedir", action="store_true", help="print the folder of CMake's package PyGPU"
    )
    parser.add_argument("--target", help="of these options; the default is the target in use")
    parser.add_argument(
        "--arch", help="architectures, such as sm_80,sm_90; by default the device's"
    )
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.command is not None:
        parser.error(
            f"{given.command!r}: no such command; expected one of {', '.join(COMMANDS)}, before "
            "all options"
        )
    if given.cmakedir:
        print(PACKAGE / "cmake")
        return
    if given.flags:
        print(flags(parser, given))
        return
    if given.target or given.arch:
        parser.error("--target and --arch go with --includes, --cflags or --ldflags")
    if given.json:
        print(json.dumps(configuration.facts(), indent=2))
    else:
        configuration.show_config()


def _later(module: str, function: str = "main", *given: str) -> Callable[[list[str]], Any]:
    """Return a command's function, whose module is imported at the call."""

    def main(arguments: list[str]) -> Any:
        command = getattr(importlib.import_module(f"PyGPU.{module}"), function)
        return command(arguments, *(getattr(PyGPU, name) for name in given))

    return main


class Command(NamedTuple):
    """A command: its line in the help, an example of its arguments, its function."""

    meaning: str
    example: str
    main: Callable[[list[str]], Any]


COMMANDS = {
    "info": Command("show the targets, the one in use and its devices", "", info),
    "doctor": Command(
        "find what is wrong on this machine, with remedies", "--json", _later("_tools.doctor")
    ),
    "run": Command(
        "run a PyCUDA program unchanged; run -m module runs a module",
        "script.py arguments...",
        _later("_as_pycuda.run", "run"),
    ),
    "debug": Command(
        "run it with kernels for a debugger",
        "script.py arguments...",
        _later("_as_pycuda.run", "debug"),
    ),
    "bench": Command(
        "measure this machine, beside CuPy and torch", "--peers", _later("_tools.bench")
    ),
    "report": Command(
        "try every part, and write a report to send", "-o report.txt", _later("_tools.report")
    ),
    "cache": Command(
        "show or clear the cache of compiled kernels", "--clear", _later("_compile.cache_command")
    ),
    "compile": Command(
        "compile kernels ahead of time, without a GPU",
        "mine.cu --arch gfx942,sm_90 -o folder",
        _later("_compile.compile_command"),
    ),
    "build": Command(
        "build a shared library from CUDA sources",
        "mine.cu -o libmine.so --target host",
        _later("_library.build_command", "main", "build"),
    ),
    "cxx": Command(
        "run a C++ compiler on CUDA sources for the target host",
        "g++ -c mine.cu -o mine.o",
        _later("_library.cxx_command"),
    ),
}


def _commands() -> str:
    """Return the commands for the help: the meaning of each, and an example."""
    lines = ["commands, with an example of each; without a command: info"]
    for name, command in COMMANDS.items():
        lines.append(f"  {name:8}  {command.meaning}")
        lines.append(
            f"{'':12}{' '.join(filter(None, [commands.program(), name, command.example]))}"
        )
    return "\n".join([*lines, "", "--help after a command shows its options."])


def main() -> None:
    """Run the command that the first argument names, or print the facts."""
    words = sys.argv[1:]
    is_named = bool(words) and words[0] in COMMANDS
    command = COMMANDS[words[0]].main if is_named else overview
    try:
        status = command(words[1:] if is_named else words)
        if sys.stdout is not None:
            sys.stdout.flush()
    except MissingPart as error:
        print(f"{commands.program()}: {error}", file=sys.stderr)
        status = 2
    except BrokenPipeError:  # the reader of the output, such as `head`, has ended
        if is_named and words[0] in ("run", "debug"):  # the program's own exception
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # flushed again at the exit
        status = 128 + signal.SIGPIPE
    if status:
        sys.exit(status)


if __name__ == "__main__":
    main()
