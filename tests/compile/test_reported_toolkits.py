"""Toolkits whose folders only nvcc knows: NVIDIA's HPC SDK, scripts, ccache, Nix and Guix."""

import pytest

from PyGPU._runtime import toolkits

pytestmark = pytest.mark.no_device


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """Nothing says where a toolkit is."""
    for name in (*toolkits.CUDA.variables, "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.path", [])
    monkeypatch.setattr("sys.prefix", str(tmp_path / "python"))
    monkeypatch.setattr(toolkits.CUDA, "usual", ())
    return tmp_path


def made(root, *files):
    """Make a folder with these files."""
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()
    return root


def reports(program, *roots):
    """Write a program that reports the folders of a toolkit as `nvcc --dryrun` does."""
    program.parent.mkdir(parents=True, exist_ok=True)
    includes = " ".join(f'\\"-I{root}/include\\"' for root in roots)
    paths = " ".join(f'\\"-L{root}/lib/stubs\\" \\"-L{root}/lib\\"' for root in roots)
    program.write_text(
        f'#!/bin/sh\necho "loading a module"\necho "#\\$ _SPACE_= " >&2\n'
        f'echo "#\\$ TOP={roots[0]}/bin/.." >&2\n'
        f'echo "#\\$ INCLUDES={includes}  " >&2\necho "#\\$ LIBRARIES=  {paths}" >&2\n'
        'case "$*" in *--dryrun*) ;; *) exit 1;; esac\n'
    )
    program.chmod(0o755)


@pytest.mark.parametrize("by_variable", [False, True])
@pytest.mark.parametrize("kind", ["hpc_sdk", "a script of a module", "ccache", "split"])
def test_folders_that_nvcc_reports(kind, by_variable, bare, monkeypatch):
    library, header = "lib/libcudart_static.a", "include/cuda_runtime.h"
    top = bare / "cuda 12"
    roots = [made(top, header, library, "include/crt/host_config.h")]
    place = bare / "compilers"
    if kind == "split":  # as in the stores of Nix and Guix
        place = made(bare / "store-nvcc", "include/crt/host_config.h")
        roots = [
            place,
            made(bare / "store-headers", header),
            made(bare / "store-libraries", library),
        ]
    reports(place / "bin" / ("ccache" if kind == "ccache" else "nvcc"), *roots)
    if kind == "ccache":
        (place / "bin" / "nvcc").symlink_to("ccache")
    if by_variable:
        monkeypatch.setenv("CUDA_HOME", str(place))
    else:
        monkeypatch.setenv("PATH", f"{place / 'bin'}:/usr/bin:/bin")
    found = toolkits.for_build(
        toolkits.CUDA, ["cuda_runtime.h", "crt/host_config.h"], ["libcudart_static.a"]
    )
    assert found.library == str(roots[-1] / library)
    assert set(map(str, (root / "include" for root in roots if (root / "include").is_dir()))) <= {
        *found.include_dirs
    }
    assert toolkits.program(toolkits.CUDA) == str(place / "bin" / "nvcc")
