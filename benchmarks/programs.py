"""The test-suite of a program for PyCUDA, run with PyGPU in PyCUDA's place.

Run: python benchmarks/programs.py FOLDER [--tests PATH ...] [--numpy-compat] [--pycuda]
[--limit SECONDS] [--json FILE], and pytest's own options. FOLDER is an unpacked source distribution
or a checkout; its tests are PATHs in it, or those that its pytest configuration says. --pycuda runs
them with the real PyCUDA, to compare. Prints how many passed, failed and were skipped, and why.
"""

import argparse
import collections
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

import numpy as np

OUTCOMES = ["passed", "failed", "skipped", "xfailed"]
GRACE = 60  # seconds that pytest has for its report when it is stopped


def run(folder, command, limit):
    """pytest's report of one run, as XML, and whether the run was stopped."""
    paths = [folder, folder / "src", *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(path) for path in paths if path)}
    with tempfile.TemporaryDirectory() as outside:
        report, printed = Path(outside, "report.xml"), Path(outside, "printed")
        command = [*command, f"--junitxml={report}"]
        streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
        # A shell's background jobs ignore the signal, and so would pytest.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with printed.open("w") as output:
            suite = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, **streams)
            stopped = False
            try:
                suite.wait(limit)
            except subprocess.TimeoutExpired:
                stopped = True
                suite.send_signal(signal.SIGINT)  # upon which pytest reports what it has
            try:
                suite.wait(GRACE if stopped else None)
            except subprocess.TimeoutExpired:
                suite.kill()
                suite.wait()
        if not report.exists():
            ended = f"stopped after {limit} s" if stopped else "ended"
            raise SystemExit(f"{printed.read_text()}\n{folder.name}: {ended}, without a report")
        return report.read_text(), stopped


def outcome(case):
    """Return the outcome of a test and its reason, in one line."""
    for kind in ("failure", "error", "skipped"):
        found = case.find(kind)
        if found is not None:
            lines = (found.get("message") or "no reason given").strip().splitlines()
            if lines == ["collection failure"]:  # the reason is at the end of the traceback
                lines = found.text.strip().splitlines()[-1:]
            skipped = "xfailed" if found.get("type") == "pytest.xfail" else "skipped"
            return skipped if kind == "skipped" else "failed", lines[0][:160]
    return "passed", ""


def counted(report, stopped):
    """{outcome: tests}, {(outcome, reason): names of tests} and the seconds of a report."""
    suite = xml.etree.ElementTree.fromstring(report).find("testsuite")
    counts, reasons = dict.fromkeys(OUTCOMES, 0), collections.defaultdict(list)
    cases = list(suite.iter("testcase"))
    if stopped and cases and outcome(cases[-1])[0] == "passed":
        del cases[-1]  # it was running, and stands there like one that passed
    for case in cases:
        result, why = outcome(case)
        counts[result] += 1
        if result != "passed":
            reasons[result, why].append(f"{case.get('classname')}::{case.get('name')}")
    return counts, reasons, float(suite.get("time"))


def about(module):
    """The library in use, its target and device, in words."""
    code = f"""import {module} as m, {module}.driver as driver
driver.init()
print(getattr(m, "target", ""), driver.Device(0).name())"""
    device = subprocess.check_output([sys.executable, "-c", code], text=True).strip()
    return f"{module} on {device}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--tests", nargs="+", default=[], metavar="PATH")
    parser.add_argument("--numpy-compat", action="store_true", help="NumPy has its old names again")
    parser.add_argument("--pycuda", action="store_true", help="run with the real PyCUDA")
    parser.add_argument("--limit", type=int, default=3600, help="seconds for the whole suite")
    parser.add_argument("--json", type=Path)
    options, pytest = parser.parse_known_args()
    folder = options.folder.resolve()
    if not folder.is_dir():
        parser.error(f"FOLDER: expected the folder of a program, got {str(options.folder)!r}")
    if options.pycuda and options.numpy_compat:
        parser.error("--numpy-compat is PyGPU's; with --pycuda, expected an older NumPy")
    ours = ["-m", "PyGPU", "run", *["--numpy-compat"] * options.numpy_compat]
    command = [sys.executable, *([] if options.pycuda else ours), "-m", "pytest", "-q"]
    command += ["-p", "no:cacheprovider", *pytest, *options.tests]
    used = about("pycuda" if options.pycuda else "PyGPU")
    report, stopped = run(folder, command, options.limit)
    counts, reasons, seconds = counted(report, stopped)
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    print(f"{folder.name}: {used}, {versions}, {datetime.date.today()}")
    print(", ".join(f"{number} {name}" for name, number in counts.items()), f"in {seconds:.0f} s")
    if stopped:
        print(f"stopped after {options.limit} s: the rest of the tests did not run")
    for (result, why), names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"  {len(names):4} {result}: {why}  [{names[0]}]")
    if options.json:
        tests = {f"{result}: {why}": names for (result, why), names in reasons.items()}
        figures = {**counts, "seconds": seconds, "stopped": stopped, "tests": tests}
        options.json.write_text(json.dumps(figures, indent=2))
    raise SystemExit(bool(counts["failed"] or stopped))


if __name__ == "__main__":
    main()
