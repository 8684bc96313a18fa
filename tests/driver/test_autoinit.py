"""PyGPU.autoinit, autoprimaryctx and tools.make_default_context: which device, and how it ends."""

import pytest
from campaign import rare_but

import PyGPU
import PyGPU.driver as drv
from PyGPU import tools
from PyGPU._runtime import settings

MODULES = ("autoinit", "autoprimaryctx")
TWO = {"PYGPU_TARGET": "host", "PYGPU_HOST_DEVICES": 2}
ASK = """
import os
for name in ("PYGPU_DEVICE", "CUDA_DEVICE"):
    if os.environ.get(name) == "unset":
        del os.environ[name]
from PyGPU.driver import Context
"""
CHOSEN = ASK + "import PyGPU.autoinit\nprint(int(Context.get_device()))"


@pytest.fixture
def chosen(python, tmp_path):
    """The device that autoinit picks, given the environment and files in the home folder."""

    def ask(files=None, **environment):
        for name, text in (files or {}).items():
            (tmp_path / name).write_text(text)
        variables = {"HOME": tmp_path, "PYGPU_DEVICE": "unset", "CUDA_DEVICE": "unset", **TWO}
        done = python(CHOSEN, **{**variables, **environment})
        assert done.stderr == ""
        return done.stdout.strip()

    return ask


def test_the_first_device_by_default(chosen):
    assert chosen() == "0"


@pytest.mark.parametrize("name", ["PYGPU_DEVICE", "CUDA_DEVICE"])
def test_the_environment_chooses(chosen, name):
    assert chosen(**{name: "1"}) == "1"


def test_our_variable_wins(chosen):
    assert chosen(PYGPU_DEVICE="1", CUDA_DEVICE="0") == "1"


@pytest.mark.parametrize("name", [".cuda_device", ".cuda-device"])
def test_a_file_chooses(chosen, name):
    assert chosen({name: "1\n"}) == "1"


def test_the_environment_comes_before_the_file(chosen):
    assert chosen({".cuda_device": "1"}, CUDA_DEVICE="0") == "0"


@pytest.mark.parametrize("name", ["PYGPU_DEVICE", "CUDA_DEVICE"])
def test_bad_choices(monkeypatch, name):
    monkeypatch.delenv("PYGPU_DEVICE", raising=False)
    monkeypatch.setattr(settings, "_reported", set())
    for text in ("two", "1.5", "-1"):
        monkeypatch.setenv(name, text)
        with pytest.warns(PyGPU.SettingWarning, match=f"{name}='{text}'"):
            tools.make_default_context().pop()
    monkeypatch.setenv(name, "99")
    with pytest.raises(drv.LogicError, match="99"):
        tools.make_default_context()


def test_makers_of_contexts(python):
    python(
        ASK
        + """
from PyGPU.driver import Device, Error, LogicError
from PyGPU.tools import make_default_context
tried = []
def maker(device):
    tried.append(device)
    if device == Device(0):
        raise LogicError("not this one")
    return device.make_context()
context = make_default_context(ctx_maker=maker)
assert tried == [Device(0), Device(1)] and Context.get_device() == Device(1)
context.pop()

def refuse(device):
    raise LogicError("I make none")
try:
    make_default_context(refuse)
    raise SystemExit("no error")
except RuntimeError as error:
    assert isinstance(error, Error) and "I make none" in str(error), error
""",
        PYGPU_DEVICE="unset",
        CUDA_DEVICE="unset",
        **TWO,
    )


def test_an_error_of_the_makers_own_is_not_swallowed():
    def broken(device):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        tools.make_default_context(broken)


def test_the_old_way_to_a_device(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PYGPU_DEVICE", raising=False)
    monkeypatch.delenv("CUDA_DEVICE", raising=False)
    with pytest.warns(DeprecationWarning):
        assert tools.get_default_device() == drv.Device(0)
    with pytest.warns(DeprecationWarning), pytest.raises(drv.LogicError):
        tools.get_default_device(default=99)
    monkeypatch.setenv("PYGPU_DEVICE", "0")
    with pytest.warns(DeprecationWarning):
        assert tools.get_default_device(99) == drv.Device(0)


# The modules.


@pytest.mark.parametrize("module", MODULES)
def test_what_they_have(python, module):
    done = python(f"""
import PyGPU.{module} as auto
import PyGPU.driver as drv
import PyGPU.{module}
assert isinstance(auto.device, drv.Device) and isinstance(auto.context, drv.Context)
assert drv.Context.get_current() == auto.context and auto.context.get_device() == auto.device
assert auto.cuda is drv
auto.context.synchronize()
auto.context.push()
auto.context.pop()
assert drv.Context.get_current() == auto.context
memory = drv.mem_alloc(100)
""")
    assert done.stdout == done.stderr == ""


ENDS = {
    "at once": "",
    "after pop": "auto.context.pop()",
    "after detach": "auto.context.detach()",
    "after another context": "drv.Device(0).make_context()",
    "with another context popped": "auto.context.pop(); drv.Device(0).make_context().pop()",
    "with memory": "import numpy; m = drv.mem_alloc(100); p = drv.pagelocked_empty(9, numpy.int8)",
    "with a cycle": "a = [drv.Stream(), drv.Event(), drv.mem_alloc(9)]; a.append(a)",
    "in a thread": "import threading; t = threading.Thread(target=auto.context.push); "
    "t.start(); t.join()",
    "while another module goes": "import atexit; atexit.register(lambda: drv.mem_alloc(9).free())",
}


@pytest.mark.parametrize(
    ("module", "end"),
    rare_but(
        [*(("autoinit", end) for end in list(ENDS)[2:]), ("autoprimaryctx", "after pop")],
        [(module, end) for module in MODULES for end in ENDS],
    ),
)
def test_programs_end_in_silence(python, module, end):
    done = python(f"import PyGPU.{module} as auto, PyGPU.driver as drv\n{ENDS[end]}")
    assert done.returncode == 0 and done.stdout == done.stderr == ""


@pytest.mark.parametrize("module", MODULES)
def test_the_exit_status_stays(python, module):
    done = python(f"import PyGPU.{module}; raise SystemExit(3)", expect=3)
    assert done.stderr == ""


def test_both_modules_and_a_context_of_ones_own(python):
    done = python("""
import PyGPU.autoinit, PyGPU.autoprimaryctx, PyGPU.driver as drv
assert PyGPU.autoinit.context == PyGPU.autoprimaryctx.context
mine = drv.Device(0).make_context()
mine.pop()
assert drv.Context.get_current() == PyGPU.autoinit.context
""")
    assert done.stderr == ""


def test_the_exit_hook_forgets_the_context(python):
    done = python("""
import atexit
import PyGPU.autoinit as auto
atexit.unregister(auto._finish_up)
auto._finish_up()
assert auto.context is None and auto.cuda.Context.get_current() is None
auto._finish_up()
""")
    assert done.stderr == ""


@pytest.mark.no_device
@pytest.mark.skipif(PyGPU.target == "host", reason="the host machine always has a device")
def test_without_a_device(python):
    done = python("import PyGPU.autoinit", expect=1, CUDA_VISIBLE_DEVICES="-1")
    assert "RuntimeError" in done.stderr.strip().splitlines()[-1]
