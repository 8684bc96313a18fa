// Fields of structured arrays: a["x"] and a[["x", "id"]], views of the same memory.
#pragma once

#include "python/value/gpuarray.h"

namespace PyGPU::python {

// Return true for the name of a field, and for a list of names.
bool is_field_key(PyObject* key);
// Return the view of one field, or of several, of a structured array.
GPUArray fields_at(PyObject* self, const GPUArray& array, PyObject* key);
std::vector<GPUArray> each_field(const GPUArray& array);
// Return true if a structured dtype has bytes between its fields.
bool has_gaps(const py::object& dtype);
// Return each field of a view of several fields, with the part of `value` that is assigned to it.
// Structures and tuples have one part for each field, by position; other values are assigned whole
// to every field.
std::vector<std::pair<GPUArray, py::object>> fields_with_values(const GPUArray& array,
                                                                const py::object& value);

}  // namespace PyGPU::python
