"""The commands of `python -m PyGPU`, and the script `pygpu` that runs the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU
from PyGPU import __main__

pytestmark = pytest.mark.no_device

SCRIPT = "import sys\nfrom PyGPU.__main__ import main\nsys.exit(main())\n"


@pytest.fixture
def script(tmp_path):
    """Return the path of the script, in a folder of its own."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pygpu").write_text(SCRIPT)
    return str(tmp_path / "bin" / "pygpu")


@pytest.fixture
def pygpu(script, tmp_path):
    """The script, run in another folder: pygpu(*words)."""
    (tmp_path / "here").mkdir()

    def run(*words, expect=0, **environment):
        done = subprocess.run(
            [sys.executable, script, *words],
            env={**os.environ, "PYGPU_TARGET": PyGPU.target, **environment},
            cwd=tmp_path / "here",
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done

    return run


def test_the_installation_has_the_script():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert '[project.scripts]\npygpu = "PyGPU.__main__:main"\n' in text


def test_the_help_has_a_line_and_an_example_of_each_command(pygpu):
    lines = pygpu("--help").stdout.splitlines()
    for name, command in __main__.COMMANDS.items():
        at = next(i for i, line in enumerate(lines) if line.startswith(f"  {name:8}"))
        assert lines[at].endswith(command.meaning)
        assert lines[at + 1].strip() == f"pygpu {name} {command.example}".strip()


@pytest.mark.parametrize("name", [name for name in __main__.COMMANDS if name != "cxx"])
def test_the_help_of_a_command_teaches(name, script, monkeypatch, capsys):
    """The help explains the command and shows command lines that the parser accepts."""

    def help_of(script):
        if name in ("run", "debug"):  # which change their process
            command = [sys.executable, script, name, "--help"]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout
        monkeypatch.setattr(sys, "argv", [script, name, "--help"])
        with pytest.raises(SystemExit) as stopped:
            __main__.main()
        assert not stopped.value.code
        return capsys.readouterr().out

    monkeypatch.setenv("COLUMNS", "80")
    help_text = help_of(script)
    usage, _, rest = help_text.partition("\n\n")
    assert usage.startswith(f"usage: pygpu {name} [")
    description, _, examples = rest.partition("\nexamples:\n")
    assert len(description.split()) > 25
    lines = examples.splitlines()
    assert len(lines) >= 4 and len(lines) % 2 == 0
    for meaning, words in zip(lines[::2], lines[1::2]):
        assert meaning.startswith("  # ") and words.split()[:2] == ["pygpu", name]
    assert max(map(len, help_text.splitlines())) <= 79
    shown = help_of(__main__.__file__)
    assert f"  python -m PyGPU {name}" in shown and "pygpu " not in shown


def test_the_help_of_info_is_its_own(pygpu):
    assert "examples:" in pygpu("info", "--help").stdout
    assert "commands, with an example of each" in pygpu("--help").stdout


def test_the_debugger_is_explained(pygpu):
    text = pygpu("debug", "--help").stdout
    assert "gdb --args" in text and text != pygpu("run", "--help").stdout


def test_the_facts_are_a_command_too(pygpu):
    text = pygpu().stdout
    assert f"target in use: {PyGPU.target}" in text and pygpu("info").stdout == text
    assert pygpu("--version").stdout == pygpu("info", "--version").stdout


def test_show_config_prints_what_info_prints(pygpu, python):
    assert python("import PyGPU\nPyGPU.show_config()").stdout == pygpu("info").stdout


def test_a_command_that_is_not_there(pygpu):
    message = pygpu("infos", expect=2).stderr
    assert "'infos': no such command; expected one of info, doctor, run" in message


@pytest.mark.parametrize("name", ["bench", "doctor", "report"])
def test_a_command_whose_part_is_not_installed(name):
    program = f"""
import sys
from PyGPU._runtime import parts
parts.explain_missing(["runtime", "kernels"])
sys.argv[:] = ["pygpu", "{name}"]
from PyGPU.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    *_, message = done.stderr.splitlines()  # a warning of the target may stand before it
    assert message.startswith("pygpu: PyGPU._tools: ") and "Traceback" not in done.stderr
    assert "PYGPU_PARTS=runtime,kernels,tools pip install" in message


def test_an_error_before_the_command_has_no_traceback(pygpu):
    message = pygpu("info", expect=1, PYGPU_TARGET="metal").stderr
    assert "expected one of cuda, hip, host" in message and "Traceback" not in message


PROGRAM = """
import sys
from pycuda import driver
print(sys.argv, sys.path[0])
raise KeyError("mine")
"""


@pytest.mark.parametrize("words", [["run", "mine.py"], ["run", "-m", "mine"], ["debug", "mine.py"]])
def test_a_program(pygpu, tmp_path, words):
    here = tmp_path / "here"
    (here / "mine.py").write_text(PROGRAM)
    done = pygpu(*words, "a", expect=1)
    own = str(here / "mine.py") if "-m" in words else "mine.py"
    assert done.stdout == f"{[own, 'a']} {here}\n"
    assert "KeyError: 'mine'" in done.stderr and "pygpu" not in done.stderr.lower()


def test_the_debugger_has_its_options(pygpu, tmp_path):
    program = "from PyGPU._runtime import state\nprint(state.debugging)\n"
    (tmp_path / "here" / "mine.py").write_text(program)
    assert pygpu("debug", "mine.py").stdout == "True\n"
    assert pygpu("run", "mine.py").stdout == "False\n"


def test_the_status_of_a_command(pygpu):
    assert pygpu("doctor", "--only", "target").stdout.endswith("0 FAIL\n")
    assert (
        "PYGPU_HOST_CXX"
        in pygpu("doctor", "--only", "compilers", "--json", expect=1, **NONE).stdout
    )


NONE = {"PYGPU_TARGET": "host", "PYGPU_HOST_CXX": "/none/g++"}
