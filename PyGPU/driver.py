"""The names of ``pycuda.driver``: devices, contexts, memory, copies, streams, modules, functions.

PyGPU implements them by the runtime API. Contexts stand for the primary context, and programs can
share memory, streams and events with every library that uses the runtime.
"""

# ruff: noqa: F403
import typing as _typing

from PyGPU._driver.argument_handlers import *
from PyGPU._driver.arrays import *
from PyGPU._driver.box_copies import *
from PyGPU._driver.context import *
from PyGPU._driver.copies import *
from PyGPU._driver.device import *
from PyGPU._driver.enums import *
from PyGPU._driver.fills import *
from PyGPU._driver.host_arrays import *
from PyGPU._driver.host_memory import *
from PyGPU._driver.images import *
from PyGPU._driver.memory import *
from PyGPU._driver.module import *
from PyGPU._driver.pools import *
from PyGPU._driver.pools import bitlog2 as bitlog2
from PyGPU._driver.references import *
from PyGPU._driver.stream import *
from PyGPU._driver.strided_copies import *
from PyGPU._driver.textures import *
from PyGPU._runtime import state as _state
from PyGPU._runtime.state import set_debugging as set_debugging
from PyGPU.errors import ArgumentError as ArgumentError
from PyGPU.errors import CompileError as CompileError
from PyGPU.errors import Error as Error
from PyGPU.errors import LaunchError as LaunchError
from PyGPU.errors import LogicError as LogicError
from PyGPU.errors import MemoryError as MemoryError
from PyGPU.errors import RuntimeError as RuntimeError

if _typing.TYPE_CHECKING:
    CUDA_DEBUGGING: bool
else:
    __all__ = sorted(name for name in globals() if name[0] != "_")

    def __getattr__(name):
        """Return CUDA_DEBUGGING, which set_debugging changes."""
        if name == "CUDA_DEBUGGING":
            return _state.debugging
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
