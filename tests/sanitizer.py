"""The suite under NVIDIA's compute-sanitizer: python tests/sanitizer.py memcheck [tests ...]

Each file of tests is a process of its own under the tool (memcheck, racecheck, initcheck or
synccheck), several at once. What PyGPU's own tests do wrong on purpose are errors of the runtime's
calls, which are not reported. Prints what each tool reported and the sums; the exit status is 1 for
any report, and for files that did not come to an end.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TESTS = Path(__file__).parent
# They look at processes, at other libraries' memory or at the whole device; the tool's own calls
# spoil captures by others, and for its reports it keeps frames of Python and what they have.
LEFT_OUT = {"test_interop_libraries.py", "test_large_arrays.py", "test_exit.py", "test_process.py"}
LEFT_OUT |= {"test_graphs_of_others.py", "test_bad_times.py"}
SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard")


def run(tool, file, deadline):
    """(file, seconds, tests that passed or None, reports, the log)"""
    command = ["compute-sanitizer", "--tool", tool, "--target-processes", "application-only"]
    command += ["--report-api-errors", "no"] if tool == "memcheck" else []
    command += [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", str(file)]
    start = time.monotonic()
    if start > deadline:
        return file, 0, None, 0, "not begun"
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=deadline - start,
            env={**os.environ, "PYGPU_BLOCK_CACHE": "0"},
        )
        log = done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        log = (late.stdout or b"").decode(errors="replace")
    # All tests of a file are skipped where they need two devices.
    passed = re.search(r"(\d+) passed|^\d+ skipped(?:, \d+ deselected)? in ", log, re.MULTILINE)
    found = [int(a or b) for a, b in SUMMARY.findall(log)]
    ended = passed and found
    return file, time.monotonic() - start, int(passed[1] or 0) if ended else None, sum(found), log


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", choices=["memcheck", "racecheck", "initcheck", "synccheck"])
    parser.add_argument("tests", nargs="*", type=Path, help="files and folders; default: all")
    parser.add_argument("--jobs", type=int, default=min(12, len(os.sched_getaffinity(0))))
    parser.add_argument("--minutes", type=float, default=30, help="for all files together")
    parser.add_argument("--logs", type=Path, help="a folder for what is not clean")
    asked = parser.parse_args()
    if asked.logs:
        asked.logs.mkdir(parents=True, exist_ok=True)
    places = asked.tests or [TESTS]
    files = {f for p in places for f in (p.rglob("test_*.py") if p.is_dir() else [p])}
    files = sorted(f for f in files if f.name not in LEFT_OUT)
    deadline = time.monotonic() + 60 * asked.minutes
    with ThreadPoolExecutor(asked.jobs) as pool:
        results = list(pool.map(lambda file: run(asked.tool, file, deadline), files))
    for file, seconds, passed, reports, log in results:
        if passed is None or reports or " failed" in log:
            print(f"{file}: {passed} passed, {reports} reports, {seconds:.0f} s")
            for line in log.splitlines():
                if line.startswith(("FAILED", "ERROR ", "========= ")):
                    print("   ", line[:200])
            if asked.logs:
                (asked.logs / f"{asked.tool}-{file.stem}.log").write_text(log)
    ended = [one for one in results if one[2] is not None]
    reports = sum(one[3] for one in results)
    print(
        f"{asked.tool}: {sum(one[2] for one in ended)} tests passed in {len(ended)} of "
        f"{len(files)} files, {reports} reports"
    )
    return 1 if reports or len(ended) < len(files) else 0


if __name__ == "__main__":
    sys.exit(main())
