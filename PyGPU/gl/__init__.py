"""Placeholders for ``pycuda.gl``, for programs that import it: PyGPU does not support OpenGL."""

from __future__ import annotations

from PyGPU._as_pycuda.refused import refused
from PyGPU._driver.enums import graphics_register_flags

__all__ = [
    "BufferObject",
    "BufferObjectMapping",
    "RegisteredBuffer",
    "RegisteredImage",
    "RegisteredMapping",
    "graphics_map_flags",
    "init",
    "make_context",
]

REASON = (
    "it does not support OpenGL, and have_gl_ext() returns False. Copy the data to draw with "
    "get(), or map the buffer with CUDA's own calls and pass its address"
)

graphics_map_flags = graphics_register_flags
init = refused("gl.init", REASON)
make_context = refused("gl.make_context", REASON)
RegisteredBuffer = refused("gl.RegisteredBuffer", REASON)
RegisteredImage = refused("gl.RegisteredImage", REASON)
RegisteredMapping = refused("gl.RegisteredMapping", REASON)
BufferObject = refused("gl.BufferObject", REASON)
BufferObjectMapping = refused("gl.BufferObjectMapping", REASON)
