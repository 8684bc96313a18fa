"""``python -m PyGPU build``: build a shared library from a user's sources, for one target.

Exit status: 0; 1 if the library could not be built; 2 for invalid arguments.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PyGPU._runtime import commands, errors


def _parser() -> argparse.ArgumentParser:
    parser = commands.parser(
        "build",
        """Build a shared library from CUDA sources, as PyGPU.build does, and print its path.
        PyGPU.load(path) loads it.

        Words after -- are options of the target's compiler; on host, those of nvcc.""",
        [
            ("mine.cu", "for the target in use, into the cache"),
            ("mine.cu -o libmine.so --target host", "for a machine without a GPU"),
            ("mine.cu more.cpp --target cuda --arch sm_80,sm_90", "for two architectures"),
        ],
    )
    add = parser.add_argument
    add("sources", metavar="SOURCE", nargs="+", help="a file: .cu, .cpp, .hip")
    add(
        "-o",
        dest="out",
        metavar="OUT",
        type=Path,
        help="file of the library, or a folder for it; by default the library stays in the cache",
    )
    add("--target", metavar="TARGET", help="cuda, hip or host; the default is the target in use")
    add(
        "--arch",
        metavar="LIST",
        default="native",
        help="architectures, such as sm_80,sm_90 or gfx90a; the default is the current device's",
    )
    add("-I", dest="include_dirs", metavar="FOLDER", action="append", default=[], help="of headers")
    add("-D", dest="macros", metavar="NAME[=VALUE]", action="append", default=[])
    add("-l", dest="libraries", metavar="NAME", action="append", default=[], help="a library")
    return parser


def main(arguments: Sequence[str], build: Callable[..., Path]) -> int:
    """Run the command with its arguments, and return the exit status.

    Parameters
    ----------
    arguments : sequence of str
        Words of the command line after ``build``.
    build : function
        :func:`PyGPU.build`.
    """
    at = list(arguments).index("--") if "--" in arguments else len(arguments)
    parser = _parser()
    given, words = parser.parse_args(arguments[:at]), arguments[at + 1 :]
    names = [name for name in given.arch.split(",") if name]
    try:
        path = build(
            *given.sources,
            out=given.out,
            target=given.target,
            arch=given.arch if names == ["native"] else names,
            options=[*(f"-D{macro}" for macro in given.macros), *words],
            include_dirs=given.include_dirs,
            libraries=given.libraries,
        )
    except errors.CompileError as error:
        log = f"\n{error.stderr.strip()}" if error.stderr else ""
        print(f"{error.msg}{log}", file=sys.stderr)
        return 1
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    print(path)
    return 0
