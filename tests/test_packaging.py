"""Extensions of a wheel, and the version, which is written in one place."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU

ROOT = Path(__file__).resolve().parents[1]
PROJECT = (ROOT / "pyproject.toml").read_text()
SETUP = """
import runpy, setuptools
setuptools.setup = lambda ext_modules, **_: print(
    *((one.name, dict(one.define_macros).get("PYGPU_MODULE"), *one.extra_objects,
       *one.runtime_library_dirs) for one in ext_modules), sep="\\n"
)
runpy.run_path("setup.py")
"""


def setup(**environment):
    """Return the exit status and the output of setup.py: its extensions, or an error."""
    pytest.importorskip("pybind11")
    done = subprocess.run(
        [sys.executable, "-c", SETUP],
        cwd=ROOT,
        env={**os.environ, "PYBIND_GPU_TARGET": "wheel", **environment},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def cuda(tmp_path):
    """A folder with the files of CUDA that setup.py looks for."""
    return made(tmp_path / "cuda", "libcudart_static.a", "cuda_runtime.h", "crt/host_config.h")


def made(root, library, *headers):
    for name in (f"lib/{library}", *(f"include/{header}" for header in headers)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def hip(root, major):
    """A folder with the files of HIP that setup.py looks for."""
    made(root, "libamdhip64.so", "hip/hip_runtime_api.h", "hip/hip_version.h")
    text = f"#define HIP_VERSION_MAJOR {major}\n#define HIP_VERSION_MINOR 1\n"
    (root / "include" / "hip" / "hip_version.h").write_text(text)
    return str(root)


def test_a_wheel_has_a_module_for_each_version_of_hip(tmp_path, cuda):
    roots = [hip(tmp_path / name, major) for name, major in (("a", 5), ("b", 7))]
    # ROCM_PATH counts for the target hip of a build from source, not for these folders.
    status, said = setup(
        CUDA_HOME=str(cuda), CUDA_PATH="", PYGPU_HIP_ROOTS=":".join(roots), ROCM_PATH="/typo"
    )
    assert status == 0, said
    assert [line for line in said.splitlines() if "_hip" in line] == [
        f"('PyGPU._hip5', '_hip5', '{roots[0]}/lib/libamdhip64.so')",
        f"('PyGPU._hip7', '_hip7', '{roots[1]}/lib/libamdhip64.so')",
    ]
    assert f"('PyGPU._cuda', '_cuda', '{cuda}/lib/libcudart_static.a')" in said
    assert "('PyGPU._host', '_host')" in said


def test_a_wheel_without_a_part_is_an_error(tmp_path, cuda):
    known = {"CUDA_HOME": str(cuda), "CUDA_PATH": ""}
    status, said = setup(**known, PYGPU_HIP_ROOTS="")
    assert status == 1 and "not found: the variable PYGPU_HIP_ROOTS" in said
    status, said = setup(**known, PYGPU_HIP_ROOTS=f"{tmp_path}/nowhere")
    assert status == 1 and f"in one of {tmp_path}/nowhere" in said
    roots = f"{hip(tmp_path / 'a', 6)}:{hip(tmp_path / 'b', 6)}"
    status, said = setup(**known, PYGPU_HIP_ROOTS=roots)
    assert status == 1 and f"PYGPU_HIP_ROOTS='{roots}': two folders have HIP 6" in said
    status, said = setup(CUDA_HOME="/typo", CUDA_PATH="", PYGPU_HIP_ROOTS=roots)
    assert status == 1 and "CUDA_HOME='/typo': there is no such folder" in said


def test_the_version_is_written_in_one_place():
    """The others read it, apart from CITATION.cff, which no program makes."""
    (version,) = re.findall(r'^version = "(.+)"$', PROJECT, re.M)
    assert PyGPU.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    own = re.compile(rf"(?<![\d.]){re.escape(version)}(?![\d.])")
    for path in [*ROOT.glob("PyGPU/**/*.py"), *ROOT.glob("docs/*.py"), ROOT / "setup.py"]:
        assert not own.search(path.read_text("utf-8")), path


def test_each_python_that_is_tried_has_a_classifier():
    """pyproject.toml has a classifier for each Python that .ci/wheels names."""
    script = (ROOT / ".ci" / "wheels").read_text()
    tried = {f"3.{minor}" for minor in re.findall(r"python3\.(\d+)", script)}
    assert tried, "the script names no Python"
    stated = set(re.findall(r"Python :: (3\.\d+)\"", PROJECT))
    assert tried <= stated
