"""``python -m PyGPU``: which targets are built, which one is used, why the others are not.

``python -m PyGPU run script.py args...`` runs a PyCUDA program as it is.
"""

import argparse
import json
import os
import runpy
import sys

import PyGPU
from PyGPU import _targets


def report():
    """What this installation is and does here, as plain data."""
    core = _targets.core
    count, status = core.cudaGetDeviceCount()
    return {
        "version": PyGPU.__version__,
        "target": core.target,
        "reason": _targets.reason,
        "built": [target for target in _targets.TARGETS if _targets.is_built(target)],
        "refused": _targets.refused,
        "architectures": core.architectures,
        "runtime_version": core.cudaRuntimeGetVersion()[0],
        "driver_version": core.cudaDriverGetVersion()[0],
        "status": {"code": status.code, "name": status.name},
        "devices": [device(core, ordinal) for ordinal in range(count)],
        "include": PyGPU.get_include(),
        "libraries": PyGPU.get_library_dir(),
    }


def device(core, ordinal):
    """Name, memory in bytes and architecture of one device."""
    properties = core.cudaDeviceProp(ordinal)
    return {
        "name": properties.name(),
        "memory": properties.totalGlobalMem(),
        "architecture": properties.architecture(),
        "multiprocessors": properties.multiProcessorCount(),
    }


def show(facts):
    print(f"PyGPU {facts['version']}")
    print(f"targets built: {', '.join(facts['built'])}")
    print(f"target in use: {facts['target']} ({facts['reason']})")
    for target, why in facts["refused"].items():
        print(f"  not {target}: {why}")
    if facts["architectures"]:
        print(f"built for: {facts['architectures']}")
    print(f"runtime {facts['runtime_version']}, driver {facts['driver_version']}")
    if facts["status"]["code"]:
        print(f"no devices: {facts['status']['name']} ({facts['status']['code']})")
    for ordinal, one in enumerate(facts["devices"]):
        memory = one["memory"] / 2**30
        print(f"device {ordinal}: {one['name']}, {memory:.1f} GiB, {one['architecture']}")
    print(f"headers: {facts['include']}")
    print(f"libraries: {facts['libraries']}")


def run(script, arguments):
    """Run a program whose ``import pycuda`` means PyGPU."""
    PyGPU.install_as_pycuda()
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")


def main():
    parser = argparse.ArgumentParser(
        prog="python -m PyGPU",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    commands = parser.add_subparsers(dest="command", metavar="run")
    program = commands.add_parser("run", help="run a PyCUDA program as it is")
    program.add_argument("script")
    program.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    if asked.command == "run":
        run(asked.script, asked.arguments)
    elif asked.json:
        print(json.dumps(report(), indent=2))
    else:
        show(report())


if __name__ == "__main__":
    main()
