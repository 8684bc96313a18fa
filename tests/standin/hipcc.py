"""The stand-in's hipcc: sources in HIP or CUDA to objects and libraries for the host machine.

The compiler is that of the target host, so ``<<< >>>`` is rewritten as for host. bin/hipcc runs it.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["PYGPU_TARGET"] = "host"  # the target whose compiler this is

from PyGPU._compile.compilers import options
from PyGPU._compile.source import includes
from PyGPU._library import host_sources, toolchains

_SOURCES = (".cu", ".hip", ".cpp", ".cc", ".cxx")
_OF_AMD = ("--offload-arch=", "--amdgpu-target=", "--hip-link", "-DPYGPU_TARGET_HIP")


def _split(words):
    """Return the options, the files, and the files that options name by -o and by -x."""
    left, files, named = [], [], {}
    rest = iter(words)
    for word in rest:
        if word in ("-o", "-x"):
            named[word] = next(rest, "")
        elif word in ("-I", "-L"):
            left.append(word + next(rest, ""))
        elif word in ("-MF", "-include"):
            left += [word, next(rest, "")]
        elif not word.startswith("-") and word.endswith((*_SOURCES, ".o", ".a", ".so")):
            files.append(word)
        elif not word.startswith(_OF_AMD):
            left.append(word)
    return left, files, named


def _in_cpp(source, words, folder):
    """Return the path of a source whose launches are rewritten, and the options that find it."""
    path = Path(source).resolve()
    parsed = options.parse([word for word in words if word.startswith(("-I", "-D", "-U"))])
    ours = Path(toolchains.include_root())
    folders = [Path(one).resolve() for one in parsed.include_dirs]
    places = [str(one) for one in folders if one != ours and ours not in one.parents]
    data = path.read_bytes()
    text = data.decode("utf-8", "surrogateescape")
    found = includes.scan(text, [str(path.parent), *places], [], parsed.macros).files
    own = host_sources.definitions([data, *found.values()])
    if not host_sources.copied({str(path): data}, found, folder, parsed.relocatable):
        return str(path), own
    return f"{folder}{path}", [*own, *(f"-I{folder}{one}" for one in [*places, path.parent])]


def _compiled(source, words, made):
    toolchain = toolchains.of("host")
    suffix = Path(source).suffix
    text, copies = _in_cpp(source, words, Path(f"{made}.copies"))
    hip = (
        [f"-I{folder[2:]}" for folder in toolchain.includes()] if suffix in (".cu", ".hip") else []
    )
    command = [toolchain.compiler(), "-DPYGPU_HOST_WARP=64", *copies, *words, *hip]
    if suffix in (".cu", ".hip"):
        command += toolchain.compiling(suffix, [])
    command += ["-DPYGPU_TARGET_HOST", "-x", "c++", "-c", text, "-o", made]
    return subprocess.run(command).returncode


def _bundle(words, folder):
    """Return the path of an object with the section that AMD's device code lies in."""
    names = [word.partition("=")[2] for word in words if word.startswith("--offload-arch=")]
    text = "".join(f"hipv4-amdgcn-amd-amdhsa--{name};" for name in names)
    source = Path(folder, "bundle.c")
    source.write_text(
        f'__attribute__((section(".hip_fatbin"), used)) static const char code[] = "{text}";\n'
    )
    subprocess.run(["cc", "-fPIC", "-c", source, "-o", source.with_suffix(".o")], check=True)
    return str(source.with_suffix(".o"))


def main(words):
    left, files, named = _split(words)
    out = named.get("-o", "a.out")
    sources = [one for one in files if one.endswith(_SOURCES)]
    compiling = [word for word in left if word not in ("-c", "-shared")]
    if "-c" in left:
        return max(_compiled(one, compiling, out) for one in sources)
    objects = [one for one in files if not one.endswith(_SOURCES)]
    toolchain = toolchains.of("host")
    linking = [word for word in left if word.startswith(("-shared", "-L", "-l", "-W", "-f"))]
    with tempfile.TemporaryDirectory() as folder:
        for number, source in enumerate(sources):
            objects.append(str(Path(folder, f"{number}.o")))
            if status := _compiled(source, compiling, objects[-1]):
                return status
        objects.append(_bundle(words, folder))
        command = [toolchain.compiler(), *linking, *objects, *toolchain.libraries(), "-o", out]
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
