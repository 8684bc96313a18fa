"""Random numbers on the device: the names of ``pycuda.curandom``.

``rand`` and ``Philox4x32RandomNumberGenerator`` are PyGPU's own and need no library. The same seed
gives the same uniform numbers on every target and device, and for every launch shape.
"""

from __future__ import annotations

from PyGPU._random import curand
from PyGPU._random.generators import seed_getter_uniform, seed_getter_unique
from PyGPU._random.philox import Philox4x32RandomNumberGenerator, rand
from PyGPU._random.pseudo import (
    MRG32k3aRandomNumberGenerator,
    XORWOWRandomNumberGenerator,
)
from PyGPU._random.sobol import (
    ScrambledSobol32RandomNumberGenerator,
    ScrambledSobol64RandomNumberGenerator,
    Sobol32RandomNumberGenerator,
    Sobol64RandomNumberGenerator,
    direction_vector_set,
    generate_direction_vectors,
    generate_scramble_constants32,
    generate_scramble_constants64,
)

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "Philox4x32RandomNumberGenerator",
    "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator",
    "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
    "rand",
    "seed_getter_uniform",
    "seed_getter_unique",
]


def get_curand_version() -> tuple[int, int, int] | None:
    """Return the version of the installed cuRAND, or of rocRAND on AMD.

    Returns
    -------
    tuple of int or None
        (major, minor, revision); None if the library is not installed.

    Examples
    --------
    >>> import PyGPU.curandom as curandom
    >>> version = curandom.get_curand_version()
    >>> version is None or len(version) == 3
    True
    """
    return curand.version()
