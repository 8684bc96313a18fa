"""The command doctor in a process of its own, and made-up folders for its checks."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU


def _path():
    """Return a PYTHONPATH that finds PyGPU from any folder, installed or not."""
    package = Path(PyGPU.__file__).parent
    return os.pathsep.join(filter(None, [str(package.parent), os.environ.get("PYTHONPATH")]))


def doctor(*arguments, expect=0, before="", **environment):
    """The findings of a process of its own, on the target host."""
    words = shlex.join([sys.executable, "-m", "PyGPU", "doctor", "--json", *arguments])
    apart = ["unshare", "--mount"] if "mount " in before else []
    done = subprocess.run(
        [*apart, "/bin/sh", "-c", f"{before} exec {words}"],
        env={**os.environ, "PYTHONPATH": _path(), "PYGPU_TARGET": "host", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(done.stdout)


def faults(rows):
    """The findings that are not OK; each has a remedy."""
    found = [row for row in rows if row["state"] != "OK"]
    assert all(row["remedy"] for row in found)
    return found


def the_fault(rows):
    (row,) = faults(rows)
    return row


def made(folder, *paths):
    """Make empty files below a folder, and return the folder."""
    for path in paths:
        file = folder / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return str(folder)


def _require_mounts():
    """Skip the test where this user may not mount."""
    own = ["unshare", "--mount", "/bin/sh", "-c"]
    try:
        done = subprocess.run([*own, "mount -t tmpfs none /mnt"], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("needs the program unshare")
    if done.returncode:
        pytest.skip(f"needs the right to mount: {done.stderr.strip()}")


def mounted(options, folder):
    """The words of a shell that mount a file system, such as ``tmpfs -o size=1M``, for ``before``.

    The test is skipped where this user may not mount.
    """
    _require_mounts()
    kind, _, others = options.partition(" ")
    return f"mount -t {kind} {others} none {shlex.quote(str(folder))};"


def read_only(folder):
    """The words of a shell that make a folder read-only, for ``before``. Its files stay visible,
    also those of file systems that are mounted in it.

    The test is skipped where this user may not mount.
    """
    _require_mounts()
    return f"mount --rbind {folder} {folder}; mount -o remount,ro,bind {folder};"
