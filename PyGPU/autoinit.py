"""``import PyGPU.autoinit`` makes a context on the default device for the whole program."""

import atexit

import PyGPU.driver as cuda
from PyGPU._driver.device import exit_handler, make_default_context

cuda.init()
context = make_default_context()
device = context.get_device()
_finish_up = atexit.register(exit_handler(globals()))
