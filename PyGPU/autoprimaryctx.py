"""``import PyGPU.autoprimaryctx`` makes the default device's primary context current.

PyGPU uses primary contexts only, so the module does what PyGPU.autoinit does.
"""

from __future__ import annotations

import atexit

import PyGPU.driver as cuda
from PyGPU._driver.device import exit_handler, make_default_context


def _retain(device: cuda.Device) -> cuda.Context:
    context = device.retain_primary_context()
    context.push()
    return context


cuda.init()
context = make_default_context(_retain)
device = context.get_device()
_finish_up = atexit.register(exit_handler(globals()))
