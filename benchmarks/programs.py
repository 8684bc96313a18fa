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
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

import numpy as np

OUTCOMES = ["passed", "failed", "skipped", "xfailed"]


def run(folder, command, limit):
    """pytest's report of one run, as XML; what it printed, if it makes none."""
    with tempfile.TemporaryDirectory() as outside:
        report, printed = Path(outside, "report.xml"), Path(outside, "printed")
        paths = [folder, folder / "src", *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        found = os.pathsep.join(str(path) for path in paths if path)
        with printed.open("w") as output:
            try:
                subprocess.run(
                    [*command, f"--junitxml={report}"],
                    cwd=folder,
                    env={**os.environ, "PYTHONPATH": found},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=limit,
                )
                ended = "pytest ended without a report"
            except subprocess.TimeoutExpired:
                ended = f"not done after {limit} s"
        if not report.exists():
            raise SystemExit(f"{printed.read_text()}\n{folder.name}: {ended}")
        return report.read_text()


def outcome(case):
    """What became of one test, and why, in a line."""
    for kind in ("failure", "error", "skipped"):
        found = case.find(kind)
        if found is not None:
            lines = (found.get("message") or "no reason given").strip().splitlines()
            if lines == ["collection failure"]:  # the reason is at the end of the traceback
                lines = found.text.strip().splitlines()[-1:]
            skipped = "xfailed" if found.get("type") == "pytest.xfail" else "skipped"
            return skipped if kind == "skipped" else "failed", lines[0][:160]
    return "passed", ""


def counted(report):
    """{outcome: tests}, {(outcome, reason): names of tests} and the seconds of a report."""
    suite = xml.etree.ElementTree.fromstring(report).find("testsuite")
    counts, reasons = dict.fromkeys(OUTCOMES, 0), collections.defaultdict(list)
    for case in suite.iter("testcase"):
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
    counts, reasons, seconds = counted(run(folder, command, options.limit))
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    print(f"{folder.name}: {used}, {versions}, {datetime.date.today()}")
    print(", ".join(f"{number} {name}" for name, number in counts.items()), f"in {seconds:.0f} s")
    for (result, why), names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"  {len(names):4} {result}: {why}  [{names[0]}]")
    if options.json:
        tests = {f"{result}: {why}": names for (result, why), names in reasons.items()}
        figures = {**counts, "seconds": seconds, "tests": tests}
        options.json.write_text(json.dumps(figures, indent=2))
    raise SystemExit(bool(counts["failed"]))


if __name__ == "__main__":
    main()
