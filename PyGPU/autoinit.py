"""``import PyGPU.autoinit``: a context on the default device for the rest of the program."""

import atexit

import PyGPU.driver as cuda
from PyGPU.tools import clear_context_caches, make_default_context

cuda.init()
context = make_default_context()
device = context.get_device()


def _finish_up() -> None:
    global context
    if context is not None:
        if cuda.Context.get_current() is not None:
            cuda.Context.pop()
        context = None  # type: ignore[assignment]
    clear_context_caches()


atexit.register(_finish_up)
