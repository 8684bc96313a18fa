"""Objects that tests pass in place of other libraries' or programs' own."""

import PyGPU.driver as drv


class Carrier:
    """An object with given attributes."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class StreamProtocol:
    """An object whose `__cuda_stream__` returns a given handle."""

    def __init__(self, handle):
        self.answer = (0, handle)

    def __cuda_stream__(self):
        return self.answer


class Holder(drv.PointerHolderBase):
    """A program's own owner of memory."""

    def __init__(self, memory):
        super().__init__()
        self.memory = memory

    def get_pointer(self):
        return int(self.memory)


class BadIndex:
    """An integer that fails."""

    def __index__(self):
        raise KeyError("no index")
