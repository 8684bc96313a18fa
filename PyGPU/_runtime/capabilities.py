"""Capabilities of the target in use: what Python code asks instead of the target's name."""

from __future__ import annotations

from PyGPU._runtime.targets import core


# Plain classes: the creation of a NamedTuple class takes a third of a millisecond of the import.
class Capabilities:
    """Properties of a target that no device attribute reports."""

    #: Name of the target, for messages.
    target: str
    #: The threads of a block run one after another, on one core.
    runs_threads_serially: bool
    #: Every device has textures and surfaces.
    has_textures: bool
    #: The run-time compiler understands NVIDIA's own headers.
    compiles_vendor_headers: bool
    #: The vendor's library of random numbers.
    random_library: str
    #: The profiler's library of named ranges; empty if there is none.
    profiler_ranges: str
    #: DLPack's codes of the device types that belong to a numbered device.
    dlpack_devices: tuple[int, ...]
    #: DLPack's codes of the device types whose memory kernels can access; arrays have the first.
    dlpack_accessible: tuple[int, ...]
    #: The null stream in DLPack's numbering; None for a CPU, which has no streams.
    dlpack_null_stream: int | None


class _Cuda(Capabilities):
    target = "cuda"
    runs_threads_serially = False
    has_textures = True
    compiles_vendor_headers = True
    random_library = "curand"
    profiler_ranges = "nvtx"
    dlpack_devices = (2, 13)
    dlpack_accessible = (2, 3, 13)
    dlpack_null_stream = 1


class _Hip(Capabilities):
    target = "hip"
    runs_threads_serially = False
    has_textures = False
    compiles_vendor_headers = False
    random_library = "rocrand"
    profiler_ranges = "roctx"
    dlpack_devices = (10,)
    dlpack_accessible = (10, 11)
    dlpack_null_stream = 0


class _Host(Capabilities):
    target = "host"
    runs_threads_serially = True
    has_textures = True
    compiles_vendor_headers = False
    random_library = "curand"
    profiler_ranges = ""
    dlpack_devices = ()
    dlpack_accessible = (1,)
    dlpack_null_stream = None


#: Capabilities of the target in use.
capabilities = {one.target: one for one in (_Cuda, _Hip, _Host)}[core.target]()
