"""Where the vendors' libraries and headers are looked for: every part of PyGPU finds the same."""

import ctypes
import os
import subprocess
import sys
import types
from pathlib import Path

import needs
import pytest

from PyGPU import errors
from PyGPU._compile.compilers import cuda, device_link, libraries, rtc
from PyGPU._random import curand
from PyGPU._runtime import toolkits

pytestmark = pytest.mark.no_device

TOOLKITS = {
    "nvrtc": ("nvcc", ("CUDA_PATH", "CUDA_HOME")),
    "hiprtc": ("hipcc", ("ROCM_PATH", "HIP_PATH")),
}


VARIABLES = [name for _, names in TOOLKITS.values() for name in names]


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """Nothing says where a toolkit is."""
    ours = ("PYGPU_NVRTC", "PYGPU_HIPRTC", "PYGPU_NVJITLINK")
    for name in (*VARIABLES, *ours, "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr("sys.path", [])
    monkeypatch.setattr("sys.prefix", str(tmp_path / "python"))
    for vendor in libraries.VENDORS.values():
        monkeypatch.setattr(vendor, "usual", ())
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)  # another test may have imported it
    monkeypatch.setattr(rtc, "_located", {})
    monkeypatch.setattr(rtc, "_loaded", {})
    device_link.nvjitlink.cache_clear()
    curand.library.cache_clear()
    yield tmp_path
    device_link.nvjitlink.cache_clear()
    curand.library.cache_clear()


def made(root, *files):
    """A folder with these files; those in bin are programs."""
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch(0o755 if "bin/" in file else 0o644)
    return root


def toolkit(root, program):
    """A folder that looks like a toolkit's."""
    return made(root, f"bin/{program}", "lib64/some.so", "include/some.h")


@pytest.mark.parametrize("prefix", TOOLKITS)
def test_a_toolkit_on_the_path(prefix, bare, monkeypatch):
    program, _ = TOOLKITS[prefix]
    root = toolkit(bare / "own", program)
    assert not any(str(root) in folder for folder in libraries.folders(prefix))
    monkeypatch.setenv("PATH", os.pathsep.join([str(bare / "nothing"), str(root / "bin")]))
    assert libraries.folders(prefix)[0] == str(root / "lib64")
    assert libraries.include_folders(prefix)[0] == str(root / "include")
    assert libraries.program(prefix) == str(root / "bin" / program)


@pytest.mark.parametrize("prefix", TOOLKITS)
def test_variables_come_first(prefix, bare, monkeypatch):
    program, variables = TOOLKITS[prefix]
    monkeypatch.setenv("PATH", str(toolkit(bare / "own", program) / "bin"))
    for name in variables[::-1]:
        root = toolkit(bare / name, program)
        monkeypatch.setenv(name, str(root))
        assert libraries.folders(prefix)[0] == str(root / "lib64")
        assert libraries.include_folders(prefix)[0] == str(root / "include")
        assert libraries.program(prefix) == str(root / "bin" / program)


@pytest.mark.parametrize("prefix", TOOLKITS)
def test_environments_come_before_the_usual_folders(prefix, bare, monkeypatch):
    roots = [made(bare / name, "lib/some.so") for name in ("conda", "python", "usual")]
    monkeypatch.setenv("CONDA_PREFIX", str(roots[0]))
    monkeypatch.setattr(libraries.VENDORS[prefix], "usual", (str(roots[2]),))
    assert libraries.folders(prefix) == [str(root / "lib") for root in roots]
    monkeypatch.setattr("sys.prefix", str(roots[2]))  # a Python of the system
    assert libraries.folders(prefix) == [str(root / "lib") for root in (roots[0], roots[2])]


