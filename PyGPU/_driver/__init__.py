"""What ``PyGPU.driver`` and ``PyGPU.tools`` are made of."""

from PyGPU._driver import enums, memory
from PyGPU._driver.device import Device
from PyGPU._driver.module import Function, Module
from PyGPU._driver.program import Program
from PyGPU._driver.stream import Event

__all__ = ["Device", "Event", "Function", "Module", "Program", "enums", "memory"]
