// CUDA's surface functions for host kernels: surf1Dread ... surf3Dwrite and the layered forms. The
// first coordinate is in bytes. Elements are copied without conversion.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../vendor/host_arrays.h"

// Copy `nbytes`. An access outside the surface ends the kernel, unless the boundary mode clamps it
// or reads zero.
extern "C" __attribute__((visibility("default"))) void PyGPU_host_surface_read(
    cudaSurfaceObject_t surface, void* to, std::size_t nbytes, int x, int y, int z,
    cudaSurfaceBoundaryMode mode);
extern "C" __attribute__((visibility("default"))) void PyGPU_host_surface_write(
    cudaSurfaceObject_t surface, const void* from, std::size_t nbytes, int x, int y, int z,
    cudaSurfaceBoundaryMode mode);

namespace PyGPU {
namespace host {

template <class T>
constexpr bool is_moved_whole() {
  return std::is_trivially_copyable<T>::value && (sizeof(T) & (sizeof(T) - 1)) == 0 &&
         sizeof(T) <= 16;
}

template <class T>
T surface_read(cudaSurfaceObject_t surface, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  static_assert(is_moved_whole<T>(), "surfaces move 1, 2, 4, 8 or 16 bytes");
  T value;
  PyGPU_host_surface_read(surface, &value, sizeof value, x, y, z, mode);
  return value;
}

template <class T>
void surface_write(T value, cudaSurfaceObject_t surface, int x, int y, int z,
                   cudaSurfaceBoundaryMode mode) {
  static_assert(is_moved_whole<T>(), "surfaces move 1, 2, 4, 8 or 16 bytes");
  PyGPU_host_surface_write(surface, &value, sizeof value, x, y, z, mode);
}

}  // namespace host
}  // namespace PyGPU

// name: the call without "read" or "write"; coordinates: its parameters; places: x, y and z.
#define PYGPU_UNPACK(...) __VA_ARGS__
#define PYGPU_SURFACE(name, coordinates, places)                                   \
  template <class T>                                                               \
  T name##read(cudaSurfaceObject_t surface, PYGPU_UNPACK coordinates,              \
               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {              \
    return PyGPU::host::surface_read<T>(surface, PYGPU_UNPACK places, mode);       \
  }                                                                                \
  template <class T>                                                               \
  void name##read(T* to, cudaSurfaceObject_t surface, PYGPU_UNPACK coordinates,    \
                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {           \
    *to = PyGPU::host::surface_read<T>(surface, PYGPU_UNPACK places, mode);        \
  }                                                                                \
  template <class T>                                                               \
  void name##write(T value, cudaSurfaceObject_t surface, PYGPU_UNPACK coordinates, \
                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {          \
    PyGPU::host::surface_write(value, surface, PYGPU_UNPACK places, mode);         \
  }
PYGPU_SURFACE(surf1D, (int x), (x, 0, 0))
PYGPU_SURFACE(surf2D, (int x, int y), (x, y, 0))
PYGPU_SURFACE(surf3D, (int x, int y, int z), (x, y, z))
PYGPU_SURFACE(surf1DLayered, (int x, int layer), (x, 0, layer))
PYGPU_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer))
#undef PYGPU_SURFACE
#undef PYGPU_UNPACK
