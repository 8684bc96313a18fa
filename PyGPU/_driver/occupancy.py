"""Occupancy: the resources of a multiprocessor, and how many blocks fit on it at once."""

from __future__ import annotations

from PyGPU._driver import enums
from PyGPU._driver.context import Context
from PyGPU._driver.device import Device
from PyGPU._runtime import docstrings, state


class DeviceData:
    """Resource limits of a device that decide the launch shape of kernels.

    :param dev: The current device by default.

    >>> from PyGPU.tools import DeviceData
    >>> data = DeviceData()
    >>> data.align(70), data.coalesce(50)
    (128, 64)
    """

    smem_alloc_granularity = 128
    smem_granularity = 32
    register_allocation_unit = "warp"

    def __init__(self, dev: Device | None = None) -> None:
        if dev is None:
            current = Context.get_current()
            dev = current.device if current else Device(state.current_device())
        attribute = enums.device_attribute
        get = dev.get_attribute
        self.max_threads = get(attribute.MAX_THREADS_PER_BLOCK)
        self.warp_size = get(attribute.WARP_SIZE)
        self.warps_per_mp = get(attribute.MAX_THREADS_PER_MULTIPROCESSOR) // self.warp_size
        self.thread_blocks_per_mp = get(attribute.MAX_BLOCKS_PER_MULTIPROCESSOR)
        self.registers = get(attribute.MAX_REGISTERS_PER_BLOCK)
        self.shared_memory = get(attribute.MAX_SHARED_MEMORY_PER_BLOCK)

    def align(self, bytes: int, word_size: int = 4) -> int:
        """Round a size up to whole memory transactions.

        :param bytes: Size in bytes.
        :param {4, 8, 16} word_size: Bytes that a thread reads at once.
        :returns: Size in bytes.
        """
        unit = self.align_bytes(word_size)
        return -(-bytes // unit) * unit

    def align_dtype(self, elements: int, dtype_size: int) -> int:
        """Round a number of elements up to whole memory transactions.

        :param elements: Number of elements.
        :param {4, 8, 16} dtype_size: Bytes of an element.
        :returns: Number of elements.
        """
        unit = self.align_words(dtype_size)
        return -(-elements // unit) * unit

    def align_words(self, word_size: int) -> int:
        """Return the words in a memory transaction.

        :param {4, 8, 16} word_size: Bytes of a word.
        :returns: Number of words.
        """
        return self.align_bytes(word_size) // word_size

    def align_bytes(self, word_size: int = 4) -> int:
        """Return the bytes of a memory transaction.

        :param {4, 8, 16} word_size: Bytes of a word.
        :returns: Number of bytes.
        :raises ValueError: If words have another size.
        """
        sizes = {4: 64, 8: 128, 16: 128}
        if word_size not in sizes:
            raise ValueError(f"word_size={word_size}: expected 4, 8 or 16")
        return sizes[word_size]

    def coalesce(self, thread_count: int) -> int:
        """Round a number of threads up to a multiple of 16.

        :param thread_count: Number of threads.
        :returns: Number of threads.
        """
        return -(-thread_count // 16) * 16

    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int:
        """Round a number of texture channels up to 1, 2 or 4.

        :param size: Number of channels, at most 4.
        :returns: 1, 2 or 4.
        :raises ValueError: If `size` is above 4.
        """
        for valid in (1, 2, 4):
            if size <= valid:
                return valid
        raise ValueError(f"size={size}: expected at most 4 channels")


class OccupancyRecord:
    """Number of blocks of a kernel that a multiprocessor can hold at once.

    Parameters
    ----------
    devdata : DeviceData
        Resource limits of the device.
    threads : int
        Threads of a block.
    shared_mem : int, optional
        Shared memory of a block in bytes.
    registers : int, optional
        Registers of a thread; 0 ignores them.

    Attributes
    ----------
    tb_per_mp : int
        Blocks on a multiprocessor.
    limited_by : {"device", "warps", "regs", "smem"}
        Resource that limits the blocks.
    warps_per_mp : int
        Warps on a multiprocessor.
    occupancy : float
        Warps on a multiprocessor divided by the most that it can hold.

    Raises
    ------
    ValueError
        If not even one block fits.

    Examples
    --------
    >>> from PyGPU.tools import DeviceData, OccupancyRecord
    >>> record = OccupancyRecord(DeviceData(), threads=128)
    >>> 0 < record.occupancy <= 1
    True
    """

    def __init__(
        self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0
    ) -> None:
        if not 1 <= threads <= devdata.max_threads:
            raise ValueError(
                f"threads={threads}: expected 1 to {devdata.max_threads} threads per block"
            )
        if shared_mem > devdata.shared_memory:
            raise ValueError(
                f"shared_mem={shared_mem}: expected at most {devdata.shared_memory} bytes"
            )
        warps = -(-threads // devdata.warp_size)
        limits = [
            (devdata.thread_blocks_per_mp, "device"),
            (devdata.warps_per_mp // warps, "warps"),
        ]
        if registers > 0:
            used = -(-registers * devdata.warp_size // 256) * 256 * warps
            if used > devdata.registers:
                raise ValueError(
                    f"registers={registers}: {threads} threads need {used} registers, the device "
                    f"allows {devdata.registers}"
                )
            limits.append((devdata.registers // used, "regs"))
        if shared_mem > 0:
            granularity = devdata.smem_alloc_granularity
            limits.append(
                (devdata.shared_memory // (-(-shared_mem // granularity) * granularity), "smem")
            )
        self.tb_per_mp_limits = limits
        self.tb_per_mp, self.limited_by = min(limits)
        self.warps_per_mp = self.tb_per_mp * warps
        self.occupancy = self.warps_per_mp / devdata.warps_per_mp


docstrings.complete(__name__)
