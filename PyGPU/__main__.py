"""``python -m PyGPU``: show the targets that are built, the one in use, and why the others are not.

``python -m PyGPU run script.py args...`` runs a PyCUDA program unchanged, and so does
``python -m PyGPU run -m module args...``; with ``--numpy-compat`` after ``run``, NumPy's old names
exist. ``python -m PyGPU.debug script.py args...`` compiles its kernels for a debugger.
``python -m PyGPU cache [--clear]`` shows the cache of compiled kernels, or clears it.
``python -m PyGPU compile mine.cu --arch gfx942,sm_90 -o folder`` compiles kernels ahead of time.
``python -m PyGPU build mine.cu -o libmine.so --target host`` builds a shared library from sources,
and ``python -m PyGPU cxx g++ ...`` runs a compiler on CUDA sources for the target `host`.
``python -m PyGPU --cflags --ldflags --target cuda`` prints options for the target's compiler.
``python -m PyGPU bench`` measures this machine; ``python -m PyGPU report -o file`` checks it and
writes a report to send. ``--help`` after a command shows its options.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from typing import Any

import PyGPU
from PyGPU._as_pycuda.run import run
from PyGPU._compile import cache_command, compile_command
from PyGPU._runtime import PACKAGE, capabilities, errors, hooks, targets


def report() -> dict[str, Any]:
    """Return the facts about this installation and its devices, as plain data."""
    core = targets.core
    count, status = core.cudaGetDeviceCount()
    return {
        "version": PyGPU.__version__,
        "target": capabilities.target,
        "reason": targets.reason,
        "built": [target for target in targets.TARGETS if targets.is_built(target)],
        "refused": targets.refused,
        "architectures": core.architectures,
        "runtime_version": core.cudaRuntimeGetVersion()[0],
        "driver_version": core.cudaDriverGetVersion()[0],
        "runtime_library": targets.runtime_library(capabilities.target),
        "status": {"code": status.code, "name": status.name},
        "hiding": targets.hiding() if status.code == errors.NO_DEVICE else None,
        "devices": [device(core, ordinal) for ordinal in range(count)],
        "include": PyGPU.get_include(),
        "libraries": PyGPU.get_library_dir(),
    }


def device(core: Any, ordinal: int) -> dict[str, Any]:
    """Return the name, the memory in bytes and the architecture of a device."""
    properties = core.cudaDeviceProp(ordinal)
    return {
        "name": properties.name(),
        "memory": properties.totalGlobalMem(),
        "architecture": properties.architecture(),
        "multiprocessors": properties.multiProcessorCount(),
    }


def show(facts: dict[str, Any]) -> None:
    """Print the facts for a reader."""
    print(f"PyGPU {facts['version']}")
    print(f"targets built: {', '.join(facts['built'])}")
    print(f"target in use: {facts['target']} ({facts['reason']})")
    for target, why in facts["refused"].items():
        print(f"  not {target}: {why}")
    if facts["architectures"]:
        print(f"built for: {facts['architectures']}")
    library = f", {facts['runtime_library']}" if facts["runtime_library"] else ""
    print(f"runtime {facts['runtime_version']}, driver {facts['driver_version']}{library}")
    if facts["status"]["code"]:
        print(f"no devices: {facts['status']['name']} ({facts['status']['code']})")
    if facts["hiding"]:
        print(f"  {facts['hiding']}")
    for ordinal, one in enumerate(facts["devices"]):
        memory = one["memory"] / 2**30
        print(f"device {ordinal}: {one['name']}, {memory:.1f} GiB, {one['architecture']}")
    print(f"headers: {facts['include']}")
    print(f"libraries: {facts['libraries']}")


def flags(parser: argparse.ArgumentParser, given: argparse.Namespace) -> str:
    """Return the compiler options that the command line names, as words of a shell."""
    toolchains = hooks.loaded("PyGPU._library.toolchains")
    arch = given.arch.split(",") if given.arch else "native"
    try:
        return shlex.join(toolchains.flags(toolchains.of(given.target), given.flags, arch))
    except (ValueError, PyGPU.errors.CompilerMissing) as error:
        parser.error(str(error))


def main() -> None:
    """Run the command that the first argument names, or print the facts."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["run"]:
        run(arguments[1:])  # most arguments are the program's
        return
    if arguments[:1] == ["cache"]:
        cache_command.main(arguments[1:])
        return
    if arguments[:1] == ["compile"]:
        sys.exit(compile_command.main(arguments[1:]))
    if arguments[:1] == ["build"]:
        command = hooks.loaded("PyGPU._library.build_command")
        sys.exit(command.main(arguments[1:], PyGPU.build))
    if arguments[:1] == ["cxx"]:
        command = hooks.loaded("PyGPU._library.cxx_command")
        sys.exit(command.main(arguments[1:]))
    if arguments[:1] == ["report"]:
        command = hooks.loaded("PyGPU._report.command")
        sys.exit(command.main(arguments[1:]))
    if arguments[:1] == ["bench"]:
        bench = hooks.loaded("PyGPU._bench.command")  # only this command needs the module
        sys.exit(bench.main(arguments[1:]))
    parser = argparse.ArgumentParser(
        prog="python -m PyGPU",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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
    given = parser.parse_args()
    if given.cmakedir:
        print(PACKAGE / "cmake")
        return
    if given.flags:
        print(flags(parser, given))
        return
    if given.target or given.arch:
        parser.error("--target and --arch go with --includes, --cflags or --ldflags")
    facts = report()
    if given.json:
        print(json.dumps(facts, indent=2))
    else:
        show(facts)


if __name__ == "__main__":
    main()
