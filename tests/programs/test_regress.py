"""benchmarks/regress.py: what it reads from callgrind, and when it fails."""

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import PyGPU

pytestmark = pytest.mark.no_device

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "regress.py"
# Two functions of one object; the first calls one of another, whose 900 are not its own.
PROFILE = """desc: Trigger: Client Request: a + b
positions: line
events: Ir
fl=(1) ???
ob=(1) /x/_host.so
fn=(1) first
0 10
cob=(2) /x/libc.so
cfn=(2) malloc
calls=3 0
0 900
+1 5
fn=(3) second
* 7

ob=(2)
fn=(2)
0 900
ob=(1)
fn=(4) third
-2 1
totals: 923
"""


@pytest.fixture
def regress(tmp_path, monkeypatch):
    """The script, whose calls cost what its `costs` say, with a baseline of 100 instructions."""
    spec = importlib.util.spec_from_file_location("regress", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.costs = {"a + b": {"instructions": 100.0, "functions": 0}}
    module = tmp_path / "module.so"
    module.write_bytes(b"\0GCC: (Debian 12.2.0-14) 12.2.0\0")
    monkeypatch.setattr(script, "count", lambda: (script.costs, module))
    monkeypatch.setattr(script, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(script, "shutil", SimpleNamespace(which=lambda name: name))
    monkeypatch.setattr("sys.argv", ["regress.py", "--write"])
    assert script.main() == 0
    monkeypatch.setattr("sys.argv", ["regress.py"])
    return script


def test_a_profile_is_read(regress):
    assert regress.self_costs(PROFILE) == {"/x/_host.so": 23, "/x/libc.so": 900}


@pytest.mark.parametrize(
    ("instructions", "functions", "status"), [(100, 0, 0), (109, 0, 0), (111, 0, 1), (50, 1, 1)]
)
def test_growth_fails(regress, capsys, instructions, functions, status):
    regress.costs = {"a + b": {"instructions": instructions, "functions": functions}}
    assert regress.main() == status
    assert ("more than 10 % dearer: a + b" in capsys.readouterr().out) == bool(status)


def test_a_call_without_a_baseline_fails(regress, capsys):
    regress.costs = {**regress.costs, "a - b": {"instructions": 1.0, "functions": 0}}
    assert regress.main() == 1
    assert "not in baseline.json: a - b" in capsys.readouterr().out


def test_another_compiler_is_only_shown(regress, capsys):
    baseline = json.loads(regress.BASELINE.read_text())
    assert baseline["made with"]["compiler"] == "g++ 12"
    baseline["made with"]["compiler"] = "g++ 14"
    regress.BASELINE.write_text(json.dumps(baseline))
    regress.costs = {"a + b": {"instructions": 1000.0, "functions": 9}}
    assert regress.main() == 0
    assert "only shown: the baseline was made with" in capsys.readouterr().out


def test_the_functions_that_a_call_enters_are_counted(regress):
    package = str(Path(PyGPU.__file__).parent)
    assert regress.functions_entered(lambda: None, package) == 0
    assert regress.functions_entered(PyGPU.get_include, package) >= 1


@pytest.mark.skipif(PyGPU.target != "host", reason="the calls are those of the host machine")
def test_the_baseline_has_every_hot_call(regress):
    written = json.loads(SCRIPT.with_suffix(".json").read_text())
    assert written["calls"].keys() == regress.hot_calls().keys()
    assert all(one["instructions"] > 100 for one in written["calls"].values())
