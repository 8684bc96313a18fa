"""Check of MPI: whether the library accepts device memory."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
from collections.abc import Iterator
from typing import Any

from PyGPU._doctor.findings import Finding, ok, warn
from PyGPU._doctor.vendors import OWN, Vendor
from PyGPU._runtime import programs, toolkits

# Variables that switch the support of device memory on, in Cray MPICH, MVAPICH and Intel MPI.
_SWITCHES = ("MPICH_GPU_SUPPORT_ENABLED", "MV2_USE_CUDA", "MV2_USE_ROCM", "I_MPI_OFFLOAD")


def device_memory() -> Iterator[Finding]:
    """Find whether MPI accepts device memory; nothing if mpi4py is not installed."""
    if importlib.util.find_spec("mpi4py") is None:
        return
    if OWN is None:
        yield ok("mpi4py is installed: every MPI accepts the memory of the target host")
        return
    try:
        importlib.import_module("mpi4py").rc.initialize = False
        module = importlib.import_module("mpi4py.MPI")
    except (ImportError, OSError, RuntimeError) as error:  # mpi4py's wheels have no MPI library
        yield warn(
            f"mpi4py is installed, but does not load: {str(error).splitlines()[0]}",
            "Load the module of an MPI library, or add the library's folder to LD_LIBRARY_PATH.",
        )
        return
    name = module.Get_library_version().strip("\0 \n").splitlines()[0]
    name = name.partition(",")[0]
    # MPICH ends a process that asks before MPI_Init; MPI_Init may fail outside of a job.
    is_open_mpi = name.startswith("Open MPI")
    library = ctypes.CDLL(module.__file__) if is_open_mpi else None
    yield judged(name, answer(OWN, library, _description() if is_open_mpi else ""))


def _description() -> str:
    """Return the text in which Open MPI describes its build; empty for another MPI."""
    program = toolkits.program_on(os.environ.get("PATH", os.defpath), "ompi_info")
    try:
        return programs.run([program, "--parsable", "--all"], 5).stdout if program else ""
    except (OSError, TimeoutError):
        return ""


def answer(vendor: Vendor, library: Any, description: str) -> bool | None:
    """Return the support that an MPI library reports before MPI_Init; None if it is unknown.

    Parameters
    ----------
    vendor : Vendor
        Vendor of the devices.
    library : object or None
        Functions of the MPI library, if they may be called before MPI_Init.
    description : str
        Output of ``ompi_info``. Open MPI 5 answers its query only after MPI_Init.
    """
    kind = vendor.mpi_kind
    query = getattr(library, f"MPIX_Query_{kind}_support", None)
    marks = (f"mpi_built_with_{kind}_support:value:true", f"mca:accelerator:{kind}:")
    if query is not None:
        return bool(query()) or any(mark in description for mark in marks)
    is_on = any(os.environ.get(name, "0") not in ("", "0") for name in _SWITCHES)
    return True if is_on else None


def judged(name: str, supports: bool | None) -> Finding:
    """Return whether an MPI library accepts device memory; None: unknown."""
    if supports:
        return ok(f"{name}: accepts device memory")
    unknown = "before MPI_Init, it is unknown whether it accepts device memory"
    return warn(
        f"{name}: {unknown if supports is None else 'it does not accept device memory'}",
        "Pass host arrays to MPI, or use an MPI that is built for the GPU (Cray MPICH: set "
        "MPICH_GPU_SUPPORT_ENABLED=1).",
    )
