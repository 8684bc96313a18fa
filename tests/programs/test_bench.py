"""python -m PyGPU bench: every row is right, what it finds is complete, bad input is told."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU._tools import bench as command
from PyGPU._tools import bench_libraries as libraries
from PyGPU._tools import bench_results, measuring
from PyGPU._tools import bench_suite as suite
from PyGPU._tools import bench_table as table
from PyGPU._tools.bench_suite import Wrong, check
from PyGPU._tools.bench_table import Work

#: The least that can be measured: one call of each row, small arrays.
LEAST = suite.Settings(12, samples=2, sample=0.0, budget=60.0)


@pytest.fixture(scope="module")
def found():
    """All rows, beside NumPy where the target is the host."""
    return suite.run(LEAST, with_peers=PyGPU.target == "host")


def with_rows(monkeypatch, *works):
    """The table has these lines alone."""
    monkeypatch.setattr(table, "WORKS", {"some": list(works)})
    monkeypatch.setattr(table, "_SIZES", ())
    monkeypatch.setattr(command, "_settings", lambda options: LEAST)


def bench(*arguments, expect=0, **environment):
    """The command, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "PyGPU", "bench", *map(str, arguments)],
        env={**os.environ, "PYGPU_TARGET": PyGPU.target, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done


# All rows.


@pytest.mark.no_device
def test_memory_is_what_is_read_and_written():
    n = 1 << 12
    rows = [row for row in table.rows(n, 256) if row.kind == "big" and row.dtype == "float32"]
    found = {row.name: row.nbytes for row in rows}
    assert found["a + b"] == 12 * n
    assert found["a > 0.9"] == 5 * n
    for axis, totals in [(0, 4), (1, n // 4)]:
        assert found[f"tall.sum(axis={axis})"] == pytest.approx(4 * (n + totals), rel=0.01)
        assert found[f"wide.sum(axis={axis})"] == pytest.approx(4 * (n + n // totals), rel=0.01)


@pytest.mark.campaign
def test_every_row_runs_and_is_right(found):
    failed = {row["name"]: row["errors"] for row in found["rows"] if row["errors"]}
    assert failed == {} and found["summary"]["wrong"] == []
    libraries = {"PyGPU", "NumPy"} if PyGPU.target == "host" else {"PyGPU"}
    for row in found["rows"]:
        assert row["seconds"].keys() == libraries == row["speed"].keys(), row["name"]
        for one in row["seconds"].values():
            assert 0 < one["min"] <= one["median"] <= one["max"]
            assert {"p10", "p90"} < one.keys()
            assert one["samples"] == LEAST.samples
        assert row["limit"] > 0 and row["of limit"] > 0
        assert (row["peer"], row["of peer"] is None) == (
            ("NumPy", False) if PyGPU.target == "host" else (None, True)
        )


@pytest.mark.campaign
def test_there_are_as_many_rows_as_promised(found):
    kinds = [row["kind"] for row in found["rows"]]
    assert kinds.count("big") >= 122 and kinds.count("small") >= 70
    dtypes = {row["dtype"] for row in found["rows"] if row["name"] == "a + b"}
    assert dtypes == {"float32", "float64", "float16", "int32", "int64", "int8", "complex64"}
    labels = [bench_results.label(row) + str(row["n"]) for row in found["rows"]]
    assert len(set(labels)) == len(labels)


@pytest.mark.campaign
def test_what_is_found_can_be_kept_as_json(found):
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["machine"]["target"] == PyGPU.target
    assert found["machine"]["device"]["name"] == PyGPU.cudaDeviceProp(0).name()
    assert found["machine"]["versions"]["NumPy"] == np.__version__
    assert all(found["limits"][kind]["GB/s"] > 0 for kind in ("copy", "add"))
    assert found["limits"]["launch"]["us"] > 0


@pytest.mark.campaign
def test_the_table_shows_every_row(found):
    lines = bench_results.text(found).splitlines()
    for row in found["rows"]:
        assert any(line.split() and row["name"] in line and row["dtype"] in line for line in lines)
    assert any(line.startswith("raw limits: copy") for line in lines)


@pytest.mark.campaign
def test_the_picture_has_the_rows(found, tmp_path):
    needs.module("matplotlib")
    bench_results.require_plot(tmp_path / "rows.png")
    bench_results.plot(found, tmp_path / "rows.png")
    assert (tmp_path / "rows.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match=r"rows\.text.*expected a name that ends in \.\w+"):
        bench_results.require_plot(tmp_path / "rows.text")


@pytest.mark.campaign
def test_other_dtypes_are_measured_where_numpy_has_them(monkeypatch, capsys):
    some = LEAST._replace(dtypes=("int16", "bool", "float32"))
    wrong = Work("a.sum()", 1, "int32", PyGPU="a.max()")
    with_rows(monkeypatch, Work("a - b", 3), Work("a & b", 3, "int32"), wrong)
    monkeypatch.setattr(command, "_settings", lambda options: some)
    assert command.main(["--dtypes", "int16,bool,float32"]) == 0
    found = suite.run(some, with_peers=False)
    measured = {(row["kind"], row["name"], row["dtype"]): row for row in found["rows"]}
    for kind in ("big", "small"):
        assert {key[1:] for key in measured if key[0] == kind} == {
            *{("a - b", "int16"), ("a & b", "int16"), ("a.max()", "int16")},  # not a - b of bools
            *{("a & b", "bool"), ("a.max()", "bool"), ("a - b", "float32"), ("a.max()", "float32")},
        }
    # Results of other dtypes may differ from NumPy's: no failure, and no speed.
    other = measured["big", "a.max()", "bool"]
    assert "Wrong: expected" in other["errors"]["PyGPU"] and "PyGPU" not in other["seconds"]
    assert measured["big", "a - b", "float32"]["own"] and not other["own"]
    assert "PyGPU: Wrong" in capsys.readouterr().out and found["summary"]["wrong"] == []


# What fails.


def test_wrong_results_are_told(monkeypatch, capsys):
    with_rows(monkeypatch, Work("a + b", 3, PyGPU="a + a", sizes="big"), Work("a - b", 3))
    assert command.main([]) == 1
    printed = capsys.readouterr().out
    assert "PyGPU: Wrong: expected" in printed and "wrong results or failures: 1 rows" in printed
    assert "a - b" in printed


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (Work("a[1:]", 1, PyGPU="a"), r"expected the shape \[\(4095,\)\], got \[\(4096,\)\]"),
        (Work("a + b", 1, "int8", PyGPU="a + b + 1"), "4096 of 4096 elements differ"),
        (Work("c[::2] = 0", 1, PyGPU="c.fill(0)"), "expected 1.0 at .1., got 0.0; 2048 of 4096"),
        (Work("divmod(a, b)", 1, PyGPU="(a // b, a)"), "elements differ"),
        (Work("c.fill(2)", 1, "float16", PyGPU="c.fill(2.25)"), "expected 2.0"),
        (Work("generator.random(n)", 1, PyGPU="rand(n) + 1", check="moments"), "expected mean"),
    ],
)
def test_a_result_is_wrong_in_shape_or_value(work, reason):
    with pytest.raises(Wrong, match=reason):
        check(work, libraries.ours(), work.dtypes)


def test_a_row_that_fails_does_not_end_the_run(monkeypatch, capsys):
    with_rows(monkeypatch, Work("a + b", 3, PyGPU="a.no_such_thing()"), Work("a - b", 3))
    assert command.main([]) == 1
    printed = capsys.readouterr().out
    assert "PyGPU: AttributeError" in printed and "a - b" in printed


def test_want_of_memory_is_no_failure(monkeypatch, capsys):
    with_rows(monkeypatch, Work("zeros(n, dtype)", 1, PyGPU="zeros(n << 40, dtype)"))
    assert command.main([]) == 0
    assert "PyGPU: MemoryError" in capsys.readouterr().out


def test_a_peer_that_lacks_something_is_told(monkeypatch, capsys):
    numpy = libraries.numpy()
    peer = libraries.Library(**{**vars(numpy), "name": "torch"})
    monkeypatch.setattr(suite, "peers", lambda: ([peer], {"CuPy": "No module named 'cupy'"}))
    lines = Work("a + b", 3, torch="no_such_thing(a)"), Work("a - b", 3, torch=None)
    with_rows(monkeypatch, *lines, Work("a * b", 3))
    assert command.main(["--peers"]) == 0
    printed = capsys.readouterr().out
    assert "torch: NameError: torch has no no_such_thing" in printed
    assert "without CuPy: No module named 'cupy'" in printed


# Figures.


def test_figures_have_known_answers():
    row = table.Row("some", "a + b", Work("a + b", 3), "float32", "big", 1 << 20)
    seconds = {"PyGPU": {"median": 1e-3}, "CuPy": {"median": 2e-3}, "torch": {"median": 4e-3}}
    found = bench_results.compared(row, seconds, 0.5e-3)
    nbytes = 3 * 4 << 20
    assert found["speed"] == {
        name: pytest.approx(nbytes / one["median"] / 1e9) for name, one in seconds.items()
    }
    assert (found["of limit"], found["peer"], found["of peer"]) == (0.5, "CuPy", 2.0)
    small = bench_results.compared(row._replace(kind="small"), seconds, 0.5e-3)
    assert small["speed"]["torch"] == pytest.approx(4000) and small["limit"] == pytest.approx(500)


def test_means_are_geometric_and_slow_rows_are_listed():
    row = {"kind": "big", "dtype": "int8", "own": True, "errors": {}, "of limit": None}
    rows = [{**row, "name": name, "of peer": one} for name, one in zip("abcd", (4, 1, 0.96, 0.98))]
    found = bench_results.summarized([*rows, {**row, "name": "e", "of peer": None}])
    mean = (4 * 0.96 * 0.98) ** 0.25
    assert found["means"] == {"big": {"rows": 5, "of limit": None, "of peer": pytest.approx(mean)}}
    assert found["behind"] == {"big: c, int8": 0.96}


def test_samples_are_summarized():
    found = measuring.summary([float(one) for one in range(11)])
    assert (found["median"], found["p10"], found["p90"], found["samples"]) == (5, 1, 9, 11)
    assert measuring.summary([3.0])["p90"] == 3


def test_candidates_take_turns():
    order = []
    found = measuring.interleaved(
        2,
        {name: lambda name=name: order.append(name) or len(order) for name in "ab"},
        lambda: order.append("wait"),
    )
    assert order == ["wait", "a", "wait", "b"] * 2 + ["wait"]
    assert found == {"a": [2, 6], "b": [4, 8]}


@pytest.mark.parametrize("n", [256, 512, 4096, 1 << 15])
def test_indices_are_a_permutation(n):
    assert sorted(libraries._shuffled(n)) == list(range(n))


# The command.


def test_the_command_prints_and_writes(tmp_path):
    file = tmp_path / "found.json"
    peers = ["--peers"] if PyGPU.target == "host" else []  # others have much to say when loaded
    done = bench("--quick", "--exponent", 12, "--only", "a + b", "--json", file, *peers)
    assert done.stderr == ""  # progress is for terminals
    found = json.loads(file.read_text())
    names = {(row["kind"], row["name"], row["dtype"]) for row in found["rows"]}
    assert ("big", "a + b", "complex64") in names and ("small", "a + b", "float32") in names
    assert {"machine", "settings", "limits", "rows", "summary"} == found.keys()
    assert bench_results.text(found) == done.stdout.rstrip("\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fast"], "unrecognized arguments: --fast"),
        (["fast"], "unrecognized arguments: fast"),
        (["--exponent", "8"], "expected an integer from 12 to 31, got '8'"),
        (["--exponent", "many"], "expected an integer from 12 to 31, got 'many'"),
        (["--json", "/no/such/folder/f.json"], "cannot write '/no/such/folder/f.json': No such"),
        (["--plot", "/"], "cannot write '/': Is a directory"),
        (["--only", "no such row"], "no row has this text in its group"),
        (["--dtypes", "int8,str"], "--dtypes='str': expected some of float32, float64"),
    ],
)
def test_bad_input_is_told(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        command.main(arguments)
    assert stopped.value.code == 2
    printed = capsys.readouterr()
    assert message in printed.err and printed.out == ""


def test_without_matplotlib_the_extra_is_named(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not here')")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    done = bench("--plot", tmp_path / "p.png", expect=2, PYTHONPATH=path)
    assert "pip install 'PyGPU[plot]'" in done.stderr
    assert not (tmp_path / "p.png").exists()


@pytest.mark.no_device
def test_without_a_device_nothing_is_measured(monkeypatch, capsys):
    status = PyGPU.cudaError_t(PyGPU.cudaErrorNoDevice)
    monkeypatch.setattr(
        command, "core", SimpleNamespace(cuda_enabled=True, cudaGetDeviceCount=lambda: (0, status))
    )
    with pytest.raises(SystemExit) as stopped:
        command.main([])
    assert stopped.value.code == 2
    assert (
        f"the target {PyGPU.target} has no device: {status.name} (100)" in capsys.readouterr().err
    )


@pytest.mark.no_device
def test_an_import_does_not_load_it(python):
    program = "import sys\nfrom PyGPU import cumath, gpuarray, scan\n"
    python(program + "assert not [m for m in sys.modules if '_tools' in m]")
