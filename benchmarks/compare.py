"""Two checkouts, each built in place, beside each other in one run: before and after a change.

Run: python benchmarks/compare.py OLD_ROOT NEW_ROOT [--only NAME ...] [--rounds 5] [--json FILE].
The scripts beside this one run alternately with the package of each checkout, without peers; what
else is on the command line goes to them. Rows more than 3 % worse are marked, and make the exit
status 1.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPTS = ["launch", "objects", "small", "arrays", "transfer"]
TOLERANCE = 1.03


def figures(script, root, words):
    """{(table, row, unit): figure} of one run of a script with the package of one checkout.

    Beside a loop in C++ in the same process, what counts is the ratio.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "figures.json")
        command = [sys.executable, Path(__file__).with_name(f"{script}.py").resolve(), "--alone"]
        subprocess.run(
            [*command, "--json", file, *words],
            check=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(root)},
            stdout=subprocess.DEVNULL,
        )
        tables = json.loads(file.read_text())
    for table in tables:
        if root not in Path(table["package"]).parents:
            raise SystemExit(f"expected the package of {root}, {table['package']} was imported")
    return {
        (table["title"], work, "times raw" if "PyGPU/raw" in row else table["unit"]): row.get(
            "PyGPU/raw", row["PyGPU"]
        )
        for table in tables
        for work, row in table["rows"].items()
        if "PyGPU" in row
    }


def best(runs):
    """{row: best figure of several runs}; what disturbs a process only makes it slower."""
    return {row: (max if row[2] == "GB/s" else min)(run[row] for run in runs) for row in runs[0]}


def compared(script, roots, rounds, words):
    """The rows of one script: both figures and how many times worse the new one is."""
    runs = {root: [] for root in roots}
    for number in range(rounds):
        for root in roots if number % 2 == 0 else roots[::-1]:
            runs[root].append(figures(script, root, words))
    old, new = (best(runs[root]) for root in roots)
    for (table, work, unit), after in new.items():
        before = old[table, work, unit]
        worse = before / after if unit == "GB/s" else after / before
        row = {"table": table, "work": work, "unit": unit, "old": before, "new": after}
        yield {**row, "times worse": worse}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=lambda root: Path(root).resolve())
    parser.add_argument("new", type=lambda root: Path(root).resolve())
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, default=SCRIPTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options, words = parser.parse_known_args()
    rows = []
    for script in options.only:
        title = None
        for row in compared(script, (options.old, options.new), options.rounds, words):
            if row["table"] != title:
                title = row["table"]
                print(f"\n{title} ({row['unit']})\n{'':34}{'old':>12}{'new':>12}{'worse':>9}")
            mark = "  <-- worse" if row["times worse"] > TOLERANCE else ""
            print(f"{row['work']:34}{row['old']:12.4g}{row['new']:12.4g}", end="")
            print(f"{row['times worse']:9.3f}{mark}", flush=True)
            rows.append(row)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))
    return any(row["times worse"] > TOLERANCE for row in rows)


if __name__ == "__main__":
    sys.exit(main())
