"""Objects that tests pass in place of other libraries' or programs' own."""

import PyGPU.driver as drv


class Carrier:
    """An object with given attributes."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class NullInterface:
    """A null pointer of another library; its reading takes an action first."""

    def __init__(self, action, typestr="<f4"):
        self.action = action
        self.typestr = typestr

    @property
    def __cuda_array_interface__(self):
        self.action()
        return {"data": (0, False), "shape": (0,), "typestr": self.typestr, "version": 3}


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
