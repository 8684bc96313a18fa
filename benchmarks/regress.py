"""Instructions of the hot calls, counted: a call that became dearer fails, on any machine alike.

Run: python benchmarks/regress.py [--write] [--runs 1]. The calls run on the target `host`, on one
core, under callgrind (Debian's package valgrind). What counts is the instructions of the extension
module and of libPyGPU_host.so, and the functions of the package's own Python that a call enters. It
fails if one of them is more than 10 % above benchmarks/regress.json. Those figures hold for the
compiler and the Python that they were made with; with others the differences are only shown.
--write makes them anew; --runs repeats the count and tells how much it varies.
"""

import argparse
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

BASELINE = Path(__file__).with_suffix(".json")
TOLERANCE = 1.10
CALLS = 100
# Callgrind counts the instructions between start and stop, two of its client requests.
REQUESTS = """
#include <valgrind/callgrind.h>
extern "C" void start() { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
extern "C" void stop(const char* name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}
"""
SOURCE = """
__global__ void axpy(float *y, const float *x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""


def hot_calls():
    """{name: function of one call}"""
    import numpy as np

    import PyGPU
    import PyGPU.driver as drv
    from PyGPU import gpuarray
    from PyGPU.compiler import SourceModule
    from PyGPU.elementwise import ElementwiseKernel
    from PyGPU.reduction import ReductionKernel

    host = np.arange(1024, dtype=np.float32)
    a, b = gpuarray.to_gpu(host), gpuarray.to_gpu(host)
    c = gpuarray.empty_like(a)
    memory = drv.mem_alloc(host.nbytes)
    mask = gpuarray.to_gpu(host > 500)
    general = SourceModule(SOURCE).get_function("axpy")
    prepared = SourceModule(SOURCE).get_function("axpy").prepare("PPfi").prepared_call
    y, x, grid, block = a.gpudata, b.gpudata, (1, 1), (32, 1, 1)
    scale, n = np.float32(2), np.int32(32)
    where = gpuarray.where
    part = slice(10, 20)
    axpy = ElementwiseKernel("float a, float *x, float *y", "y[i] += a * x[i]")
    dot = ReductionKernel(np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")
    return {
        "empty(1024)": lambda: gpuarray.empty(1024, np.float32),
        "a + b": lambda: a + b,
        "a *= 2": lambda: a.__imul__(2),
        "add(a, b, out=c)": lambda: np.add(a, b, out=c),
        "a.mul_add(2, b, 3)": lambda: a.mul_add(2, b, 3),
        "a[10:500]": lambda: a[10:500],
        "a.reshape(32, 32)": lambda: a.reshape(32, 32),
        "a.view(int32)": lambda: a.view(np.int32),
        "attributes": lambda: (a.shape, a.dtype, a.size, a.strides, a.ptr, a.nbytes, a.ndim),
        "a.sum()": lambda: a.sum(),
        "where(mask, a, b)": lambda: where(mask, a, b),
        "a[mask]": lambda: a[mask],
        "prepared launch": lambda: prepared(grid, block, y, x, 2.0, 32),
        "general launch": lambda: general(a, b, scale, n, block=block, grid=grid),
        "ElementwiseKernel": lambda: axpy(2.0, a, b),
        "ElementwiseKernel, slice=": lambda: axpy(2.0, a, b, slice=part),
        "ReductionKernel": lambda: dot(a, b),
        "to_gpu, 4 KB": lambda: gpuarray.to_gpu(host),
        "get, 4 KB": lambda: a.get(),
        "get into an array, 4 KB": lambda: a.get(host),
        "memcpy_htod, 4 KB": lambda: drv.memcpy_htod(memory, host),
        "memcpy_dtoh, 4 KB": lambda: drv.memcpy_dtoh(host, memory),
        "cudaMemcpy to the device, 4 KB": lambda: PyGPU.cudaMemcpy(memory, host, host.nbytes),
        "mem_alloc, 4 KB": lambda: drv.mem_alloc(4096),
    }


def functions_entered(call, package):
    """How many functions of the package's Python a call enters."""
    entered = []

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(package):
            entered.append(frame.f_code)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(entered)


def counted(requests, file):
    """The part under callgrind: make the calls, write the functions entered to a file."""
    # The host machine suspends a kernel that lasts 50 ms by this signal, which can end callgrind.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGURG})
    callgrind, facts = ctypes.CDLL(requests), {}
    import PyGPU

    package = str(Path(PyGPU.__file__).parent)
    for name, call in hot_calls().items():
        for _ in range(10):  # compiled, and every cache warm
            call()
        facts[name] = functions_entered(call, package)
        repeat = range(CALLS)
        callgrind.start()
        for _ in repeat:
            call()
        callgrind.stop(name.encode())
    core = sys.modules[f"PyGPU._{PyGPU.target}"].__file__
    Path(file).write_text(json.dumps({"functions": facts, "module": core}))


