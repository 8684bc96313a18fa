"""Seeds from ``numpy.random``, whose state makes them reproducible."""

from __future__ import annotations

import numpy as np

from PyGPU._runtime import core, docstrings


def seed_getter_uniform(n: int) -> core.GPUArray:
    """Return one seed from ``numpy.random``, repeated.

    :param n: Length of the result.
    :returns: int32, shape (n,).

    >>> import PyGPU.curandom as curandom
    >>> seeds = curandom.seed_getter_uniform(4).get()
    >>> bool((seeds == seeds[0]).all())
    True
    """
    return core.to_gpu(np.full(n, np.random.randint(0, 2**31 - 1), np.int32))


def seed_getter_unique(n: int) -> core.GPUArray:
    """Return independent seeds from ``numpy.random``.

    :param n: Number of seeds.
    :returns: int32, shape (n,).

    >>> import PyGPU.curandom as curandom
    >>> curandom.seed_getter_unique(4).shape
    (4,)
    """
    return core.to_gpu(np.random.randint(0, 2**31 - 1, n).astype(np.int32))


def random_key() -> int:
    """Return 64 bits from ``numpy.random``."""
    # NumPy loads numpy.random at its first use. It has get_bit_generator from 1.24 on.
    bit_generator = getattr(np.random, "get_bit_generator", None)
    generator = bit_generator and bit_generator()
    if type(generator) is np.random.MT19937:  # the words that randint would return, but faster
        low, high = generator.random_raw(), generator.random_raw()
    else:
        low, high = np.random.randint(0, 2**32, 2, np.uint64)
    return int(high) << 32 | int(low)


docstrings.complete(__name__)
