"""The suite on a target `host` that is built with the compiler's sanitizers.

Run: python tests/sanitized.py {address,thread} [pytest's arguments]. Addresses come with undefined
behaviour. A copy of the checkout is built in a scratch folder; what a sanitizer finds ends the
process that it is found in, and so fails its test. `thread` is for PyGPU's own threads, not for
kernels whose threads wait for each other: the tool does not know their stacks.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FLAGS = {
    "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
    "thread": ["-fsanitize=thread"],
}
LIBRARY = {"address": "libasan.so", "thread": "libtsan.so"}
#: What compiled code calls when it writes to memory.
CALLED = {"address": b"__asan_report_store", "thread": b"__tsan_write"}
# The machine itself handles the faults of kernels, and has stacks for that.
OPTIONS = "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0:use_sigaltstack=0:"
OPTIONS += "allocator_may_return_null=1"
OF_TOOL = {
    "address": f"{OPTIONS}:detect_leaks=0:detect_stack_use_after_return=0",
    "thread": f"{OPTIONS}:halt_on_error=1:exitcode=66:report_signal_unsafe=0",
}

# ThreadSanitizer ends processes whose addresses are as random as Linux makes them by default.
PREFIX = {"address": [], "thread": ["setarch", platform.machine(), "-R"]}

# The dynamic linker has a lock of its own, which the tool does not see. Calls from the linker are
# ignored, rather than their reports: a report reads all loaded files again, and those that the
# machine loaded are gone (SIGBUS).
NO_RACES = "called_from_lib:ld-linux\n"

# Tests that the tools themselves prevent.
LEFT_OUT = [
    # PYGPU_HOST_STRICT's own checks have the names of AddressSanitizer's functions.
    "tests/arrays/test_dlpack_import.py::test_strict_kernels_reach_no_further_than_lent",
    "tests/runtime/test_host_memory.py::test_strict_mode_checks_copies_fills_and_what_new_gave",
    "tests/runtime/test_host_children.py::test_strict_mode_watches_children_and_their_launches",
    # They preload a library that watches the runtime's calls, before the tool's.
    "tests/arrays/test_interop_order.py::test_what_waits",
    "tests/runtime/test_waits.py",
    # An exception leaves a stack of the machine's, which the tool does not know.
    "tests/runtime/test_host_endings.py::test_no_memory_for_stacks_is_an_error",
    # A thread's forced end is caught by a reference to nothing, as the C++ ABI has it.
    "tests/runtime/test_exit.py::test_exit[arrays of a thread]",
    "tests/runtime/test_process.py::test_a_thread_that_computes_when_the_interpreter_ends",
]


def build(tool, folder):
    listed = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    for name in subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")[:-1]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    flags = " ".join([*FLAGS[tool], "-fno-omit-frame-pointer", "-Wno-maybe-uninitialized", "-g"])
    names = ("CFLAGS", "CXXFLAGS", "LDFLAGS")  # newer setuptools compile C++ by the second
    environment = {**os.environ, **dict.fromkeys(names, flags), "PYBIND_GPU_TARGET": "host"}
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    for built in folder.glob("PyGPU/*.so"):
        if CALLED[tool] not in built.read_bytes():
            raise SystemExit(f"{built.name} is not built with the sanitizer: no {CALLED[tool]!r}")


def wrap_compilers(folder):
    """Compilers that run without the sanitizer's library, which would slow them down."""
    folder.mkdir()
    for name in ("g++", "c++", "clang++", "gcc", "nvcc", "hipcc"):
        if path := shutil.which(name):
            script = folder / name
            script.write_text(f'#!/bin/sh\nunset LD_PRELOAD\nexec {path} "$@"\n')
            script.chmod(0o755)


def library(name):
    return subprocess.check_output(["gcc", f"-print-file-name={name}"], text=True).strip()


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in FLAGS:
        raise SystemExit(__doc__)
    tool, arguments = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "PyGPU")
        build(tool, folder)
        wrap_compilers(Path(scratch, "bin"))
        known = Path(scratch, "known")
        known.write_text(NO_RACES)
        environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(Path(scratch, "bin")), os.environ["PATH"]]),
            "PYTHONPATH": str(folder),
            "PYGPU_TARGET": "host",
            "LD_PRELOAD": f"{library(LIBRARY[tool])} {library('libstdc++.so')}",
            "ASAN_OPTIONS": OF_TOOL["address"],
            "TSAN_OPTIONS": f"{OF_TOOL['thread']}:suppressions={known}",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
        command = [*PREFIX[tool], sys.executable, "-m", "pytest", *arguments]
        command += [f"--deselect={test}" for test in LEFT_OUT]
        raise SystemExit(subprocess.run(command, cwd=folder, env=environment).returncode)


if __name__ == "__main__":
    main()