@pytest.mark.parametrize("prefix", TOOLKITS)
@pytest.mark.parametrize("which", [0, 1])
def test_a_variable_that_names_no_folder(prefix, which, bare, monkeypatch):
    """The error names the variable, though another toolkit is on PATH."""
    program, variables = TOOLKITS[prefix]
    files = [f"lib64/lib{prefix}.so", "include/cuda_fp16.h", "lib64/libcurand.so"]
    monkeypatch.setenv("PATH", str(made(toolkit(bare / "own", program), *files) / "bin"))
    assert rtc.locate(prefix) == str(bare / "own" / "lib64" / f"lib{prefix}.so")
    rtc._located.clear()
    name = variables[which]
    monkeypatch.setenv(name, "/typo")
    searches = [libraries.folders, libraries.include_folders, libraries.program, rtc.locate]
    searches.append(lambda prefix: curand.library({"nvrtc": "curand"}.get(prefix, "rocrand")))
    for search in searches:
        with pytest.raises(
            errors.CompilerMissing, match=f"^{name}='/typo': there is no such folder"
        ):
            search(prefix)
    with pytest.raises(toolkits.Misnamed, match=f"^{name}='/typo': there is no such folder"):
        toolkits.for_build(libraries.VENDORS[prefix], ["some.h"], ["some.so"])


@pytest.mark.parametrize("prefix", TOOLKITS)
def test_a_variable_that_names_an_incomplete_toolkit(prefix, bare, monkeypatch):
    program, variables = TOOLKITS[prefix]
    full = made(toolkit(bare / "own", program), f"lib64/lib{prefix}.so")
    monkeypatch.setenv("PATH", str(full / "bin"))
    root = made(bare / "incomplete", "lib64/some.so", "include/some.h")
    monkeypatch.setenv(variables[0], str(root))
    named = f"^{variables[0]}='{root}': there is no "
    with pytest.raises(
        errors.CompilerMissing, match=rf"{named}lib{prefix}\.so.* in its lib64, lib"
    ):
        rtc.locate(prefix)
    with pytest.raises(errors.CompilerMissing, match=f"{named}{program} in its bin"):
        libraries.program(prefix)
    (root / "bin").mkdir()
    (root / "bin" / program).touch(0o644)
    with pytest.raises(errors.CompilerMissing, match=f"bin/{program} is not executable"):
        libraries.program(prefix)
    vendor = libraries.VENDORS[prefix]
    with pytest.raises(toolkits.Misnamed, match=rf"{named}missing\.h in its include, targets"):
        toolkits.for_build(vendor, ["some.h", "missing.h"], ["some.so"])
    with pytest.raises(toolkits.Misnamed, match=rf"{named}missing\.so or other\.so in its lib64"):
        toolkits.for_build(vendor, ["some.h"], ["missing.so", "other.so"])
    assert toolkits.for_build(vendor, ["some.h"], ["missing.so", "some.so"]).root == str(root)


def test_libraries_that_a_named_toolkit_may_lack(bare, monkeypatch):
    """cuRAND and others have packages of their own, so they are searched for elsewhere."""
    monkeypatch.setenv("PATH", str(made(bare / "own", "bin/nvcc", "lib/libcurand.so.10") / "bin"))
    monkeypatch.setenv("CUDA_HOME", str(made(bare / "named", "lib/libnvrtc.so.13")))
    found = [*libraries.candidates("nvrtc", "libcurand", ["libcurand.so"])]
    assert found == [str(bare / "own/lib/libcurand.so.10"), "libcurand.so"]


