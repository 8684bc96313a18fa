"""Objects behind ``PyGPU.driver`` and ``PyGPU.tools``: devices, memory, modules, streams, pools."""

from PyGPU._driver import enums, memory
from PyGPU._driver.device import Device
from PyGPU._driver.module import Function, Module
from PyGPU._driver.source_module import Program, SourceModule
from PyGPU._driver.stream import Event

__all__ = [
    "Device",
    "Event",
    "Function",
    "Module",
    "Program",
    "SourceModule",
    "enums",
    "memory",
]
