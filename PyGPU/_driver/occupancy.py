"""What a device offers to a block, and how many blocks it can hold at once."""

from __future__ import annotations

from PyGPU._driver import enums
from PyGPU._driver.device import Context, Device
from PyGPU._runtime import state


class DeviceData:
    """Numbers of a device that decide how kernels are laid out.

    Parameters
    ----------
    dev : Device, optional
        The current one by default.
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
        """`bytes` rounded up to whole memory transactions."""
        unit = self.align_bytes(word_size)
        return -(-bytes // unit) * unit

    def align_dtype(self, elements: int, dtype_size: int) -> int:
        """`elements` rounded up so that their bytes are aligned."""
        unit = self.align_words(dtype_size)
        return -(-elements // unit) * unit

    def align_words(self, word_size: int) -> int:
        """Words in an aligned transaction."""
        return self.align_bytes(word_size) // word_size

    def align_bytes(self, word_size: int = 4) -> int:
        """Bytes of a memory transaction for words of 4, 8 or 16 bytes."""
        sizes = {4: 64, 8: 128, 16: 128}
        if word_size not in sizes:
            raise ValueError(f"word_size={word_size}: expected 4, 8 or 16")
        return sizes[word_size]

    def coalesce(self, thread_count: int) -> int:
        """`thread_count` rounded up to a multiple of 16."""
        return -(-thread_count // 16) * 16

    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int:
        """1, 2 or 4 channels for `size`."""
        for valid in (1, 2, 4):
            if size <= valid:
                return valid
        raise ValueError(f"size={size}: a texture has at most 4 channels")


class OccupancyRecord:
    """How many blocks of a kernel a multiprocessor holds.

    Parameters
    ----------
    devdata : DeviceData
    threads : int
        In a block.
    shared_mem : int
        Bytes of a block.
    registers : int
        Of a thread.

    Attributes
    ----------
    tb_per_mp : int
        Blocks on a multiprocessor.
    limited_by : {"device", "warps", "regs", "smem"}
    warps_per_mp : int
    occupancy : float
        warps_per_mp as a part of what the device can hold.
    """

    def __init__(
        self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0
    ) -> None:
        if not 1 <= threads <= devdata.max_threads:
            raise ValueError(f"threads={threads}: a block has 1 to {devdata.max_threads}")
        if shared_mem > devdata.shared_memory:
            raise ValueError(f"shared_mem={shared_mem}: there are {devdata.shared_memory} bytes")
        warps = -(-threads // devdata.warp_size)
        limits = [
            (devdata.thread_blocks_per_mp, "device"),
            (devdata.warps_per_mp // warps, "warps"),
        ]
        if registers > 0:
            used = -(-registers * devdata.warp_size // 256) * 256 * warps
            if used > devdata.registers:
                raise ValueError(f"registers={registers}: too many for {threads} threads")
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
