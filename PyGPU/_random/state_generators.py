"""The generators XORWOW and MRG32k3a, by the device functions of curand_kernel.h."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._random import pseudo
from PyGPU._random.seeds import seed_getter_unique
from PyGPU._runtime import core, docstrings

if TYPE_CHECKING:
    from PyGPU._types import Int, SeedGetter, StreamLike


class XORWOWRandomNumberGenerator(pseudo.States):
    """Marsaglia's generator XORWOW, by the device functions of curand_kernel.h.

    Many generators work in parallel; generator i has seed i and sequence i. Integers and uniform
    numbers equal cuRAND's to the last bit on every target. ``backend`` is the header in use:
    NVIDIA's ("curand") or PyGPU's ("pygpu").

    :param seed_getter: Returns that many seeds as an int32 GPUArray. :func:`seed_getter_unique` by
        default.
    :param offset: Numbers that each generator skips at the start.
    :raises TypeError: If the getter returns anything else.

    >>> import PyGPU.curandom as curandom
    >>> generator = curandom.XORWOWRandomNumberGenerator()
    >>> generator.gen_uniform(4, "float32").shape
    (4,)
    """

    _name = "XORWOW"

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter_unique if seed_getter is None else seed_getter, offset)


class MRG32k3aRandomNumberGenerator(pseudo.States):
    """L'Ecuyer's generator MRG32k3a, by the device functions of curand_kernel.h.

    :param seed_getter: Returns that many seeds as an int32 GPUArray. :func:`seed_getter_unique` by
        default.
    :param offset: Numbers that each generator skips at the start.

    See Also
    --------
    XORWOWRandomNumberGenerator : The same interface and headers.

    >>> import PyGPU.curandom as curandom
    >>> generator = curandom.MRG32k3aRandomNumberGenerator()
    >>> generator.gen_normal(4, "float32").shape
    (4,)
    """

    _name = "MRG32k3a"
    _skips = pseudo.SKIPS

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter_unique if seed_getter is None else seed_getter, offset)

    def call_skip_ahead_subsequence(self, i: Int, stream: StreamLike = None) -> None:
        """Skip subsequences in each generator.

        :param i: Number of subsequences.
        :param stream:
        """
        self._skip("skip_ahead_subsequence", i, stream)

    def call_skip_ahead_subsequence_array(
        self, i: core.GPUArray, stream: StreamLike = None
    ) -> None:
        """Skip a different number of subsequences in each generator.

        :param i: uint64; element s is the number of subsequences for generator s.
        :param stream:
        """
        self._skip_array("skip_ahead_subsequence", i, stream)


docstrings.complete(__name__)
