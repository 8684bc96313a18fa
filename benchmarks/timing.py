"""What the benchmarks share: timing in one process, peers that are installed, a table and JSON."""

import argparse
import atexit
import importlib
import json
import platform
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import PyGPU


def median_seconds(work, number, repeat=7):
    """Median over `repeat` rounds of the time of one of `number` calls, after a warm-up."""
    for _ in range(max(1, number // 10)):
        work()
    rounds = []
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(number):
            work()
        rounds.append((time.perf_counter() - start) / number)
    return statistics.median(rounds)


def peer(name):
    """The module, or None where it is not installed or has no device."""
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


def report(title, unit, rows, device):
    """Print the rows {work: {library: value}} as a table; write JSON if --json FILE was given."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--json", help="also write the figures to this file")
    arguments = parser.parse_known_args()[0]
    libraries = list(dict.fromkeys(name for row in rows.values() for name in row))
    date, python = time.strftime("%F"), platform.python_version()
    print(f"{title} ({unit}) on {device}, Python {python}, {date}")
    print(f"{'':34}" + "".join(f"{name:>12}" for name in libraries))
    for work, row in rows.items():
        cells = "".join(f"{row[n]:12.3g}" if n in row else f"{'-':>12}" for n in libraries)
        print(f"{work:34}{cells}")
    if arguments.json:
        facts = {"title": title, "unit": unit, "device": device, "rows": rows}
        with open(arguments.json, "w") as file:
            json.dump({**facts, "date": date}, file, indent=2)
