// Texture fetches and surface accesses of kernels: addressing, filtering, format conversion.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "PyGPU/host/float16_formats.h"
#include "PyGPU/host/surfaces.h"
#include "PyGPU/host/textures.h"
#include "texture.h"

namespace PyGPU::host {
namespace {

float as_fraction(const PyGPUHostTexture& t, long long value) {
  const float most =
      float((1LL << (8 * t.channel_bytes - (t.kind == cudaChannelFormatKindSigned))) - 1);
  const float fraction = float(value) / most;
  return fraction < -1.0f ? -1.0f : fraction;
}

// The sRGB transfer curve of the standard IEC 61966-2-1.
float linear_of_srgb(float value) {
  return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

void fetch_channel(const PyGPUHostTexture& t, const char* from, int channel, Registers& to) {
  long long value = 0;
  const bool is_signed = t.kind == cudaChannelFormatKindSigned;
  if (t.channel_bytes == 1) {
    value = is_signed ? (long long)(*reinterpret_cast<const signed char*>(from))
                      : (long long)(*reinterpret_cast<const unsigned char*>(from));
  } else if (t.channel_bytes == 2) {
    std::uint16_t word;
    std::memcpy(&word, from, 2);
    if (t.kind == cudaChannelFormatKindFloat) return to.put(channel, Half::widen(word));
    value = is_signed ? (long long)(static_cast<std::int16_t>(word)) : (long long)(word);
  } else {
    std::memcpy(&to.bits[channel], from, 4);
    return;
  }
  if (t.as_float) {
    const float fraction = as_fraction(t, value);
    to.put(channel, t.srgb && channel < 3 ? linear_of_srgb(fraction) : fraction);
  } else {
    to.bits[channel] = static_cast<unsigned>(value);
  }
}

Registers border_of(const PyGPUHostTexture& t) {
  Registers result{};
  for (int i = 0; i < t.channels; ++i) {
    if (t.as_float || t.kind == cudaChannelFormatKindFloat) {
      result.put(i, t.border[i]);
    } else {
      result.bits[i] = static_cast<unsigned>(static_cast<long long>(t.border[i]));
    }
  }
  return result;
}

Registers fetch_inside(const PyGPUHostTexture& t, const long long* index) {
  Registers result{};
  const std::size_t element = std::size_t(t.channels) * std::size_t(t.channel_bytes);
  const char* from = t.data + std::size_t(index[2]) * t.slice_bytes +
                     std::size_t(index[1]) * t.row_bytes + std::size_t(index[0]) * element;
  for (int i = 0; i < t.channels; ++i) fetch_channel(t, from + i * t.channel_bytes, i, result);
  return result;
}

// Map an index that may lie outside an axis to an element. Return -1 for the border color.
long long addressed(long long index, long long length, cudaTextureAddressMode mode) {
  if (index >= 0 && index < length) return index;
  switch (mode) {
    case cudaAddressModeWrap: return (index % length + length) % length;
    case cudaAddressModeMirror: {
      const long long period = (index % (2 * length) + 2 * length) % (2 * length);
      return period < length ? period : 2 * length - 1 - period;
    }
    case cudaAddressModeBorder: return -1;
    default: return index < 0 ? 0 : length - 1;
  }
}

// Return a coordinate in elements, limited to a range that integers can hold. Wrap and mirror modes
// repeat after twice the length, so larger coordinates are reduced first.
double in_elements(const PyGPUHostTexture& t, int axis, float coordinate) {
  double x = double(coordinate);
  if (std::isnan(x)) return 0;
  if (t.normalized) {
    if (t.modes[axis] == cudaAddressModeWrap || t.modes[axis] == cudaAddressModeMirror)
      x = std::isinf(x) ? 0 : x - 2 * std::floor(x / 2);
    x *= double(t.lengths[axis]);
  }
  return x < -1e15 ? -1e15 : x > 1e15 ? 1e15 : x;
}

// Fetch one corner of the cell that contains a coordinate.
Registers fetch_corner(const PyGPUHostTexture& t, const long long* corner, int axes,
                       long long layer) {
  long long index[3] = {0, 0, layer};
  for (int axis = 0; axis < axes; ++axis) {
    index[axis] = addressed(corner[axis], t.lengths[axis], t.modes[axis]);
    if (index[axis] < 0) return border_of(t);
  }
  return fetch_inside(t, index);
}

const PyGPUHostTexture& texture_of(cudaTextureObject_t handle) {
  const auto* texture = reinterpret_cast<const PyGPUHostTexture*>(handle);
  if (!texture || !texture->data) __builtin_trap();
  return *texture;
}

// Sample a texture at the first `axes` coordinates. The layer is clamped.
Registers sample(const PyGPUHostTexture& t, int axes, const float* coordinates, int layer) {
  const long long slice = addressed(layer, t.lengths[2], cudaAddressModeClamp);
  long long first[3] = {0, 0, 0};
  float share[3] = {0, 0, 0};  // weight of the second corner along each axis
  for (int axis = 0; axis < axes; ++axis) {
    const double x = in_elements(t, axis, coordinates[axis]) - (t.linear ? 0.5 : 0);
    first[axis] = static_cast<long long>(std::floor(x));
    share[axis] = float(x - double(first[axis]));
  }
  if (!t.linear) return fetch_corner(t, first, axes, slice);
  float sums[4] = {0, 0, 0, 0};
  for (int corner = 0; corner < 1 << axes; ++corner) {
    float weight = 1;
    long long index[3] = {0, 0, 0};
    for (int axis = 0; axis < axes; ++axis) {
      const bool second = corner >> axis & 1;
      index[axis] = first[axis] + second;
      weight *= second ? share[axis] : 1 - share[axis];
    }
    if (weight == 0) continue;
    const Registers value = fetch_corner(t, index, axes, slice);
    for (int i = 0; i < t.channels; ++i) sums[i] += weight * value.real(i);
  }
  Registers result{};
  for (int i = 0; i < t.channels; ++i) result.put(i, sums[i]);
  return result;
}

// Face of a cube that a direction points to, and the coordinates on that face, 0 to 1. Source: the
// table in the CUDA C++ Programming Guide, "Cubemap Textures".
struct Face {
  int number;
  float coordinates[2];
};
Face face_of(const float* direction) {
  const float x = direction[0], y = direction[1], z = direction[2];
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  const auto make_face = [](int number, float s, float t, float most) {
    return Face{number, {(s / most + 1) / 2, (t / most + 1) / 2}};
  };
  if (ax >= ay && ax >= az) return x >= 0 ? make_face(0, -z, -y, ax) : make_face(1, z, -y, ax);
  if (ay >= az) return y >= 0 ? make_face(2, x, z, ay) : make_face(3, x, -z, ay);
  return z >= 0 ? make_face(4, x, -y, az) : make_face(5, -x, -y, az);
}

// Return the address of an access of `nbytes`, or null if it is outside and the boundary mode is
// zero. In the default mode an access outside ends the kernel, as in CUDA.
char* surface_address(cudaSurfaceObject_t handle, std::size_t nbytes, long long x, long long y,
                      long long z, cudaSurfaceBoundaryMode mode) {
  const auto* surface = reinterpret_cast<const PyGPUHostSurface*>(handle);
  if (!surface || !surface->data) __builtin_trap();
  const long long last[3] = {surface->lengths[0] - (long long)(nbytes), surface->lengths[1] - 1,
                             surface->lengths[2] - 1};
  long long at[3] = {x, y, z};
  for (int axis = 0; axis < 3; ++axis) {
    if (at[axis] >= 0 && at[axis] <= last[axis]) continue;
    if (mode == cudaBoundaryModeZero) return nullptr;
    if (mode != cudaBoundaryModeClamp || last[axis] < 0) __builtin_trap();
    at[axis] = at[axis] < 0 ? 0 : last[axis];
  }
  if (at[0] % (long long)(nbytes)) __builtin_trap();
  return surface->data + std::size_t(at[2]) * surface->slice_bytes +
         std::size_t(at[1]) * surface->row_bytes + std::size_t(at[0]);
}

}  // namespace
}  // namespace PyGPU::host

using namespace PyGPU::host;

void PyGPU_host_fetch(cudaTextureObject_t texture, int axes, const float* coordinates, int layer,
                      Registers* to) {
  *to = sample(texture_of(texture), axes, coordinates, layer);
}

void PyGPU_host_fetch_element(cudaTextureObject_t texture, int index, Registers* to) {
  const PyGPUHostTexture& t = texture_of(texture);
  const long long position[3] = {index, 0, 0};
  *to = index >= 0 && index < t.lengths[0] ? fetch_inside(t, position) : Registers{};
}

// Filtering stays on one face; a GPU filters across the edge to the next face.
void PyGPU_host_fetch_cube(cudaTextureObject_t texture, const float* direction, int layer,
                           Registers* to) {
  PyGPUHostTexture t = texture_of(texture);
  const Face face = face_of(direction);
  t.normalized = true;
  t.modes[0] = t.modes[1] = cudaAddressModeClamp;
  *to = sample(t, 2, face.coordinates, 6 * layer + face.number);
}

void PyGPU_host_gather(cudaTextureObject_t texture, float x, float y, int channel, Registers* to) {
  const PyGPUHostTexture& t = texture_of(texture);
  const auto first = [&](int axis, float coordinate) {
    return static_cast<long long>(std::floor(in_elements(t, axis, coordinate) - 0.5));
  };
  const long long left = first(0, x), top = first(1, y);
  const long long corners[4][3] = {
      {left, top + 1, 0}, {left + 1, top + 1, 0}, {left + 1, top, 0}, {left, top, 0}};
  for (int i = 0; i < 4; ++i) to->bits[i] = fetch_corner(t, corners[i], 2, 0).bits[channel & 3];
}

void PyGPU_host_surface_read(cudaSurfaceObject_t surface, void* to, std::size_t nbytes, int x,
                             int y, int z, cudaSurfaceBoundaryMode mode) {
  const char* const from = surface_address(surface, nbytes, x, y, z, mode);
  if (from) {
    std::memcpy(to, from, nbytes);
  } else {
    std::memset(to, 0, nbytes);
  }
}

void PyGPU_host_surface_write(cudaSurfaceObject_t surface, const void* from, std::size_t nbytes,
                              int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  if (char* const to = surface_address(surface, nbytes, x, y, z, mode))
    std::memcpy(to, from, nbytes);
}