@pytest.mark.parametrize(
    ("machine", "target"),
    [("aarch64", "sbsa"), ("aarch64", "aarch64"), ("x86_64", "x86_64")],
)
def test_a_toolkit_with_folders_for_each_target(machine, target, bare, monkeypatch):
    """conda's packages and NVIDIA's toolkits for ARM servers have such folders."""
    monkeypatch.setattr(os, "uname", lambda: types.SimpleNamespace(machine=machine))
    below = f"targets/{target}-linux"
    root = made(
        bare / "conda",
        *(f"{below}/lib/{name}" for name in ("libcudart_static.a", "libnvrtc.so.13")),
        *(f"{below}/include/{name}" for name in ("cuda_runtime.h", "cuda_fp16.h")),
    )
    monkeypatch.setenv("CONDA_PREFIX", str(root))
    found = toolkits.for_build(toolkits.CUDA, ["cuda_runtime.h"], ["libcudart_static.a"])
    assert found.library == str(root / below / "lib" / "libcudart_static.a")
    assert found.include_dirs == [str(root / below / "include")]
    assert rtc.locate("nvrtc") == str(root / below / "lib" / "libnvrtc.so.13")
    assert rtc.toolkit_include_options("nvrtc") == [f"-I{root / below / 'include'}"]
    monkeypatch.setattr(os, "uname", lambda: types.SimpleNamespace(machine="riscv64"))
    assert libraries.folders("nvrtc") == []


def test_wheels_of_nvidia_come_last(bare, monkeypatch):
    monkeypatch.setattr("sys.path", ["", str(bare)])
    monkeypatch.setattr(toolkits.CUDA, "usual", (str(made(bare / "usual", "lib/some.so")),))
    made(bare / "nvidia" / "curand", "lib/some.so", "include/some.h")
    assert libraries.folders("nvrtc")[-1] == str(bare / "nvidia" / "curand" / "lib")
    assert libraries.include_folders("nvrtc")[-1] == str(bare / "nvidia" / "curand" / "include")
    assert not any("nvidia" in folder for folder in libraries.folders("hiprtc"))


def test_wheels_of_an_environment_in_an_isolated_build(bare):
    """pip hides the environment's packages from sys.path, not from sys.prefix."""
    site = bare / "python" / "lib" / "python3.12" / "site-packages"
    made(site / "nvidia" / "cu13", "lib/libnvrtc.so.13")
    assert libraries.folders("nvrtc")[-1] == str(site / "nvidia" / "cu13" / "lib")


def test_wheels_are_one_toolkit(bare, monkeypatch):
    """They spread the toolkit over several folders, one of which a variable may name."""
    site = bare / "site-packages"
    runtime = made(
        site / "nvidia" / "cuda_runtime", "include/cuda_runtime.h", "include/cuda_fp16.h"
    )
    made(site / "nvidia" / "cuda_nvrtc", "lib/libnvrtc.so.12")
    made(site / "nvidia" / "cuda_nvcc", "include/crt/host_config.h", "bin/nvcc")
    made(site / "nvidia" / "cuda_cccl", "include/nv/target")
    wanted = ["cuda_runtime.h", "crt/host_config.h"], ["libcudart_static.a"]
    monkeypatch.setattr("sys.path", [str(site)])
    with pytest.raises(toolkits.NotFound, match=r"has no libcudart_static\.a$"):
        toolkits.for_build(toolkits.CUDA, *wanted)
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(toolkits.NotFound, match=r"cuda_runtime\.h, crt/host_config\.h, libcudart"):
        toolkits.for_build(toolkits.CUDA, *wanted)
    monkeypatch.setenv("CUDA_HOME", str(runtime))
    with pytest.raises(
        toolkits.Misnamed, match=r"^CUDA_HOME=.* no libcudart_static\.a in its lib64"
    ):
        toolkits.for_build(toolkits.CUDA, *wanted)
    made(runtime, "lib/libcudart_static.a")
    found = toolkits.for_build(toolkits.CUDA, *wanted)
    assert found.library == str(runtime / "lib" / "libcudart_static.a")
    folders = [str(site / "nvidia" / name / "include") for name in ("cuda_runtime", "cuda_nvcc")]
    assert found.include_dirs[:2] == folders
    assert libraries.program("nvrtc") == str(site / "nvidia" / "cuda_nvcc" / "bin" / "nvcc")
    assert rtc.locate("nvrtc") == str(site / "nvidia" / "cuda_nvrtc" / "lib" / "libnvrtc.so.12")
    folders = [site / "nvidia" / name / "include" for name in ("cuda_runtime", "cuda_cccl")]
    assert rtc.toolkit_include_options("nvrtc") == [f"-I{folder}" for folder in folders]


