"""The example programs: what they print is what NumPy computes from the inputs that they print."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import PyGPU

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
OWN_TESTS = {"quickstart.py"}  # tests/test_quickstart.py


def output(name, folder):
    done = subprocess.run(
        [sys.executable, EXAMPLES / name],
        cwd=folder,
        env={**os.environ, "PYGPU_TARGET": PyGPU.target},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert list(folder.iterdir()) == []  # an example leaves nothing behind
    return done.stdout


def printed(text, label, shape):
    """The first array of that shape printed after the label."""
    found = re.findall(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?", text.split(label, 1)[1])
    size = int(np.prod(shape))
    assert len(found) >= size, (label, text)
    return np.array(found[:size], dtype=np.float64).reshape(shape)


def test_doublify(tmp_path):
    text = output("doublify.py", tmp_path)
    a = printed(text, "original:", (4, 4))
    assert len(np.unique(a)) == 16
    ways = ("by copies:", "by InOut:", "by a prepared call:", "by a GPUArray:", "by arithmetic:")
    for way in ways:
        np.testing.assert_allclose(printed(text, way, (4, 4)), 2 * a, rtol=1e-5, atol=1e-7)


def test_scale_array(tmp_path):
    text = output("scale_array.py", tmp_path)
    np.testing.assert_array_equal(printed(text, "* 2 =", 5), 2 * np.arange(1, 6))


def test_multiply_them(tmp_path):
    text = output("multiply_them.py", tmp_path)
    assert "400 of 400" in text
    assert "20 x 10: x * y at 200 elements" in text
    for dest, a, b, size in (
        ("dest[:3] =", "a[:3] =", "b[:3] =", 3),
        ("last row of x * y =", "last row of x =", "last row of y =", 10),
    ):
        expected = printed(text, a, size) * printed(text, b, size)
        np.testing.assert_allclose(printed(text, dest, size), expected, rtol=1e-4, atol=1e-6)


def test_double_structs(tmp_path):
    one, two = np.float32([1, 2, 3]), np.float32([0, 4])
    assert output("double_structs.py", tmp_path).splitlines() == [
        f"original arrays: {one} {two}",
        f"both doubled: {2 * one} {2 * two}",
        f"second doubled again: {2 * one} {4 * two}",
    ]


def test_double_op(tmp_path):
    text = output("double_op.py", tmp_path)
    np.testing.assert_array_equal(printed(text, "doubled ones:", (4, 5)), np.full((4, 5), 2))
    np.testing.assert_array_equal(
        printed(text, "ends with", 3), (2 * np.arange(1500, dtype=np.float32))[-3:]
    )


def test_sum_and_difference(tmp_path):
    text = output("sum_and_difference.py", tmp_path)
    x = np.arange(12).reshape(3, 4)
    y = 10 * x + 1
    for label, expected in (("x * y:", x * y), ("x + y:", x + y), ("x - y:", x - y)):
        np.testing.assert_array_equal(printed(text, label, (3, 4)), expected)


def test_strided_inputs(tmp_path):
    text = output("strided_inputs.py", tmp_path)
    x = np.arange(48).reshape(6, 8)
    y = np.arange(1, 13).reshape(4, 3)
    steps = r"x in steps of \((-?\d+), (-?\d+)\) bytes, y of \((-?\d+), (-?\d+)\)"
    assert [tuple(map(int, found)) for found in re.findall(steps, text)] == [
        (64, 8, 4, 12),
        (32, -4, -12, 4),
    ]
    first, second = text.split("backwards:")
    every_other = np.einsum("ij,ji->ij", x[0::2, 0::2], y)
    np.testing.assert_array_equal(printed(first, "x * y:", (3, 4)), every_other)
    backwards = np.flip(x[:4, :3], 1) * np.flip(y, 0)
    np.testing.assert_array_equal(printed(second, "x * y:", (4, 3)), backwards)


def test_strings(tmp_path):
    lines = output("strings.py", tmp_path).splitlines()
    assert lines[:4] == [
        "there and back: stuff",
        "upper-cased: STUFF",
        "|S7 array: stuff0 ... stuff19",
        "upper-cased: STUFF0 ... STUFF19",
    ]
    assert re.match("refused: .*'O'.*Python objects", lines[4])


def test_low_level(tmp_path):
    text = output("low_level.py", tmp_path)
    assert "cudaSetDevice(0): <cudaError: code=0>\n" in text
    assert "cudaGetDevice(): device 0, <cudaError: code=0>\n" in text
    assert "cudaSetDevice(10**6): <cudaError: code=101>\n" in text
    assert f"on the device: {np.arange(1, 7) ** 2}\n" in text
    assert "events: <cudaError: code=0>, time in order: True\n" in text
    assert "arrays: [1 2 3 4 5 6], complex128 (3, 3, 3), .ptr is an int\n" in text


@pytest.mark.no_device
def test_every_example_is_tested_listed_and_says_what_it_shows():
    names = {path.name for path in EXAMPLES.glob("*.py")}
    tested = {
        name[len("test_") :] + ".py" for name in globals() if name.startswith("test_")
    } & names
    assert tested | OWN_TESTS == names
    listed = set(re.findall(r"\]\((\w+\.py)\)", (EXAMPLES / "README.md").read_text()))
    assert listed == names
    for name in names:
        first = (EXAMPLES / name).read_text().splitlines()[0]
        assert re.match(r'""".{20,}', first), name
