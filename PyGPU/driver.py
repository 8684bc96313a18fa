"""The names of ``pycuda.driver``: devices, contexts, memory, copies, streams, modules, functions.

Below is the runtime API: contexts are names for the primary context, and memory, streams and events
can be shared with every library that uses the runtime.
"""

from PyGPU import _driver_state
from PyGPU._driver_arrays import *  # noqa: F403
from PyGPU._driver_boxes import *  # noqa: F403
from PyGPU._driver_copies import *  # noqa: F403
from PyGPU._driver_device import *  # noqa: F403
from PyGPU._driver_enums import *  # noqa: F403
from PyGPU._driver_memory import *  # noqa: F403
from PyGPU._driver_module import *  # noqa: F403
from PyGPU._driver_state import set_debugging as set_debugging
from PyGPU._driver_stream import *  # noqa: F403
from PyGPU._driver_textures import *  # noqa: F403
from PyGPU._pools import *  # noqa: F403
from PyGPU.errors import ArgumentError as ArgumentError
from PyGPU.errors import CompileError as CompileError
from PyGPU.errors import Error as Error
from PyGPU.errors import LaunchError as LaunchError
from PyGPU.errors import LogicError as LogicError
from PyGPU.errors import MemoryError as MemoryError
from PyGPU.errors import RuntimeError as RuntimeError
from PyGPU.tools import bitlog2 as bitlog2


def __getattr__(name):
    if name == "CUDA_DEBUGGING":
        return _driver_state.debugging
    raise AttributeError(f"module 'PyGPU.driver' has no attribute {name!r}")
