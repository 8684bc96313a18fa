"""Build the library of lombscargle.cu for the target in use; prints where it is."""

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import PyGPU

SOURCE = Path(__file__).resolve().with_name("lombscargle.cu")


def compiler(target):
    """The target's compiler as the start of a command; FileNotFoundError if it is not there."""
    own = os.environ.get("CXX")
    names = {"cuda": ["nvcc"], "hip": ["hipcc"], "host": [own] if own else ["c++", "g++"]}
    for command in map(shlex.split, names[target]):
        if shutil.which(command[0]):
            return command
    wanted = " or ".join(names[target])
    raise FileNotFoundError(f"no compiler for the target {target}: {wanted} must be on PATH")


def options(target):
    """Return the target's compiler options, except for the source and the headers."""
    if target == "cuda":
        # Without a device nvcc's own default architecture has to do.
        has_device = PyGPU.target == "cuda" and PyGPU.cudaGetDeviceCount()[0] > 0
        return ["-Xcompiler", "-fPIC", *(["-arch=native"] if has_device else [])]
    if target == "hip":
        architectures = filter(None, PyGPU.architectures.split(","))
        return ["-fPIC", *(f"--offload-arch={name}" for name in architectures)]
    folder = PyGPU.get_library_dir()
    return ["-fPIC", "-x", "c++", f"-L{folder}", f"-Wl,-rpath,{folder}"]


def build(target=PyGPU.target, out_dir=SOURCE.parent):
    """Path of the shared library, compiled if it is missing or older than its sources.

    Raises
    ------
    FileNotFoundError
        The target's compiler is not on PATH.
    subprocess.CalledProcessError
        It failed; what it had to say is on the standard error.
    """
    library = Path(out_dir, f"{SOURCE.stem}_{target}.so").resolve()
    headers = Path(PyGPU.get_include()).rglob("*.h")
    newest = max(path.stat().st_mtime for path in [SOURCE, *headers])
    if library.exists() and library.stat().st_mtime >= newest:
        return library

    library.parent.mkdir(parents=True, exist_ok=True)
    # Compiled aside and moved at once: another process never meets half a library.
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = Path(folder, library.name)
        command = [*compiler(target), "-std=c++17", "-O2", "-shared", *options(target)]
        command += [f"-I{PyGPU.get_include()}", str(SOURCE), "-o", str(made)]
        command += ["-lPyGPU_host"] if target == "host" else []
        # Where nvcc is there too, hipcc would take it.
        environment = {**os.environ, "HIP_PLATFORM": "amd"}
        subprocess.run(command, check=True, env=environment)
        os.replace(made, library)
    return library


if __name__ == "__main__":
    print(build())