def test_versions_of_a_toolkit_are_no_wheels(bare, monkeypatch):
    made(bare / "nvidia" / "cuda-12", "lib64/libnvrtc.so.12")
    root = made(bare / "nvidia" / "cuda-13", "lib64/some.so")
    monkeypatch.setenv("CUDA_HOME", str(root))
    with pytest.raises(errors.CompilerMissing, match=r"cuda-13': there is no libnvrtc\.so"):
        rtc.locate("nvrtc")
    assert toolkits.near(toolkits.CUDA, str(root / "lib64/some.so"), ["lib64"]) == [f"{root}/lib64"]


def test_wheels_of_rocm(bare, monkeypatch):
    """hipcc is a script of the environment, and the libraries have no links without a version."""
    environment = made(bare / "venv", "bin/hipcc")
    site = environment / "lib" / "python3.11" / "site-packages"
    made(site / "_rocm_sdk_core", "lib/libamdhip64.so.7", "lib/libhiprtc.so.7", "bin/hipcc")
    made(site / "_rocm_sdk_libraries_gfx94X_dcgpu", "lib/librocrand.so.1")
    monkeypatch.setenv("PATH", str(environment / "bin"))
    wanted = ["hip/hip_runtime_api.h"], ["libamdhip64.so", "libamdhip64.so.[0-9]"]
    with pytest.raises(toolkits.NotFound, match=r"_rocm_sdk_core has no hip/hip_runtime_api\.h$"):
        toolkits.for_build(toolkits.ROCM, *wanted)
    made(site / "_rocm_sdk_devel", "include/hip/hip_runtime_api.h")
    found = toolkits.for_build(toolkits.ROCM, *wanted)
    assert found.library == str(site / "_rocm_sdk_core" / "lib" / "libamdhip64.so.7")
    assert found.include_dirs == [str(site / "_rocm_sdk_devel" / "include")]
    (site / "_rocm_sdk_devel" / "lib").mkdir()
    (site / "_rocm_sdk_devel" / "lib" / "libamdhip64.so").symlink_to(found.library)
    found = toolkits.for_build(toolkits.ROCM, *wanted)
    assert found.library == str(site / "_rocm_sdk_devel" / "lib" / "libamdhip64.so")
    assert rtc.locate("hiprtc") == str(site / "_rocm_sdk_core" / "lib" / "libhiprtc.so.7")
    assert rtc.toolkit_include_options("hiprtc") == [f"-I{site / '_rocm_sdk_devel' / 'include'}"]
    assert libraries.program("hiprtc") == str(environment / "bin" / "hipcc")
    rocrand = next(libraries.candidates("hiprtc", "librocrand", []))
    assert rocrand == str(site / "_rocm_sdk_libraries_gfx94X_dcgpu" / "lib" / "librocrand.so.1")


@pytest.mark.parametrize(
    ("vendor", "program", "name"),
    [("curand", "nvcc", "libcurand.so.10"), ("rocrand", "hipcc", "librocrand.so.1")],
)
def test_random_numbers_are_those_of_the_toolkit_on_the_path(
    vendor, program, name, bare, monkeypatch
):
    root = toolkit(bare / "own", program)
    (root / "lib64" / name).touch()
    monkeypatch.setenv("PATH", str(root / "bin"))
    tried = []

    def load(path):
        tried.append(path)
        raise OSError(path)

    monkeypatch.setattr(curand.ctypes, "CDLL", load)
    assert curand.library.__wrapped__(vendor) is None
    assert tried[0] == str(root / "lib64" / name)
    assert tried[-2:] == [name, name.rpartition(".")[0]]  # where the system looks


