"""The stand-in's hipcc: sources in HIP or CUDA to objects and libraries for the host machine.

``python -m PyGPU cxx`` compiles, as for the target host. bin/hipcc runs this file.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["PYGPU_TARGET"] = "host"  # the target whose compiler this is

from PyGPU._library import cxx_command, toolchains

_OF_AMD = ("--offload-arch=", "--amdgpu-target=", "--hip-link", "-DPYGPU_TARGET_HIP")
_OBJECTS = (".o", ".a", ".so")


def _bundle(words, folder):
    """Return the path of an object with AMD's section of device code, which names its targets."""
    names = [word.partition("=")[2] for word in words if word.startswith("--offload-arch=")]
    text = "".join(f"hipv4-amdgcn-amd-amdhsa--{name};" for name in names)
    source = Path(folder, "bundle.c")
    source.write_text(
        f'__attribute__((section(".hip_fatbin"), used)) static const char code[] = "{text}";\n'
    )
    subprocess.run(["cc", "-fPIC", "-c", source, "-o", source.with_suffix(".o")], check=True)
    return str(source.with_suffix(".o"))


def _of_host(words):
    """Return the words without -x and AMD's device functions: all sources are C++ here."""
    rest = iter(words)
    for word in rest:
        if word == "-x":
            next(rest, None)
        elif word == "-include":
            header = next(rest, "")
            if not header.endswith("/vendor/hip_sources.h"):
                yield from (word, header)
        elif not (word.startswith("-isystem") and word.endswith("/rtc_hip")):
            yield word


def main(words):
    toolchain = toolchains.of("host")
    left = [word for word in _of_host(words) if not word.startswith(_OF_AMD)]
    files = [one for one in left if not one.startswith("-") and os.path.isfile(one)]
    sources = [one for one in files if one.endswith(toolchains.SOURCE_ENDINGS)]
    objects = [one for one in files if one.endswith(_OBJECTS)]
    options = [word for word in left if word not in (*sources, *objects)]
    command = [toolchain.compiler(), "-DPYGPU_HOST_WARP=64", *options]
    device = [one for one in sources if one.endswith(toolchains.DEVICE_ENDINGS)]
    if device:
        command += [*toolchain.includes(), *toolchain.compiling(Path(device[0]).suffix, [])]
    of_c = [one for one in sources if one.endswith(".c")]
    of_cxx = [one for one in sources if one not in of_c]
    command += ["-DPYGPU_TARGET_HOST", "-x", "c++", *of_cxx, "-x", "none", *of_c, *objects]
    if "-c" in options:
        return cxx_command.main(command)
    with tempfile.TemporaryDirectory() as folder:
        return cxx_command.main([*command, _bundle(words, folder), *toolchain.libraries()])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