def self_costs(text):
    """{object file: instructions of its own} of a profile in callgrind's format."""
    names, costs, own, is_call = {}, {}, None, False
    for line in text.splitlines():
        if found := re.match(r"(c?ob)=\((\d+)\)(?: (.*))?", line):
            kind, number, name = found.groups()
            if name:
                names[number] = name
            if kind == "ob":
                own = names[number]
        elif line.startswith("calls="):
            is_call = True  # the next line has the cost of what was called
        elif re.match(r"[+*\d-]", line):
            if not is_call:
                costs[own] = costs.get(own, 0) + int(line.split()[1])
            is_call = False
    return costs


def count():
    """{call: {"instructions", "functions"}}, of one call, and the path of the extension module."""
    with tempfile.TemporaryDirectory() as folder:
        source, requests = Path(folder, "requests.cpp"), Path(folder, "requests.so")
        source.write_text(REQUESTS)
        subprocess.run(["g++", "-shared", "-fPIC", source, "-o", requests], check=True)
        facts = Path(folder, "facts.json")
        valgrind = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no"]
        valgrind += [f"--callgrind-out-file={folder}/profile"]
        subprocess.run(
            [*valgrind, sys.executable, __file__, "--counted", requests, facts],
            check=True,
            env={
                **os.environ,
                **{"PYGPU_TARGET": "host", "PYGPU_HOST_THREADS": "1", "PYTHONHASHSEED": "0"},
                # GPU targets cache freed blocks by default; the host machine only on request.
                "PYGPU_BLOCK_CACHE": "1",
                # Valgrind does not know all instructions of a processor.
                "PYGPU_HOST_PROCESSOR": "any",
                # NumPy's threads would only take time.
                "OPENBLAS_NUM_THREADS": "1",
            },
        )
        found = json.loads(facts.read_text())
        module = Path(found["module"]).resolve()
        ours = {str(module), str(module.with_name("libPyGPU_host.so"))}
        result = {}
        for profile in Path(folder).glob("profile.*"):
            text = profile.read_text()
            name = re.search(r"desc: Trigger: Client Request: (.*)", text)
            if name:
                costs = self_costs(text)
                instructions = sum(costs.get(one, 0) for one in ours)
                result[name[1]] = {"instructions": instructions / CALLS}
    for name, functions in found["functions"].items():
        result[name]["functions"] = functions
    return {name: result[name] for name in found["functions"]}, module


def made_with(module):
    """Return the compiler of the extension module and the Python version; both affect counts."""
    compiler = re.search(rb"(GCC: \([^)]*\)|clang version) (\d+)", module.read_bytes())
    name = "unknown"
    if compiler:
        name = f"{'g++' if compiler[1].startswith(b'GCC') else 'clang++'} {compiler[2].decode()}"
    return {"compiler": name, "Python": "{}.{}".format(*sys.version_info)}


def grown(before, after):
    """Is one of the two figures of a call more than 10 % above what it was?"""
    return any(after[kind] > TOLERANCE * before[kind] for kind in ("instructions", "functions"))


def main():
    if sys.argv[1:2] == ["--counted"]:
        counted(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {BASELINE.name} anew")
    parser.add_argument("--runs", type=int, default=1, help="repeat, and show the variation")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error(f"--runs: expected a number from 1 on, got {options.runs}")
    if not shutil.which("valgrind"):
        parser.exit(2, "valgrind is not on PATH: it is Debian's package valgrind\n")
    runs = [count() for _ in range(options.runs)]
    calls, made = runs[0][0], made_with(runs[0][1])
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {"made with": None}
    before, is_same = baseline.get("calls", {}), baseline["made with"] == made
    print(f"{'instructions (functions of Python) a call':44}{'baseline':>16}{'now':>16}")
    dearer = []
    for name, after in calls.items():
        old, mark = before.get(name), ""
        if old and grown(old, after):
            dearer.append(name)
            mark = "  <-- more"
        cells = [
            f"{one['instructions']:.0f} ({one['functions']})" if one else "-"
            for one in (old, after)
        ]
        seen = [run[name]["instructions"] for run, _ in runs]
        vary = f"  varies by {max(seen) / min(seen) - 1:.2%}" if len(runs) > 1 else ""
        print(f"{name:44}{cells[0]:>16}{cells[1]:>16}{vary}{mark}")
    if options.write:
        BASELINE.write_text(json.dumps({"made with": made, "calls": calls}, indent=1) + "\n")
        return 0
    missing = [name for name in calls if name not in before]
    if missing:
        print(f"not in {BASELINE.name}: {', '.join(missing)}; --write adds them")
    if not is_same:
        print(f"only shown: the baseline was made with {baseline['made with']}, this is {made}")
        return 0
    if dearer:
        print(f"more than 10 % dearer: {', '.join(dearer)}; if that is meant, --write")
    return 1 if dearer or missing else 0


if __name__ == "__main__":
    sys.exit(main())