def test_the_file_of_a_library_that_the_loader_found():
    path = libraries.file_of(ctypes.CDLL("libm.so.6").cos)
    assert os.path.isabs(path) and os.path.basename(path) == "libm.so.6"
    assert libraries.file_of(ctypes.c_void_p(8)) is None


FOUND_BY_THE_LOADER = """
import sys

from PyGPU._compile.compilers import libraries, rtc

sys.modules["cuda.pathfinder"] = None  # it would find the libraries of wheels
for vendor in libraries.VENDORS.values():
    vendor.usual = vendor.wheels = ()
print(rtc.locate("nvrtc"), *rtc.toolkit_include_options("nvrtc"))
"""


def test_headers_of_a_compiler_that_the_loader_found(tmp_path, python):
    """LD_LIBRARY_PATH names the folder, and no variable of a toolkit its root."""
    compiler = needs.program("g++")
    root = made(tmp_path / "module", "lib/code.c", "include/cuda_fp16.h", "include/cccl/nv/target")
    (root / "lib/code.c").write_text("int nvrtcVersion(int *a, int *b) { return *a = *b = 0; }")
    built, include = root / "lib" / "libnvrtc.so.13", root / "include"
    command = [compiler, "-xc", "-shared", "-fPIC", root / "lib" / "code.c", "-o", built]
    subprocess.run(command, check=True)
    named = ("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX", "PYGPU_NVRTC", "PATH")
    unset = dict.fromkeys(named, "")
    done = python(FOUND_BY_THE_LOADER, LD_LIBRARY_PATH=built.parent, **unset)
    assert done.stdout.split() == [str(built), f"-I{include}", f"-I{include / 'cccl'}"]


def test_headers_of_another_toolkit_are_of_the_compilers_version(bare, monkeypatch):
    alone = made(bare / "alone", "libnvrtc.so.12") / "libnvrtc.so.12"
    monkeypatch.setenv("PYGPU_NVRTC", str(alone))
    monkeypatch.setattr("sys.path", [])
    roots = [made(bare / name, "include/cuda_fp16.h", "include/cuda.h") for name in ("a", "b")]
    monkeypatch.setattr(toolkits.CUDA, "usual", [*map(str, roots)])
    for root, version in zip(roots, (13000, 12090)):
        (root / "include" / "cuda.h").write_text(f"#pragma once\n#define CUDA_VERSION {version}\n")
    assert rtc.toolkit_include_options("nvrtc") == [f"-I{roots[1] / 'include'}"]
    (roots[1] / "include" / "cuda.h").unlink()
    assert rtc.toolkit_include_options("nvrtc") == []


@pytest.mark.parametrize("prefix", TOOLKITS)
@pytest.mark.parametrize("value", ["/typo/lib.so", "libtypo.so.1", "libm.so.6"])
def test_a_variable_that_names_no_compiler(prefix, value, bare, monkeypatch):
    program, _ = TOOLKITS[prefix]
    root = made(toolkit(bare / "own", program), f"lib64/lib{prefix}.so")
    monkeypatch.setenv("PATH", str(root / "bin"))
    variable = f"PYGPU_{prefix.upper()}"
    monkeypatch.setenv(variable, value)
    with pytest.raises(
        errors.CompilerMissing, match=f"^{variable}='{value}' names no such library"
    ):
        rtc.locate(prefix)


def test_a_variable_that_names_no_linker(bare, monkeypatch):
    """A wrong name is an error; the driver's linker is not used instead."""
    monkeypatch.setenv("PYGPU_NVJITLINK", "/typo.so")
    with pytest.raises(errors.CompilerMissing, match=r"^PYGPU_NVJITLINK='/typo\.so' does not load"):
        device_link.linker("/nowhere/libnvrtc.so.12", 12, "sm_90", True)


