"""Compile by AMD's own HIPRTC, for GPUs that are not here, texts that the stand-in was given:

    PYGPU_STANDIN_KEEP=FOLDER ... python -m pytest        # on the stand-in: each text is kept
    python tests/standin/compile_for_amd.py FOLDER gfx908 gfx90a
    python tests/standin/compile_for_amd.py FOLDER gfx1100 --wavefront 64 --table notes.md

AMD's compiler gets the source, the options and the name expressions that the stand-in got. The
notes in each image are compared with what the host's compiler reported of the same kernels. The
exit status is 1 if AMD's compiler refused a text by a fault of ours, warned about a text of the
library's own, or ended its process. Architectures that this HIPRTC does not know are listed.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import multiprocessing
import os
import re
import sys
import time
from pathlib import Path

from PyGPU._compile.compilers import code_object, rtc
from PyGPU._runtime import errors

#: Stands in a kept text's options for those of the stand-in's own headers.
TOOLKIT = "(the toolkit's headers)"

# Refusals that no text of ours could avoid: the architecture lacks the instructions.
_LACKS = r"gfx\w+_has_no_\w+|this GPU has no textures and no surfaces"


@dataclasses.dataclass
class Outcome:
    """Result of one text for one architecture."""

    wrong: str = ""  # an error of ours, in words
    refused: str = ""  # by the compiler, because the architecture cannot do it
    kernels: tuple = ()  # the notes of each


def lanes_of(arch):
    """Lanes of a wavefront, unless an option asks for the other size."""
    return 64 if re.match(r"gfx[89]", arch) else 32


def most_lds(arch):
    """Bytes of LDS that one workgroup can have, by LLVM's table of AMDGPU processors.

    The compiler may move private arrays to LDS where there is much of it.
    """
    return {"gfx950": 160 << 10, "gfx1250": 320 << 10}.get(arch, 64 << 10)


def words_of(text, arch, wavefront):
    """The options of a text for an architecture."""
    words = []
    for word in text["options"]:
        if word == TOOLKIT:
            words += rtc.toolkit_include_options("hiprtc")
        else:
            words.append(f"--offload-arch={arch}" if word.startswith("--offload") else word)
    return words if wavefront == lanes_of(arch) else [*words, f"-mwavefrontsize{wavefront}"]


def has_its_headers(text):
    """Do the folders and files still exist that a text names by absolute paths?"""
    folders = [word[2:] for word in text["options"] if word.startswith("-I")]
    files = re.findall(r'(?m)^#include "(/[^"]+)"', text["source"])
    return all(map(os.path.isdir, folders)) and all(map(os.path.isfile, files))


def chosen(folder, name):
    """The texts to compile, and how many are left out because their headers are gone."""
    paths = sorted(folder.glob("*.json"))
    found = {path: json.loads(path.read_text()) for path in paths}
    found = {path: text for path, text in found.items() if name in (None, text["name"])}
    complete = [path for path, text in found.items() if has_its_headers(text)]
    return complete, len(found) - len(complete)


def differences(text, image, arch, wavefront):
    """Messages about the kernels of an image that are not as the host's compiler reported."""
    kernels = code_object.notes(image)
    for kernel in kernels:
        name = kernel[".name"]
        if kernel[".wavefront_size"] != wavefront:
            yield f"{name}: wavefronts of {kernel['.wavefront_size']} lanes"
        if kernel[".group_segment_fixed_size"] > most_lds(arch):
            yield f"{name}: {kernel['.group_segment_fixed_size']} bytes of LDS"
        sizes = [one[2] for one in code_object.parameters(image, name)]
        if name in text["kernels"] and sizes != text["kernels"][name]:
            yield f"{name}: parameters of {sizes} bytes, on the host {text['kernels'][name]}"
    missing = set(text["kernels"]) - {kernel[".name"] for kernel in kernels}
    yield from (f"{name} is missing" for name in sorted(missing))


