// Texture elements on the host: the result of a fetch, and the channel formats of C++ types.
#pragma once

#include <cstring>

#include "vector_types.h"

// These headers use the vector types.
#include "../device/texel_types.h"
#include "../vendor/host_arrays.h"

namespace PyGPU {
namespace host {

// Result of a fetch: four 32-bit registers, reinterpreted as the requested type. As on a GPU, a
// wrong type yields wrong numbers, not a conversion.
struct Registers {
  unsigned bits[4];

  void put(int channel, float value) { std::memcpy(&bits[channel], &value, 4); }
  float real(int channel) const {
    float value;
    std::memcpy(&value, &bits[channel], 4);
    return value;
  }
  void read(int channel, float& value) const { value = real(channel); }
  template <class Integer>
  void read(int channel, Integer& value) const {
    value = static_cast<Integer>(bits[channel]);
  }

  template <class T>
  T as() const {
    typename P_Texel<T>::P_Number numbers[P_Texel<T>::P_count];
    for (int i = 0; i < P_Texel<T>::P_count; ++i) read(i, numbers[i]);
    T texel;
    static_assert(sizeof texel == sizeof numbers, "a texel is its numbers");
    std::memcpy(&texel, numbers, sizeof texel);
    return texel;
  }
};

}  // namespace host
}  // namespace PyGPU

// Return the channel format of elements of type T.
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Number = typename PyGPU::P_Texel<T>::P_Number;
  constexpr int bits = 8 * sizeof(Number), channels = PyGPU::P_Texel<T>::P_count;
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
          static_cast<cudaChannelFormatKind>(PyGPU::P_kind_of_channel<Number>())};
}
