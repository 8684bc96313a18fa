"""The names of ``pycuda.driver``: devices, contexts, memory, copies, streams, modules, functions.

PyGPU implements them by the runtime API. Contexts stand for the primary context, and programs can
share memory, streams and events with every library that uses the runtime.
"""

from __future__ import annotations

from PyGPU._driver import enums
from PyGPU._driver.argument_handlers import *  # noqa: F403
from PyGPU._driver.bitlog import bitlog2 as bitlog2
from PyGPU._driver.context import *  # noqa: F403
from PyGPU._driver.copies import *  # noqa: F403
from PyGPU._driver.device import *  # noqa: F403
from PyGPU._driver.enums import *  # noqa: F403
from PyGPU._driver.graph import *  # noqa: F403
from PyGPU._driver.memory import *  # noqa: F403
from PyGPU._driver.module import *  # noqa: F403
from PyGPU._driver.stream import *  # noqa: F403
from PyGPU._runtime import hooks, state
from PyGPU._runtime.state import set_debugging as set_debugging
from PyGPU.errors import ArgumentError as ArgumentError
from PyGPU.errors import CompileError as CompileError
from PyGPU.errors import Error as Error
from PyGPU.errors import LaunchError as LaunchError
from PyGPU.errors import LogicError as LogicError
from PyGPU.errors import MemoryError as MemoryError
from PyGPU.errors import RuntimeError as RuntimeError

#: Names whose modules are imported at their first use.
DEFERRED = hooks.by_name(
    {
        "PyGPU._driver.aligned_arrays": "aligned_empty aligned_empty_like aligned_zeros "
        "aligned_zeros_like",
        "PyGPU._driver.array_copies": "memcpy_atoa memcpy_atod memcpy_atoh memcpy_dtoa "
        "memcpy_htoa py_memcpy_atoh py_memcpy_htoa",
        "PyGPU._driver.arrays": "Array ArrayDescriptor ArrayDescriptor3D dtype_to_array_format "
        "gpuarray_to_array make_multichannel_2d_array matrix_to_array np_to_array",
        "PyGPU._driver.box_copies": "Memcpy2D Memcpy3D Memcpy3DPeer",
        "PyGPU._driver.fills": "memset_d2d8 memset_d2d8_async memset_d2d16 memset_d2d16_async "
        "memset_d2d32 memset_d2d32_async memset_d8 memset_d8_async memset_d16 memset_d16_async "
        "memset_d32 memset_d32_async",
        "PyGPU._driver.host_arrays": "managed_empty managed_empty_like managed_zeros "
        "managed_zeros_like pagelocked_empty pagelocked_empty_like pagelocked_zeros "
        "pagelocked_zeros_like register_host_memory",
        "PyGPU._driver.host_memory": "AlignedHostAllocation HostAllocation HostPointer "
        "ManagedAllocation ManagedAllocationOrStub PagelockedHostAllocation RegisteredHostMemory",
        "PyGPU._driver.images": "module_from_buffer module_from_file",
        "PyGPU._driver.linker": "Linker",
        "PyGPU._driver.page_locked_pool": "PageLockedAllocator PageLockedMemoryPool "
        "PooledHostAllocation",
        "PyGPU._driver.peer_copies": "memcpy_peer memcpy_peer_async",
        "PyGPU._driver.pools": "DebugMemoryPool DeviceMemoryPool PooledDeviceAllocation",
        "PyGPU._driver.references": "SurfaceReference TextureReference bind_array_to_texref "
        "matrix_to_texref",
        "PyGPU._driver.textures": "SurfaceObject TextureObject",
    }
)
DEFERRED.update(dict.fromkeys(enums._DEFERRED, "PyGPU._driver.enums"))
_late, __dir__ = hooks.late_names(globals(), DEFERRED)


def __getattr__(name):
    return state.debugging if name == "CUDA_DEBUGGING" else _late(name)


_NO_API = {"DEFERRED", "annotations", "enums", "hooks", "state"}
__all__ = sorted({*DEFERRED, *(name for name in globals() if name[0] != "_")} - _NO_API)
