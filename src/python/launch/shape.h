// Launch shape: conversion of grid=, block= and shared= from Python objects.
#pragma once

#include "PyGPU/runtime/kernel.h"
#include "python/runtime/call.h"

namespace PyGPU::python {

// Convert one to three lengths; an int is the first length. LogicError, which names `what`, for
// other values.
dim3 shape_of(const char* what, PyObject* value);
std::size_t shared_bytes_of(PyObject* value);

}  // namespace PyGPU::python
