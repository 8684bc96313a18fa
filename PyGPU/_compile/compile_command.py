"""``python -m PyGPU compile``: compile kernel texts ahead of time, without a GPU.

Exit status: 0; 1 if an image could not be made; 2 for invalid arguments.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from PyGPU._compile.cache import architectures, files, image_files
from PyGPU._compile.compilers import build, device_names
from PyGPU._compile.compilers import options as _options
from PyGPU._runtime import commands, errors


def _parser() -> argparse.ArgumentParser:
    parser = commands.parser(
        "compile",
        """Compile kernel texts ahead of time, without a GPU. Each image is a file of its own, such
        as mine.gfx942.hsaco, mine.sm_90.cubin, mine.compute_90.ptx or mine.host.so.

        PyGPU.driver.module_from_file('folder/mine') loads the image for its device. So a program
        that ships its images needs no compiler where it runs.

        Words after -- are options of nvcc, as SourceModule accepts them.""",
        [
            ("mine.cu", "for the device of this machine, into this folder"),
            ("mine.cu --arch gfx942,sm_90,host -o images", "for three devices, into a folder"),
            ("mine.cu --arch compute_90 -- -lineinfo", "PTX with line numbers for a profiler"),
            (
                "mine.cu --no-extern-c --name-expression 'axpy<float>'",
                "an instance of a template",
            ),
        ],
    )
    add = parser.add_argument
    add("texts", metavar="TEXT", nargs="+", type=Path, help="a file with CUDA C++")
    add(
        "--arch",
        metavar="LIST",
        help="gfx942,gfx90a:xnack+,sm_90,compute_90,host: HIPRTC compiles for gfx names, NVRTC for "
        "sm and compute (PTX) names; the default is the current device's",
    )
    add("-o", "--output", metavar="FOLDER", type=Path, default=Path(), help="default: here")
    add("-I", dest="include_dirs", metavar="FOLDER", action="append", default=[], help="of headers")
    add("-D", dest="macros", metavar="NAME[=VALUE]", action="append", default=[])
    add("--std", metavar="STANDARD", help="such as c++17, the default")
    add("--no-extern-c", action="store_true", help="C++ names, for texts with templates")
    add(
        "--name-expression",
        dest="expressions",
        metavar="NAME",
        action="append",
        default=[],
        help="an instance of a template, such as 'axpy<float>'; with --no-extern-c",
    )
    return parser


def _architectures(parser: argparse.ArgumentParser, text: str | None) -> list[str]:
    if text is None:
        try:
            return [device_names.device_image()]
        except errors.Error as error:
            parser.error(f"--arch is needed, because there is no device: {error}")
    names = list(dict.fromkeys(filter(None, text.split(","))))
    unknown = [name for name in names if architectures.target_of(name) is None]
    if unknown or not names:
        parser.error(f"--arch {text}: expected names such as gfx942, gfx90a:xnack+, sm_90 or host")
    return names


def _request(options: argparse.Namespace, words: Sequence[str], path: Path) -> build.Request:
    before, after = _options.of_environment()
    standard = [f"-std={options.std}"] if options.std else []
    macros = [f"-D{macro}" for macro in options.macros]
    return build.Request(
        source=path.read_text("utf-8-sig", "surrogateescape"),
        options=(*before, *standard, *macros, *words, *after),
        include_dirs=(*options.include_dirs, str(path.parent)),
        extern_c=not options.no_extern_c,
        expressions=tuple(options.expressions),
        name=path.name,
    )


def _write(request: build.Request, arch: str, folder: Path, stem: str) -> Path:
    """Compile for one architecture, and return the path of the image.

    Raises
    ------
    CompileError, NotImplementedError, ValueError, OSError
        If the image cannot be made or written.
    """
    entry = build.build_for(request, arch)
    if entry.log:
        print(entry.log, file=sys.stderr)
    made = image_files.Image(entry.image, entry.names, entry.parameters)
    suffix = build.backend_of(arch).suffix(entry.image)
    path = folder / image_files.name(stem, arch, suffix)
    if not files.place(path, image_files.packed(made)):
        raise OSError(f"cannot write {path}")
    return path


def main(arguments: Sequence[str]) -> int:
    """Run the command with its arguments, and return the exit status."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = _parser()
    options, words = parser.parse_args(arguments[:at]), arguments[at + 1 :]
    names, status = _architectures(parser, options.arch), 0
    for text in options.texts:
        try:
            request = _request(options, words, text)
        except OSError as error:
            parser.error(f"cannot read {text}: {error.strerror}")
        for arch in names:
            try:
                print(_write(request, arch, options.output, text.stem))
            except errors.CompileError as error:
                log = f"\n{error.stderr.strip()}" if error.stderr else ""
                print(f"{text}, {arch}: {error.msg}{log}", file=sys.stderr)
                status = 1
            except (NotImplementedError, ValueError, OSError) as error:
                print(f"{text}, {arch}: {error}", file=sys.stderr)
                status = 1
    return status
