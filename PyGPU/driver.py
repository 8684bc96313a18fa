"""The names of ``pycuda.driver``: devices, contexts, memory, copies, streams, modules, functions.

PyGPU implements them by the runtime API. Contexts stand for the primary context, and programs can
share memory, streams and events with every library that uses the runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._driver.aligned_arrays import *  # noqa: F403
from PyGPU._driver.argument_handlers import *  # noqa: F403
from PyGPU._driver.array_copies import *  # noqa: F403
from PyGPU._driver.arrays import *  # noqa: F403
from PyGPU._driver.bitlog import bitlog2 as bitlog2
from PyGPU._driver.box_copies import *  # noqa: F403
from PyGPU._driver.context import *  # noqa: F403
from PyGPU._driver.copies import *  # noqa: F403
from PyGPU._driver.device import *  # noqa: F403
from PyGPU._driver.device_attributes import *  # noqa: F403
from PyGPU._driver.enums import *  # noqa: F403
from PyGPU._driver.fills import *  # noqa: F403
from PyGPU._driver.graph import *  # noqa: F403
from PyGPU._driver.host_arrays import *  # noqa: F403
from PyGPU._driver.host_memory import *  # noqa: F403
from PyGPU._driver.images import *  # noqa: F403
from PyGPU._driver.linker import *  # noqa: F403
from PyGPU._driver.memory import *  # noqa: F403
from PyGPU._driver.module import *  # noqa: F403
from PyGPU._driver.page_locked_pool import *  # noqa: F403
from PyGPU._driver.peer_copies import *  # noqa: F403
from PyGPU._driver.pools import *  # noqa: F403
from PyGPU._driver.references import *  # noqa: F403
from PyGPU._driver.stream import *  # noqa: F403
from PyGPU._driver.textures import *  # noqa: F403
from PyGPU._runtime import state
from PyGPU._runtime.state import set_debugging as set_debugging
from PyGPU.errors import ArgumentError as ArgumentError
from PyGPU.errors import CompileError as CompileError
from PyGPU.errors import Error as Error
from PyGPU.errors import LaunchError as LaunchError
from PyGPU.errors import LogicError as LogicError
from PyGPU.errors import MemoryError as MemoryError
from PyGPU.errors import RuntimeError as RuntimeError

if TYPE_CHECKING:
    CUDA_DEBUGGING: bool
else:

    def __getattr__(name):
        if name == "CUDA_DEBUGGING":
            return state.debugging
        raise AttributeError(f"module 'PyGPU.driver' has no attribute {name!r}")
