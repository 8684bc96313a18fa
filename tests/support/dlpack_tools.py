"""Helpers for tests of DLPack: its structures in ctypes, and a producer that uses them."""

import ctypes

import numpy as np

import PyGPU
from PyGPU import gpuarray

FRESH = {False: b"dltensor", True: b"dltensor_versioned"}
USED = {False: b"used_dltensor", True: b"used_dltensor_versioned"}
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
READ_ONLY, IS_COPIED = 1, 2
EVERY_DTYPE = [np.dtype(name) for name in PyGPU.SUPPORTED_DTYPES]
OTHER_DTYPES = [np.dtype(text) for text in ("S3", "U2", "V5", "M8[s]", "m8[ms]", ">i4", ">f8", "g")]


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter))


class ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


STRUCTURES = {False: Managed, True: ManagedVersioned}

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetName.restype = ctypes.c_char_p
api.PyCapsule_GetName.argtypes = [ctypes.py_object]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


def name_of(capsule):
    return api.PyCapsule_GetName(capsule)


def look(capsule):
    """Return the structure in a capsule that no consumer has taken."""
    name = name_of(capsule)
    versioned = name == FRESH[True]
    assert versioned or name == FRESH[False]
    managed = STRUCTURES[versioned].from_address(api.PyCapsule_GetPointer(capsule, name))
    managed.capsule = capsule
    return managed


def take(capsule):
    """Take the structure from a capsule, as a consumer does; the caller must call the deleter."""
    managed = look(capsule)
    del managed.capsule
    api.PyCapsule_SetName(capsule, USED[name_of(capsule) == FRESH[True]])
    return managed


def end(managed):
    managed.deleter(ctypes.addressof(managed))


class Producer:
    """An array of another library, which counts its exports and the calls of its deleter."""

    def __init__(self, array, versioned=True, offset=0, **fields):
        self.array, self.versioned = array, versioned
        self.asked, self.ended = [], 0
        shape, itemsize = array.shape, array.dtype.itemsize
        integers = ctypes.c_int64 * max(len(shape), 1)
        self.shape = integers(*shape)
        self.strides = integers(*(stride // itemsize for stride in array.strides))
        self.managed = managed = STRUCTURES[versioned]()
        tensor = managed.tensor
        kind, number = array.__dlpack_device__()
        tensor.device_type, tensor.device_id = kind, number
        tensor.data, tensor.byte_offset = array.ptr - offset if array.size else None, offset
        tensor.ndim, tensor.lanes = len(shape), 1
        tensor.code, tensor.bits = CODES.get(array.dtype.kind, 0), 8 * itemsize
        tensor.shape, tensor.strides = self.shape, self.strides
        if versioned:
            managed.major = 1
        for name, value in fields.items():
            setattr(tensor if hasattr(tensor, name) else managed, name, value)
        managed.deleter = self.deleter = Deleter(self.end)
        self.device = tensor.device_type, tensor.device_id
        self.capsule = api.PyCapsule_New(ctypes.addressof(managed), FRESH[versioned], None)

    def end(self, address):
        assert address == ctypes.addressof(self.managed)
        self.ended += 1

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **asked):
        self.asked.append(asked)
        if not self.versioned and "max_version" in asked:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return self.capsule


def device():
    """Return the device of arrays as a DLPack device."""
    return gpuarray.zeros(1).__dlpack_device__()
