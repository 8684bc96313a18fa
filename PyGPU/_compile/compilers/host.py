"""Back end of the target ``host``: the system's C++ compiler makes shared libraries of texts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from PyGPU._compile.cache.entry import Entry
from PyGPU._compile.compilers import host_compiler, host_image, processor
from PyGPU._compile.compilers.backend import Backend, Cached, Job
from PyGPU._compile.compilers.link_input import Input
from PyGPU._compile.source import lockstep


class Host(Backend):
    """Back end that runs the system's C++ compiler."""

    name = "host"
    needs_architecture = False
    has_toolkit = False
    include_variables = ("CPATH", "CPLUS_INCLUDE_PATH")
    variables = ("GCC_EXEC_PREFIX", "COMPILER_PATH")

    def suffix(self, image: bytes) -> str:
        return "so"

    def version(self) -> str:
        state = host_compiler.identity().partition(" ")[2]
        return f"host {os.path.basename(state)}"

    def compile(self, job: Job, cached: Cached) -> Entry:
        request, options = job.request, job.options
        in_lockstep = lockstep.is_needed(
            request.source, options.macros, job.found.files, request.relocatable
        )
        options.processor = processor.flags(request.source) if request.tuned else ()
        words = [*host_compiler.flags(options, in_lockstep), *options.other, *options.include_dirs]
        words += ["-c"] if request.relocatable else []
        words += [str(host_compiler.is_strict())]
        return cached(
            host_compiler.identity(),
            words,
            lambda folder: host_image.compile(job, in_lockstep, folder),
        )

    def device_library(self, libname: str, folder: str | None) -> None:
        if libname != "cudadevrt":
            raise OSError(f"cannot find lib{libname}.a: host has no device libraries")

    def link(
        self,
        inputs: Sequence[Input],
        arch: str,
        options: Mapping[int, int],
        verbose: bool,
        cached: Cached,
    ) -> Entry:
        objects = [(one.name, one.data) for one in inputs]
        return cached(
            host_compiler.identity(),
            host_compiler.linking(),
            lambda _: host_image.link(objects),
        )
