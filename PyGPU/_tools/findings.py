"""Findings of the doctor's checks, and the vendors of GPUs that they speak of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from PyGPU._runtime import capabilities, programs, targets

OK, WARN, FAIL = STATES = ("OK", "WARN", "FAIL")


class Finding(NamedTuple):
    """Something that a check found."""

    state: str  # FAIL: something that PyGPU needs does not work
    found: str
    remedy: str = ""  # a sentence; empty for OK


def ok(found: str) -> Finding:
    return Finding(OK, found)


def warn(found: str, remedy: str) -> Finding:
    return Finding(WARN, found, remedy)


def warn_if(is_wrong: bool, found: str, why: str, remedy: str) -> Finding:
    """Return an OK, or a WARN whose text ends with `why`."""
    return warn(found + why, remedy) if is_wrong else ok(found)


def fault(is_needed: bool, found: str, remedy: str) -> Finding:
    """Return a FAIL if PyGPU needs what is at fault, otherwise a WARN."""
    return Finding(FAIL if is_needed else WARN, found, remedy)


def of_error(is_needed: bool, error: Exception) -> Finding:
    """Return the fault of an error whose message ends with the remedy."""
    text = str(getattr(error, "msg", None) or error)  # of a CompileError, without the command
    parts = re.fullmatch(r"(.*)(?:\. |; )(\S.*)", text, re.DOTALL)
    if not parts:
        return fault(is_needed, text, "Run `python -m PyGPU report` and read its checks.")
    remedy = parts[2][0].upper() + parts[2][1:].rstrip(".")
    return fault(is_needed, parts[1], f"{remedy}.")


def size(nbytes: float) -> str:
    """Return a size with its unit, such as ``1.5 GiB``."""
    units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while nbytes >= 1024 and len(units) > 1:
        nbytes /= 1024
        del units[0]
    return f"{nbytes:.1f}".removesuffix(".0") + f" {units[0]}"


def text(path: str) -> str:
    """Return the contents of a file of the system; empty if it cannot be read."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def program_version(path: str) -> str:
    """Return the path of a program and the first lines of its ``--version``."""
    try:
        done = programs.run([path, "--version"], timeout=20)
    except TimeoutError:
        return f"{path}: no end within 20 s"
    if done.status in programs.CANNOT_RUN:
        return f"{path}: does not run: {done.stderr.strip()}"
    return f"{path}: " + "; ".join(filter(None, map(str.strip, done.stdout.splitlines()[:4])))


class Vendor(NamedTuple):
    """A vendor of GPUs: the names and the remedies that differ between vendors."""

    name: str
    target: str
    compiler: str  # prefix of the run-time compiler's functions
    oldest: tuple[int, int]  # version of the toolkit that PyGPU supports
    toolkit_files: Sequence[str]  # patterns, one of which each installation of the toolkit has
    toolkit: str
    architecture: str  # value of PYBIND_GPU_TARGET for an installation
    libraries: Sequence[str]  # file names up to ".so": two versions in one process make faults
    control_nodes: Sequence[str]  # device nodes of the driver itself
    container: str  # options by which a container gets the devices
    link: str  # command that shows the links between devices and to the host
    mpi_kind: str  # name of the vendor's device memory in MPI libraries

    @property
    def is_built(self) -> bool:
        return targets.is_built(self.target)

    @property
    def is_used(self) -> bool:
        return OWN is self

    @property
    def driver_remedy(self) -> str:
        return (
            f"Install {self.name}'s driver, or start the container with {self.container}; "
            "PYGPU_TARGET=host runs without a GPU."
        )


VENDORS = (
    Vendor(
        name="NVIDIA",
        target="cuda",
        compiler="nvrtc",
        oldest=(11, 3),
        toolkit_files=("libcudart*", "libnvrtc.so*", "cuda_runtime.h", "nvcc"),
        toolkit="the CUDA toolkit",
        architecture="cuda",
        libraries=("libcudart", "libnvrtc", "libnvJitLink"),
        control_nodes=("/dev/nvidiactl", "/dev/nvidia-uvm"),
        container="--gpus all",
        link="nvidia-smi topo -m",
        mpi_kind="cuda",
    ),
    Vendor(
        name="AMD",
        target="hip",
        compiler="hiprtc",
        oldest=(5, 2),
        toolkit_files=("libamdhip64.so*", "libhiprtc.so*", "hip", "hipcc"),
        toolkit="ROCm",
        architecture="gfx942",
        libraries=("libamdhip64", "libhiprtc", "libhsa-runtime64"),
        control_nodes=(),
        container="--device /dev/kfd --device /dev/dri",
        link="rocm-smi --showtopo",
        mpi_kind="rocm",
    ),
)

#: Vendor of the target in use; None for the host machine.
OWN = {vendor.target: vendor for vendor in VENDORS}.get(capabilities.target)