def outcome(path, arch, wavefront):
    """Compile one text for one architecture."""
    text = json.loads(path.read_text())
    try:
        entry = rtc.library("hiprtc").compile(
            text["source"],
            text["name"],
            words_of(text, arch, wavefront),
            (),
            "Code",
            text["expressions"],
        )
    except errors.CompileError as error:
        if lacking := re.search(_LACKS, error.stderr or ""):
            return Outcome(refused=lacking.group())
        return Outcome(wrong=f"{path}: {arch}: {error.stderr or error}")
    found = list(differences(text, entry.image, arch, wavefront))
    if entry.log and text["name"] != "kernel.cu":  # a program's own text may draw warnings
        found.append(f"a warning: {entry.log}")
    return Outcome(
        wrong="\n".join(f"{path}: {arch}: {one}" for one in found),
        kernels=tuple(code_object.notes(entry.image)),
    )


def outcomes(texts, arch, wavefront):
    """(path, Outcome) of each text, in processes that the compiler may end."""
    context = multiprocessing.get_context("fork")
    left = list(texts)
    while left:
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), context) as pool:
            futures = [(path, pool.submit(outcome, path, arch, wavefront)) for path in left]
            left = []
            for path, future in futures:
                try:
                    yield path, future.result()
                except concurrent.futures.process.BrokenProcessPool:
                    left.append(path)
        if left:  # the first of them, or one that ran beside it, ended the process
            suspects, left = left[: os.cpu_count()], left[os.cpu_count() :]
            for path in suspects:
                with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
                    try:
                        yield path, pool.submit(outcome, path, arch, wavefront).result()
                    except concurrent.futures.process.BrokenProcessPool:
                        yield path, Outcome(wrong=f"{path}: {arch}: the compiler's process ended")


def row(arch, wavefront, texts, found):
    """One row of the table: counts over the notes of all kernels."""
    kernels = [kernel for one in found for kernel in one.kernels]
    spilled = sum(
        kernel.get(".vgpr_spill_count", 0) + kernel.get(".sgpr_spill_count", 0) > 0
        for kernel in kernels
    )
    most = {
        key: max((kernel.get(key, 0) for kernel in kernels), default=0)
        for key in (".vgpr_count", ".group_segment_fixed_size", ".kernarg_segment_size")
    }
    return (
        f"| {arch} | {wavefront} | {texts} | {sum(bool(one.refused) for one in found)} "
        f"| {len(kernels)} | {most['.kernarg_segment_size']} | {most['.group_segment_fixed_size']} "
        f"| {most['.vgpr_count']} | {spilled} |"
    )


HEADER = (
    "| architecture | wavefront | texts | refused by the architecture | kernels "
    "| most bytes of arguments | most LDS | most VGPRs | kernels that spill |\n" + "|---" * 9 + "|"
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("architectures", nargs="+")
    parser.add_argument("--name", help="only texts of this name: kernel.cu are those of programs")
    parser.add_argument("--wavefront", type=int, help="lanes: 32 or 64 (the architecture's own)")
    parser.add_argument("--table", type=Path, help="append the rows of the notes to this file")
    asked = parser.parse_args()
    texts, left_out = chosen(asked.folder, asked.name)
    print(f"{left_out} texts are left out: their headers are gone")
    failed = False
    rows = []
    for arch in asked.architectures:
        wavefront = asked.wavefront or lanes_of(arch)
        if not rtc.compiles_for(rtc.locate("hiprtc"), arch):
            print(f"{arch}: not known to this HIPRTC", flush=True)
            continue
        start, found = time.monotonic(), []
        for path, one in outcomes(texts, arch, wavefront):
            found.append(one)
            failed = failed or bool(one.wrong)
            if one.wrong:
                print(one.wrong, flush=True)
            if one.refused:
                print(f"{path}: refused for {arch}: {one.refused}", flush=True)
        took = time.monotonic() - start
        kernels = sum(len(one.kernels) for one in found)
        wrong = sum(bool(one.wrong) for one in found)
        print(
            f"{arch}, wavefronts of {wavefront}: {len(texts)} texts, {kernels} kernels, "
            f"{wrong} wrong, {sum(bool(one.refused) for one in found)} refused, {took:.0f} s",
            flush=True,
        )
        rows.append(row(arch, wavefront, len(texts), found))
    if asked.table:
        is_new = not asked.table.exists()
        with asked.table.open("a") as file:
            file.write("".join(f"{line}\n" for line in ([HEADER] if is_new else []) + rows))
    return int(failed or not texts)


if __name__ == "__main__":
    sys.exit(main())