PATHFINDER = """
import types
def load_nvidia_dynamic_lib(name):
    if name != "nvrtc":
        raise RuntimeError(name)
    return types.SimpleNamespace(abs_path={root!r} + "/lib/libnvrtc.so.12")
def find_nvidia_header_directory(name):
    return {root!r} + "/headers" if name == "cudart" else None
def find_nvidia_binary_utility(name):
    return {root!r} + "/nvcc" if name == "nvcc" else None
def find_static_lib(name):
    return {root!r} + "/lib" + name + ".a"
"""


def test_cuda_pathfinder_is_asked_after_the_toolkits(bare, monkeypatch):
    root = made(bare / "found", "lib/libnvrtc.so.12", "headers/cuda_fp16.h", "headers/cuda.h")
    (root / "headers/cuda.h").write_text("#define CUDA_VERSION 12090\n")
    (root / "libcudadevrt.a").write_bytes(b"!<arch>\n")
    module = types.ModuleType("cuda.pathfinder")
    exec(PATHFINDER.format(root=str(root)), module.__dict__)
    monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", module)
    assert rtc.locate("nvrtc") == str(root / "lib/libnvrtc.so.12")
    assert rtc.toolkit_include_options("nvrtc") == [f"-I{root / 'headers'}"]
    assert libraries.program("nvrtc") == str(root / "nvcc")
    assert cuda.nvidia_library("cudadevrt").name == str(root / "libcudadevrt.a")
    with pytest.raises(errors.CompilerMissing):
        libraries.program("hiprtc")
    assert [*libraries.candidates("nvrtc", "libcurand", ["libcurand.so"])] == ["libcurand.so"]
    first = made(bare / "own", "bin/nvcc", "lib/libnvrtc.so.13")
    monkeypatch.setenv("PATH", str(first / "bin"))
    rtc._located.clear()
    assert rtc.locate("nvrtc") == str(first / "lib/libnvrtc.so.13")
    assert libraries.program("nvrtc") == str(first / "bin/nvcc")


SETUP = """
import runpy, setuptools
setuptools.setup = lambda ext_modules, **_: print(
    *(f"{one.name}:{one.extra_objects}:{one.include_dirs}" for one in ext_modules), sep="\\n"
)
runpy.run_path("setup.py")
"""
ROOT = Path(__file__).resolve().parents[2]


def setup(target, **environment):
    """Return the exit status and the output of setup.py: its files for a build, or an error."""
    pytest.importorskip("pybind11")
    env = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    env.update(environment, PYBIND_GPU_TARGET=target)
    command = [sys.executable, "-c", SETUP]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("target", "variable"), [("", "CUDA_HOME"), ("gfx90a", "ROCM_PATH")])
@pytest.mark.parametrize("root", ["/typo", str(ROOT)])
def test_setup_refuses_a_wrong_variable(target, variable, root):
    """Also where the target is optional, and where another toolkit is found."""
    status, said = setup(target, **{variable: root})
    assert status == 1 and f"{variable}='{root}': there is no " in said


def test_setup_for_host_needs_no_toolkit():
    status, said = setup("host", CUDA_HOME="/typo", ROCM_PATH="/typo")
    assert status == 0 and "PyGPU._host" in said and "_cuda" not in said


def test_setup_takes_the_named_toolkit(tmp_path):
    names = ["cuda_runtime.h", "crt/host_config.h"]
    made(tmp_path, "lib/libcudart_static.a", *(f"include/{name}" for name in names))
    made(tmp_path, "lib/libamdhip64.so", "include/hip/hip_runtime_api.h")
    status, said = setup("all", CUDA_HOME=str(tmp_path), ROCM_PATH=str(tmp_path))
    include = f"['include', 'src', '{tmp_path}/include']"
    assert f"PyGPU._cuda:['{tmp_path}/lib/libcudart_static.a']:{include}" in said.splitlines()
    assert f"PyGPU._hip:['{tmp_path}/lib/libamdhip64.so']:{include}" in said.splitlines()
    assert status == 0
