// Launch shape: conversion of grid=, block= and shared= from Python objects.
#pragma once

#include "PyGPU/runtime/kernel.h"
#include "python/runtime/call.h"

namespace PyGPU::python {

// Convert one to three integers from 1 to 2^32 - 1; missing lengths are 1, and an int is the first
// length. Throw DeviceError (LogicError in Python) for other values; the message starts with
// `name`.
dim3 shape_of(const char* name, PyObject* value);

// Convert a number of bytes from 0 to 2^31 - 1. Throw DeviceError for numbers out of this range.
std::size_t shared_bytes_of(PyObject* value);

}  // namespace PyGPU::python
