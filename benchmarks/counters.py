"""Memory traffic of the rows of `python -m PyGPU bench` that stay below the raw limit.

Run: python benchmarks/counters.py FOUND.json [--below 0.9] [--only TEXT] [--json FILE]. FOUND.json
is what `python -m PyGPU bench --json` wrote on the same GPU. Each big row under `--below` of the
limit is called once under NVIDIA's `ncu`, which must be on PATH. Printed are the bytes that went
between the GPU's memory and its cache as a multiple of those that the row counts, how much of their
time the row's kernels kept the memory and the multiprocessors busy, and what the row could be if
nothing but that traffic took time. Caches are cold, and the clocks are not locked.
"""

import argparse
import collections
import csv
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

METRICS = {
    "dram__bytes.sum": "moved",
    "gpu__time_duration.sum": "time",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "multiprocessors",
}
MARK = "next_row"  # a kernel that is launched before each row


def chosen(found, options):
    """The rows to look at, the furthest from the limit first."""
    rows = [row for row in found["rows"] if row["kind"] == "big" and row["of limit"]]
    rows = [row for row in rows if row["of limit"] < options.below]
    rows = [row for row in rows if options.only in f"{row['group']} {row['name']}"]
    return sorted(rows, key=lambda row: row["of limit"])


def call_rows(names):
    """In a process under ncu: each row once, after a first call that is not counted."""
    from PyGPU import driver
    from PyGPU._tools import bench_libraries as libraries
    from PyGPU._tools import bench_suite, bench_table
    from PyGPU.compiler import SourceModule

    mark = SourceModule(f"__global__ void {MARK}() {{}}").get_function(MARK)
    ours, kept = libraries.ours(), None
    for row in bench_table.rows(names["n"], names["small"]):
        if row.kind != "big" or [row.name, row.dtype] not in names["rows"]:
            continue
        if kept is None or kept.dtype != row.dtype:
            kept = libraries.Operands(row.n, row.dtype)
        call, _ = bench_suite.program(row.work.of("PyGPU"), ours, kept)
        call()
        driver.start_profiler()
        mark(block=(32, 1, 1))
        call()
        driver.Context.synchronize()
        driver.stop_profiler()
        print(f"called: {json.dumps([row.name, row.dtype])}", flush=True)


def profiled(rows, found):
    """{(name, dtype): {what METRICS name: sum over its kernels; shares: mean by time}}"""
    names = {
        "n": 1 << found["settings"]["exponent"],
        "small": found["settings"]["small"],
        "rows": [[row["name"], row["dtype"]] for row in rows],
    }
    command = ["ncu", "--profile-from-start", "off", "--clock-control", "none", "--csv"]
    command += ["--page", "raw", "--print-units", "base", "--metrics", ",".join(METRICS)]
    command += [sys.executable, __file__, "--call", json.dumps(names)]
    done = subprocess.run(command, capture_output=True, text=True)
    called = [json.loads(line[8:]) for line in done.stdout.splitlines() if line[:8] == "called: "]
    table = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if done.returncode or not table:
        raise SystemExit(f"ncu ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    measured, at = collections.defaultdict(list), -1
    for kernel in csv.DictReader(table):
        if not kernel["ID"]:
            continue  # the line of units
        if kernel["Kernel Name"].startswith(MARK):
            at += 1
        else:
            figures = {
                short: float(kernel[name].replace(",", "")) for name, short in METRICS.items()
            }
            measured[tuple(called[at])].append(figures)
    return {row: summed(kernels) for row, kernels in measured.items()}


def summed(kernels):
    time = sum(kernel["time"] for kernel in kernels)
    shares = {
        share: sum(kernel[share] * kernel["time"] for kernel in kernels) / time
        for share in ("memory", "multiprocessors")
    }
    moved = sum(kernel["moved"] for kernel in kernels)
    return {"kernels": len(kernels), "moved": moved, "time": time, **shares}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("found", type=Path, metavar="FOUND.json")
    parser.add_argument("--below", type=float, default=0.9, help="of the limit (default: 0.9)")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--json", type=Path, metavar="FILE")
    if sys.argv[1:2] == ["--call"]:
        return call_rows(json.loads(sys.argv[2]))
    options = parser.parse_args()
    if not shutil.which("ncu"):
        parser.error("NVIDIA's ncu is not on PATH")
    found = json.loads(options.found.read_text())
    rows = chosen(found, options)
    measured = profiled(rows, found)
    print("| row | dtype | of the limit | moved / counted | memory busy | SMs busy | at most |")
    print("|---|---|---|---|---|---|---|")
    could = {}
    for row in rows:
        one = measured.get((row["name"], row["dtype"]))
        if one is None:
            print(f"| `{row['name']}` | {row['dtype']} | {row['of limit']:.2f} | - | - | - | - |")
            continue
        more = one["moved"] / row["bytes"]
        could[row["name"], row["dtype"]] = max(row["of limit"], min(1.0, 1 / more))
        print(
            f"| `{row['name']}` | {row['dtype']} | {row['of limit']:.2f} | {more:.2f} "
            f"| {one['memory']:.0f} % | {one['multiprocessors']:.0f} % | {1 / more:.2f} |"
        )
    logarithms = []
    for row in found["rows"]:
        if row["kind"] == "big" and row["of peer"] and row["of limit"]:
            best = could.get((row["name"], row["dtype"]), max(row["of limit"], 1.0))
            logarithms.append(math.log(row["of peer"] * best / row["of limit"]))
    if logarithms:
        mean = math.exp(math.fsum(logarithms) / len(logarithms))
        print(f"\nmean ratio to the fastest peer if every row were at its last column: {mean:.3f}")
    if options.json:
        options.json.write_text(json.dumps([{"row": key, **one} for key, one in measured.items()]))
    return None


if __name__ == "__main__":
    main()
