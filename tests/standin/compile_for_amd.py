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


def has_its_headers(path):
    options = json.loads(path.read_text())["options"]
    return all(os.path.isdir(word[2:]) for word in options if word.startswith("-I"))


def outcome(path, arch):
    """What is wrong with a text, in words, and how many kernels it has."""
    text = json.loads(path.read_text())
    try:
        entry = image_of(text, arch)
    except errors.CompileError as error:
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
    asked = parser.parse_args()
    found = sorted(asked.folder.glob("*.json"))
    texts = [path for path in found if has_its_headers(path)]
    print(f"{len(found) - len(texts)} texts are left out: the folders of their headers are gone")
    start, failed = time.monotonic(), False
    for arch in asked.architectures:
        kernels = 0
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
