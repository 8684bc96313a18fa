// The rest of pybind11's objects: its large header holds the bodies of its exception, once for all.
#include <pybind11/pybind11.h>
