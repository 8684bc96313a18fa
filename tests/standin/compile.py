"""The work of the stand-in for HIPRTC: kernel text to a code object, by the host's compiler.

The language is the host machine's: what PyGPU puts before a text for HIPRTC is left out, and that
for the host takes its place. Run by compiler.cpp in the process that asked for a compilation.
"""

import hashlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import code_object
import compile_for_amd

from PyGPU._compile.cache import files
from PyGPU._compile.compilers import (
    host,
    host_compiler,
    host_lockstep,
    host_prelude,
    host_text,
    options,
    rtc,
)
from PyGPU._compile.source import (
    dynamic_shared,
    headers,
    includes,
    kernel_types,
    library_names,
    lockstep,
    name_expressions,
)
from PyGPU._runtime import errors

KEPT = Path(tempfile.gettempdir(), f"standin-{os.getuid()}")  # our header, precompiled

LANES = "-DPYGPU_HOST_WARP=64"  # votes have 64 bits, as HIP's

# The end of a text for HIPRTC, behind the user's part.
_QUESTIONS = '\n#line 1 "(types of kernels)"'


def understood(words):
    """The options without those that are about AMD's compiler or PyGPU's headers for it."""
    ours = {f"-I{headers.folder(name)}" for name in ("rtc_hip", "rtc", "device")}
    ours |= {"-idirafter/usr/include", "-idirafter."}
    prelude = f"{headers.folder('rtc_hip')}/prelude_hip.h"
    words = "\0".join(words).replace(f"-include\0{prelude}\0", "").split("\0")
    foreign = ("--offload-arch=", "-DPYGPU_USES_", "-DPYGPU_OWN_")
    left = [word for word in words if word not in ours and not word.startswith(foreign)]
    result = options.parse(left)
    result.optimize = "1"  # in half the time: what g++ makes of a text is the target host's matter
    return result


def compiled(source, name, words, expressions):
    """(image, log, names) of a text."""
    asked = understood(words)
    folders = [*asked.include_dirs, ""]
    found = includes.scan(source, folders, asked.pre_includes, asked.macros)
    # An image is kept under its text and options alone: the host machine's settings do not count.
    without = {*host_compiler.STRICT_FLAGS, LANES}
    text, mark, questions = source.partition(_QUESTIONS)
    in_lockstep = lockstep.is_needed(text, asked.macros, found.files, is_linked=False)
    flags = host_compiler.flags(asked, in_lockstep)
    base = [*(word for word in flags if word not in without), LANES]
    kernels = host_text.declared(text, name, base, asked, found)[0]
    waits = in_lockstep or host.may_wait(text, found)
    own = library_names.declared(found.texts(text))
    before = f'{asked.in_front()}#line 1 "{name}"\n{dynamic_shared.in_cpp(text)}\n'
    after = mark + questions + library_names.without_renaming(own)
    after += f"\n{host_lockstep.TEXT}" if in_lockstep else ""
    prelude = host_prelude.options(KEPT, base)
    with tempfile.TemporaryDirectory() as scratch:
        unit, image = Path(scratch, "kernel.cpp"), Path(scratch, "kernel.so")
        rest = [
            *asked.for_headers(),
            *host_compiler.include_options(asked, found),
        ]
        rest += [*asked.without_nvidias(), str(unit), "-o", str(image)]
        linking = host_compiler.linking(in_lockstep)
        rest += [word for word in linking if word not in host_compiler.STRICT_LINK]
        command = [host_compiler.compiler(), *base, *prelude, *rest]
        # By their types, kernels differ from functions of the same name.
        for by_type in (False, True):
            table = host.table_of_names(host_text.addresses(kernels, expressions, by_type), waits)
            files.write_text(unit, library_names.renaming(own) + before + table + after)
            try:
                done = host_compiler.run(command, name)
                break
            except errors.CompileError as error:
                if by_type or "overloaded" not in str(error.stderr):
                    raise
        known = kernel_types.table(kernels, {}, {})
        made = code_object.kernels(str(image))
        keep(source, name, words, expressions, made)
        notes, symbols = code_object.metadata(made, known), code_object.variables(image)
        code = code_object.wrapped(image.read_bytes(), made, notes, symbols)
        names = [name_expressions.plain(one) for one in expressions]
        return code, done.stderr, [made[one].symbol if one in made else one for one in names]


def keep(source, name, words, expressions, made):
    """Leave a request where PYGPU_STANDIN_KEEP says, for AMD's own compiler."""
    folder = os.environ.get("PYGPU_STANDIN_KEEP")
    if not folder:
        return
    sizes = {one.symbol: [nbytes for _, nbytes in one.parameters] for one in made.values()}
    toolkit = rtc.toolkit_include_options("hiprtc")
    words = [compile_for_amd.TOOLKIT if word in toolkit else word for word in words]
    request = {"source": source, "name": name, "options": words, "expressions": expressions}
    text = json.dumps({**request, "kernels": sizes}, sort_keys=True)
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, hashlib.sha256(text.encode()).hexdigest()[:16] + ".json").write_text(text)


def main(folder):
    """Compile a folder's files (source, name, options, expressions) to image, log and names."""
    place = Path(folder)
    source, name = (_text((place / one).read_bytes()) for one in ("source", "name"))
    words = os.fsdecode((place / "options").read_bytes()).split("\0")[:-1]
    expressions = _text((place / "expressions").read_bytes()).split("\0")[:-1]
    if not any(re.fullmatch(r"--offload-arch=gfx[0-9a-f]+\S*", word) for word in words):
        files.write_text(place / "log", "error: no architecture of AMD's is named")
        return
    try:
        image, log, names = compiled(source, name, words, expressions)
    except errors.CompileError as error:
        files.write_text(place / "log", error.stderr or str(error))
        return
    files.write_text(place / "log", log)
    files.write_text(place / "names", "".join(one + "\0" for one in names))
    (place / "image").write_bytes(image)


def _text(data):
    return data.decode("utf-8", "surrogateescape")
