"""Vendors of GPUs: the names and the remedies that differ between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PyGPU._runtime import capabilities, targets


@dataclass(eq=False)
class Vendor:
    """A vendor of GPUs.

    Parameters
    ----------
    name : str
        Name in messages.
    target : str
        Name of the target.
    compiler : str
        Prefix of the run-time compiler's functions.
    oldest : (int, int)
        Oldest version of the toolkit that PyGPU supports.
    toolkit_files : sequence of str
        Patterns of files, one of which each installation of the toolkit has.
    toolkit, architecture : str
        Toolkit, and value of ``PYBIND_GPU_TARGET``, for an installation.
    libraries : sequence of str
        Names of libraries' files up to ``.so``: two versions in one process make faults.
    control_nodes : sequence of str
        Device nodes of the driver itself.
    container : str
        Options by which a container gets the devices.
    reset : str
        Command that resets a device.
    link : str
        Command that shows the links between devices and to the host.
    mpi_kind : str
        Name of the vendor's device memory in MPI libraries.
    """

    name: str
    target: str
    compiler: str
    oldest: tuple[int, int]
    toolkit_files: Sequence[str]
    toolkit: str
    architecture: str
    libraries: Sequence[str]
    control_nodes: Sequence[str]
    container: str
    reset: str
    link: str
    mpi_kind: str

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
        reset="nvidia-smi --gpu-reset",
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
        reset="rocm-smi --gpureset",
        link="rocm-smi --showtopo",
        mpi_kind="rocm",
    ),
)

#: Vendor of the target in use; None for the host machine.
OWN = {one.target: one for one in VENDORS}.get(capabilities.target)
