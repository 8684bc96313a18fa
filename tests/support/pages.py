"""Pages of Markdown whose code blocks run, in their order and in one namespace.

A block is run by its fence:

- ``python``: executed; the block ``text`` that follows it is its output, with ``...`` for any text;
- ``sh run``: executed by bash, with ``python`` as this interpreter; a block ``text`` as above;
- ``cpp`` whose first line is ``// name``: written to the file ``name``.

Other blocks are not run. A comment ``<!-- environment: NAME=value -->`` sets a variable of the
process that runs the page.
"""

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```([^\n`{]+)\n(.*?)^```$", re.M | re.S)
ENVIRONMENT = re.compile(r"<!-- environment: (\w+)=(\S+) -->")
CHECKER = doctest.OutputChecker()
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(path):
    """Return [(fence, text, line)] of a page."""
    page = path.read_text("utf-8")
    return [
        (match[1].strip(), match[2], page.count("\n", 0, match.start()) + 2)
        for match in FENCE.finditer(page)
    ]


def block_with(path, fence, part):
    """Return the only block with this fence that contains a text."""
    (found,) = [text for kind, text, _ in blocks(path) if kind == fence and part in text]
    return found


def environment(path):
    """Return {name: value} of the variables that a page sets."""
    return dict(ENVIRONMENT.findall(path.read_text("utf-8")))


def _python(text, file, line, names):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile("\n" * (line - 1) + text, file, "exec"), names)
    return output.getvalue()


def _shell(text):
    script = f'python() {{ "{sys.executable}" "$@"; }}\n{text}'
    done = subprocess.run(["bash", "-euc", script], capture_output=True, text=True)
    assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
    return done.stdout


def run(path, folder):
    """Run a page in a folder; raise AssertionError where an output is another."""
    path = Path(path)
    os.chdir(folder)
    names, each = {"__name__": "__main__"}, blocks(path)
    for position, (fence, text, line) in enumerate(each):
        block = f"{path.name}, line {line}"
        if fence == "cpp" and (name := re.match(r"// (\S+)\n", text)):
            Path(name[1]).write_text(text)
        if fence == "python":
            found = _python(text, str(path), line, names)
        elif fence == "sh run":
            found = _shell(text)
        else:
            continue
        if position + 1 < len(each) and each[position + 1][0] == "text":
            wanted = each[position + 1][1]
            same = CHECKER.check_output(wanted, found, OPTIONS)
            assert same, f"{block}: expected\n{wanted}\ngot\n{found}"
