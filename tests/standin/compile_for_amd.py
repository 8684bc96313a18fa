"""Compile by AMD's own HIPRTC what programs had the stand-in compile, for GPUs that are not here:

    PYGPU_STANDIN_KEEP=FOLDER ... python -m pytest        # on the stand-in: each text is kept
    python tests/standin/compile_for_amd.py FOLDER gfx908 gfx90a

Texts, options and names are what AMD's compiler would have got, so that these are all kernels that
the programs made. What is in the images' notes is compared with what the host's compiler says of
the same kernels. The exit status is 1 where AMD's compiler refuses a text that the host's took.
"""

import argparse
import concurrent.futures
import json
import os
import re
import sys
import time
from pathlib import Path

from PyGPU._compile import code_object, rtc
from PyGPU._runtime import errors


def image_of(text, arch):
    words = [f"--offload-arch={arch}" if w.startswith("--offload") else w for w in text["options"]]
    return rtc.library("hiprtc").compile(
        text["source"], text["name"], words, text["expressions"], "Code"
    )


def has_its_headers(text):
    """Are the folders and files still there that a text names by their whole path?"""
    folders = [word[2:] for word in text["options"] if word.startswith("-I")]
    files = re.findall(r'(?m)^#include "(/[^"]+)"', text["source"])
    return all(map(os.path.isdir, folders)) and all(map(os.path.isfile, files))


def chosen(folder, name):
    """The texts to compile, and how many are left out for want of their headers."""
    paths = sorted(folder.glob("*.json"))
    found = {path: json.loads(path.read_text()) for path in paths}
    found = {path: text for path, text in found.items() if name in (None, text["name"])}
    complete = [path for path, text in found.items() if has_its_headers(text)]
    return complete, len(found) - len(complete)


def outcome(path, arch):
    """What is wrong with a text, in words, and how many kernels it has."""
    text = json.loads(path.read_text())
    try:
        entry = image_of(text, arch)
    except errors.CompileError as error:
        if lacking := re.search(rf"{arch}_has_no_\w+", error.stderr):
            print(f"{path} is left out: {lacking.group()}", flush=True)
            return "", 0
        return f"{path}: {arch}: {error.stderr or error}", 0
    notes = code_object._metadata(entry.image)
    kernels = notes["amdhsa.kernels"]
    wrong = []
    for kernel in kernels:
        name = kernel[".name"]
        lanes = 64 if re.match(r"gfx9", arch) else 32
        if kernel[".wavefront_size"] != lanes:
            wrong.append(f"{name}: wavefronts of {kernel['.wavefront_size']} lanes")
        if kernel[".group_segment_fixed_size"] > 64 << 10:
            wrong.append(f"{name}: {kernel['.group_segment_fixed_size']} bytes of LDS")
        sizes = [one[2] for one in code_object.parameters(entry.image, name)]
        if name in text["kernels"] and sizes != text["kernels"][name]:
            wrong.append(
                f"{name}: parameters of {sizes} bytes, on the host {text['kernels'][name]}"
            )
    missing = set(text["kernels"]) - {kernel[".name"] for kernel in kernels}
    wrong += [f"{name} is missing" for name in sorted(missing)]
    return "\n".join(f"{path}: {arch}: {one}" for one in wrong), len(kernels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("architectures", nargs="+")
    parser.add_argument("--name", help="only texts of this name: kernel.cu are those of programs")
    asked = parser.parse_args()
    texts, left_out = chosen(asked.folder, asked.name)
    print(f"{left_out} texts are left out: their headers are gone")
    failed = False
    for arch in asked.architectures:
        start, kernels = time.monotonic(), 0
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
            for wrong, count in pool.map(outcome, texts, [arch] * len(texts), chunksize=4):
                kernels += count
                if wrong:
                    failed = True
                    print(wrong, flush=True)
        took = time.monotonic() - start
        print(f"{arch}: {len(texts)} texts, {kernels} kernels, {took:.0f} s", flush=True)
    return int(failed or not texts)


if __name__ == "__main__":
    sys.exit(main())
