"""``python -m PyGPU report``: facts about a machine and the results of checks, in a text file.

Exit status: 0 if no check failed, 1 if one did, 2 for arguments that make no sense.
"""

from __future__ import annotations

import contextlib
import datetime
import getpass
import glob
import os
import platform
import re
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from typing import TextIO

import numpy as np

from PyGPU._runtime import PACKAGE, capabilities, commands, core, targets, toolkits
from PyGPU._tools import checks, findings, runner

_MOST_LINES = 60  # printed lines of a check's process that are reported
_VARIABLES = re.compile(
    r"(HIP|HIPCC|HIPRTC|ROCR|ROCM|HSA|HCC|GPU|AMD|AMDGPU|CUDA|NVIDIA|NVCC|PYGPU|PYCUDA|MPICH_GPU)(_.*)?"
    r"|LD_LIBRARY_PATH|LD_PRELOAD|CPATH|CPLUS_INCLUDE_PATH|CXX|LOADEDMODULES|OMP_NUM_THREADS"
)
_SECRET = re.compile(r"TOKEN|KEY|SECRET|PASS", re.I)
_END = r"(?=$|[/:;,'\"\s)])"  # of a name in a path


def anonymous(text: str) -> str:
    """Return the text with ``~`` for home folders and ``USER`` for the user's name in paths."""
    home = os.path.expanduser("~")
    for path in (home, os.path.realpath(home)):
        if len(path) > 1:
            text = re.sub(re.escape(path) + _END, "~", text)
    text = re.sub(r"/(?:home|users|Users)/[^/\s:'\"]+", "~", text)
    with contextlib.suppress(KeyError, OSError):  # the user has no entry
        if (user := getpass.getuser()) and user != "root":
            text = re.sub(rf"(?<=/){re.escape(user)}{_END}", "USER", text)
    return text


def facts() -> list[str]:
    """Return the facts at the head of a report, which need no device call."""
    built = ", ".join(target for target in targets.TARGETS if targets.is_built(target))
    model = re.search(r"^model name.*?:(.*)", findings.text("/proc/cpuinfo"), re.M)
    processor = model[1].strip() if model else platform.machine()
    files = ["/sys/module/amdgpu/version", "/proc/driver/nvidia/version"]
    for toolkit in toolkits.toolkits(toolkits.ROCM):
        files += [f"{root}/.info/version" for root in toolkit]
    versions = {path: findings.text(path).partition("\n")[0].strip() for path in files}
    nodes = []
    for pattern in ("/dev/kfd", "/dev/dri/renderD*", "/dev/nvidia[0-9]*", "/dev/nvidiactl"):
        for path in sorted(glob.glob(pattern)):
            may = os.access(path, os.R_OK | os.W_OK)
            nodes.append(f"{path}: {'may be opened' if may else 'no permission (see groups)'}")
    return [
        f"PyGPU {core.__version__}, target {capabilities.target} ({targets.reason})",
        *(f"not {target}: {why}" for target, why in targets.refused.items()),
        f"targets built: {built}; in {PACKAGE}",
        f"Python {sys.version.split()[0]}, NumPy {np.__version__}, {platform.platform()}",
        f"{processor}, {len(os.sched_getaffinity(0))} processors for this process",
        *(f"{path}: {line}" for path, line in versions.items() if line),
        *(nodes or ["no device nodes (/dev/kfd, /dev/dri/renderD*, /dev/nvidia*)"]),
        *(
            f"{name}={value}"
            for name, value in sorted(os.environ.items())
            if _VARIABLES.fullmatch(name) and not _SECRET.search(name)
        ),
    ]


def _write(file: TextIO | None, names: Sequence[str], limit: float) -> int:
    """Run the checks, write the report, and return the exit status."""
    start, now = time.monotonic(), datetime.datetime.now(datetime.timezone.utc)
    counts = dict.fromkeys(("OK", "FAILED", "SKIPPED"), 0)
    last = [name for name in names if name.startswith("machine.")][-1:]
    has_device = True

    def write(text: str) -> None:
        text = anonymous(text)
        print(text, flush=True)
        if file is not None:  # synchronized, so that a crash of the machine loses nothing
            print(text, file=file, flush=True)
            with contextlib.suppress(OSError):  # a pipe cannot be synchronized
                os.fsync(file.fileno())

    def started(name: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{name} ...\r", end="", file=sys.stderr, flush=True)

    write(f"PyGPU report of {now:%Y-%m-%d %H:%M} UTC\n\n== environment")
    for fact in facts():
        write(fact)
    write("\n== checks: seconds of the first run, with compilations, and of the second")
    with tempfile.TemporaryDirectory(prefix="PyGPU-") as cache:
        environment = {"PYGPU_TARGET": capabilities.target, "PYGPU_CACHE_DIR": cache}
        for result in runner.run("report", names, limit, environment, started):
            seconds = "".join(f"{one:9.3f}" for one in result.seconds)
            write(f"{result.state:8}{result.name:28}{seconds}")
            if result.text:
                write(textwrap.indent(result.text.rstrip(), "    "))
            for line in result.output.splitlines()[-_MOST_LINES:]:
                write(f"    | {line}")
            counts[result.state] += 1
            has_device &= (result.name, result.state) != ("machine.runtime", "FAILED")
            if not has_device and [result.name] == last:
                write("The other checks need a device.")
                break
    text = ", ".join(f"{count} {state}" for state, count in counts.items())
    took = time.monotonic() - start
    write(f"\n== total\n{text}; {took:.1f} s on the target {capabilities.target}")
    return 1 if counts["FAILED"] else 0


def main(arguments: Sequence[str]) -> int:
    """Run the command with its arguments, and return the exit status."""
    parser = commands.parser(
        "report",
        """Write down what this machine is, try PyGPU's parts with known answers, and measure
        transfers and launches, in about a minute. The file holds no names of users; read it, then
        send it.""",
        [
            ("-o report.txt", "the report of a machine, as a file"),
            ("--only kernels", "the checks with this text in their names"),
        ],
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the report there, and to the terminal"
    )
    options, names = checks.chosen("report", parser, arguments, 120.0)
    if options.output is None:
        return _write(None, names, options.timeout)
    try:
        with open(options.output, "w", encoding="utf-8") as file:
            return _write(file, names, options.timeout)
    except OSError as error:
        parser.error(f"cannot write {options.output!r}: {error.strerror}")
