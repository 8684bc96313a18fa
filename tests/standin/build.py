"""Build the stand-in for AMD's HIP runtime: python tests/standin/build.py FOLDER

FOLDER gets lib/libamdhip64.so.5, lib/libhiprtc.so and bin/hipcc. With

    LD_LIBRARY_PATH=FOLDER/lib ROCM_PATH=FOLDER PYGPU_TARGET=hip

the extension for AMD GPUs, unchanged, runs on PyGPU's host machine. It needs g++, a PyGPU that is
installed or built, and HIP's headers with libamdhip64 of ROCm 5 (Debian: libamdhip64-dev), which
has the versions of the symbols. With other headers (--headers) the symbols have no versions, and
FOLDER can be built against: ROCM_PATH=FOLDER PYBIND_GPU_TARGET=gfx908 pip install .
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
HIPCC = """#!/bin/sh
PYTHONPATH={root} exec {python} {here}/hipcc.py "$@"
"""


def exported(library):
    """{name: version} of a library's functions."""
    text = subprocess.run(
        ["objdump", "-T", library], check=True, capture_output=True, text=True
    ).stdout
    found = re.findall(r" D?F \.text\s+\w+\s+\(?(hip_[\d.]+)\)?\s+(\w+)", text)
    return {name: version for version, name in found}


def defined(objects):
    text = subprocess.run(
        ["nm", "--defined-only", *objects], check=True, capture_output=True, text=True
    ).stdout
    return set(re.findall(r" T (\w+)", text))


def version_script(symbols):
    """The linker's script that gives each symbol its version."""
    versions = sorted(set(symbols.values()), key=lambda v: [int(n) for n in v[4:].split(".")])
    # HIPRTC is a library of its own from HIP 6 on; here it is a name of the same file.
    text, before = "standin { global: PyGPU_is_standin; hiprtc*; };\n", ""
    for version in versions:
        names = " ".join(f"{name};" for name, of in sorted(symbols.items()) if of == version)
        rest = "" if before else " local: *;"
        text += f"{version} {{ global: {names}{rest} }}{before};\n"
        before = f" {version}"
    return text


def compiled(headers, made):
    """The objects of the stand-in's own sources."""
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    options = ["-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"]
    options += ["-isystem", str(headers)] if headers else []
    options += ["-I", str(REPOSITORY / "include"), f'-DSTANDIN_FOLDER="{HERE}"']
    objects = []
    for source in sorted(HERE.glob("*.cpp")):
        objects.append(str(made / f"{source.stem}.o"))
        subprocess.run([*compiler, *options, "-c", str(source), "-o", objects[-1]], check=True)
    return objects


def versioned(real, objects, made):
    """The linker's options for AMD's versions of the symbols; the rest of AMD's are in stubs."""
    symbols = exported(real)
    # They say that what they stand for is not supported (801).
    missing = sorted(set(symbols) - defined(objects))
    stubs, versions = made / "stubs.c", made / "versions"
    stubs.write_text("".join(f"int {name}(void) {{ return 801; }}\n" for name in missing))
    versions.write_text(version_script(symbols))
    command = ["cc", "-fPIC", "-fno-builtin", "-w", "-c", str(stubs), "-o", str(made / "stubs.o")]
    subprocess.run(command, check=True)
    return [str(made / "stubs.o"), f"-Wl,--version-script={versions}"]


def major_of(headers):
    text = (headers or Path("/usr/include")).joinpath("hip", "hip_version.h").read_text()
    return re.search(r"HIP_VERSION_MAJOR (\d+)", text).group(1)


def link_headers(folder, headers):
    """FOLDER/include with HIP's headers alone, for they may stand beside another system's."""
    include = folder / "include"
    include.mkdir(exist_ok=True)
    for name in ("hip", "hsa"):
        (include / name).unlink(missing_ok=True)
        if (headers / name).is_dir():
            (include / name).symlink_to(headers / name)
    return include


def build(folder, package, headers, real):
    lib, made = folder / "lib", folder / "objects"
    for place in (lib, made, folder / "bin"):
        place.mkdir(parents=True, exist_ok=True)
    headers = headers and link_headers(folder, headers)
    objects = compiled(headers, made)
    name = f"libamdhip64.so.{major_of(headers)}"
    link = [*shlex.split(os.environ.get("CXX", "g++")), "-shared", *objects]
    link += ["-o", str(lib / name), f"-Wl,-soname,{name}", "-L", str(package), "-lPyGPU_host"]
    link += [f"-Wl,-rpath,{package}", "-ldl", *(versioned(real, objects, made) if real else [])]
    subprocess.run(link, check=True)
    for place in (lib / "libamdhip64.so", lib / "libhiprtc.so"):
        place.unlink(missing_ok=True)
        place.symlink_to(name)
    hipcc = folder / "bin" / "hipcc"
    where = {"root": package.parent, "python": sys.executable, "here": HERE}
    hipcc.write_text(HIPCC.format(**where))
    hipcc.chmod(0o755)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--package", type=Path, default=REPOSITORY / "PyGPU", help="PyGPU's folder")
    parser.add_argument("--headers", type=Path, help="a folder with hip/, instead of the system's")
    parser.add_argument(
        "--real", help="AMD's libamdhip64.so, whose symbols' versions are taken (the system's)"
    )
    asked = parser.parse_args()
    headers = asked.headers and asked.headers.resolve()
    system = f"/usr/lib/{os.uname().machine}-linux-gnu/libamdhip64.so"
    real = asked.real or (None if headers else system)
    build(asked.folder.resolve(), asked.package.resolve(), headers, real)


if __name__ == "__main__":
    main()
