"""Timing, installed peer libraries, and output as a table and JSON, shared by the benchmarks.

Every script takes --json FILE, and --alone, which leaves out the peers, and most loops of C++.
"""

import argparse
import atexit
import importlib
import json
import platform
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import PyGPU

# Load this checkout's measuring.py even if compare.py measures an older package.
_measuring = runpy.run_path(str(Path(__file__).parents[1] / "PyGPU" / "_tools" / "measuring.py"))


def median_seconds(work, calls, rounds=7):
    """The seconds of a call after a warm-up: the median of the rounds."""
    for _ in range(max(1, calls // 10)):
        work()
    batch = _measuring["batch_of"](work, calls)
    return statistics.median(batch() for _ in range(rounds))


def batch_of(call, calls):
    """A function that makes `calls` calls, waits and returns the seconds of one."""
    return _measuring["batch_of"](call, calls, PyGPU.cudaDeviceSynchronize)


def medians(rounds, candidates):
    """{name: median of what its function returned}: the candidates take turns."""
    return _measuring["medians"](rounds, candidates, PyGPU.cudaDeviceSynchronize)


def alone():
    """Return whether the command line has --alone."""
    return "--alone" in sys.argv


def peer(name):
    """The module, or None where it is not installed, has no device or is not asked for."""
    if alone():
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def pycuda():
    """pycuda.driver in the primary context, until the end of the program; None without PyCUDA."""
    driver = peer("pycuda.driver")
    if driver:
        driver.init()
        context = driver.Device(0).retain_primary_context()
        context.push()
        atexit.register(context.pop)
    return driver


def library(source):
    """The path of a shared library of a .cu file beside this one, by the target's own compiler."""
    words = {
        "cuda": ["nvcc", "-O3", "-arch=native", "-Xcompiler", "-fPIC"],
        "hip": ["hipcc", "-O3", "-fPIC"],
        "host": ["g++", "-O3", "-fPIC", "-x", "c++"],
    }[PyGPU.target]
    words += ["-std=c++17", "-shared", "-I", PyGPU.get_include()]
    words.append(str(Path(__file__).with_name(source)))
    if PyGPU.target == "host":
        folder = PyGPU.get_library_dir()
        words += ["-L", folder, "-lPyGPU_host", f"-Wl,-rpath,{folder}"]
    built = str(Path(tempfile.mkdtemp(), "built.so"))
    subprocess.run([*words, "-o", built], check=True)
    return built


def argument(name, default):
    """The value of one option of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument(name, dest="value", default=default)
    return parser.parse_known_args()[0].value


_reported = []  # tables of this program


def report(title, unit, rows, device):
    """Print the rows {work: {library: value}} as a table. Where --json FILE was given, write all
    tables of the program to it, as a list."""
    file = argument("--json", None)
    libraries = list(dict.fromkeys(name for row in rows.values() for name in row))
    date, python = time.strftime("%F"), platform.python_version()
    print(f"{title} ({unit}) on {device}, Python {python}, {date}")
    print(f"{'':34}" + "".join(f"{name:>12}" for name in libraries))
    for work, row in rows.items():
        cells = "".join(f"{row[n]:12.3g}" if n in row else f"{'-':>12}" for n in libraries)
        print(f"{work:34}{cells}")
    facts = {"title": title, "unit": unit, "rows": rows}
    _reported.append({**facts, "device": device, "date": date, "package": PyGPU.__file__})
    if file:
        Path(file).write_text(json.dumps(_reported, indent=2))
