"""Build the stand-in for AMD's HIP runtime: python tests/standin/build.py FOLDER

FOLDER gets lib/libamdhip64.so.5, lib/libhiprtc.so and bin/hipcc. With

    LD_LIBRARY_PATH=FOLDER/lib ROCM_PATH=FOLDER PYGPU_TARGET=hip

the extension for AMD GPUs, unchanged, runs on PyGPU's host machine. It needs g++, HIP's headers and
libamdhip64 of ROCm 5 (Debian: libamdhip64-dev), and an installation of PyGPU with the target `hip`.
"""

import argparse
import os
import re
import shlex
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
HIPCC = """#!/bin/sh
# Compiles a user's library for the host machine, whatever AMD architecture is asked for.
for word; do
  shift
  case $word in
    --offload-arch=*|--amdgpu-target=*) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec g++ -x c++ -DPYGPU_TARGET_HOST -DPYGPU_HOST_WARP=64 -O2 "$@" \\
  -L {package} -lPyGPU_host -Wl,-rpath,{package}
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
    text, before = "standin { global: PyGPU_is_standin; };\n", ""
    for version in versions:
        names = " ".join(f"{name};" for name, of in sorted(symbols.items()) if of == version)
        rest = "" if before else " local: *;"
        text += f"{version} {{ global: {names}{rest} }}{before};\n"
        before = f" {version}"
    return text


def build(folder, package, real):
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    lib, made = folder / "lib", folder / "objects"
    for place in (lib, made, folder / "bin"):
        place.mkdir(parents=True, exist_ok=True)
    options = ["-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"]
    options += ["-I", str(REPOSITORY / "include")]
    options += [f'-DSTANDIN_FOLDER="{HERE}"', "-idirafter", str(HERE)]
    objects = []
    for source in sorted(HERE.glob("*.cpp")):
        objects.append(str(made / f"{source.stem}.o"))
        subprocess.run([*compiler, *options, "-c", str(source), "-o", objects[-1]], check=True)
    symbols = exported(real)
    ours = defined(objects)
    # What else the library has can be linked, and says that it is not supported (801).
    stubs = [f"int {name}(void) {{ return 801; }}" for name in sorted(set(symbols) - ours)]
    (made / "stubs.c").write_text("\n".join(stubs))
    (made / "versions").write_text(version_script(symbols))
    command = ["cc", "-fPIC", "-fno-builtin", "-w", "-c", str(made / "stubs.c")]
    subprocess.run([*command, "-o", str(made / "stubs.o")], check=True)
    link = [
        *compiler,
        "-shared",
        *objects,
        str(made / "stubs.o"),
        "-o",
        str(lib / "libamdhip64.so.5"),
    ]
    link += ["-Wl,-soname,libamdhip64.so.5", f"-Wl,--version-script={made / 'versions'}"]
    link += ["-L", str(package), "-lPyGPU_host", f"-Wl,-rpath,{package}", "-ldl"]
    subprocess.run(link, check=True)
    for name in ("libamdhip64.so", "libhiprtc.so", "libhiprtc.so.5"):
        link = lib / name
        link.unlink(missing_ok=True)
        link.symlink_to("libamdhip64.so.5")
    hipcc = folder / "bin" / "hipcc"
    hipcc.write_text(HIPCC.format(package=package))
    hipcc.chmod(0o755)
    return len(ours & set(symbols)), len(stubs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--package", type=Path, default=REPOSITORY / "PyGPU", help="PyGPU's folder, installed")
    parser.add_argument("--real", help="AMD's libamdhip64.so, for its symbols' versions")
    asked = parser.parse_args()
    real = asked.real or f"/usr/lib/{os.uname().machine}-linux-gnu/libamdhip64.so"
    done, stubs = build(asked.folder.resolve(), asked.package.resolve(), real)
    print(f"{asked.folder}: {done} functions, {stubs} more that are not supported")


if __name__ == "__main__":
    main()
