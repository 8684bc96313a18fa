// The types that textures give and surfaces take: numbers of 8, 16 and 32 bits, and vectors of 1, 2
// and 4 of them.
#pragma once

#include <cstring>

#include "../vendor/host_arrays.h"
#include "vector_types.h"

namespace PyGPU {
namespace host {

template <class T>
struct Texel;  // not defined: a texture does not give this type

#define PYGPU_TEXEL(T, number, channels)   \
  template <>                              \
  struct Texel<T> {                        \
    using Number = number;                 \
    static constexpr int count = channels; \
  };
#define PYGPU_TEXELS(number, name) \
  PYGPU_TEXEL(number, number, 1)   \
  PYGPU_TEXEL(name##1, number, 1)  \
  PYGPU_TEXEL(name##2, number, 2)  \
  PYGPU_TEXEL(name##4, number, 4)
PYGPU_TEXELS(signed char, char)
PYGPU_TEXELS(unsigned char, uchar)
PYGPU_TEXELS(short, short)
PYGPU_TEXELS(unsigned short, ushort)
PYGPU_TEXELS(int, int)
PYGPU_TEXELS(unsigned, uint)
PYGPU_TEXELS(float, float)
PYGPU_TEXEL(char, char, 1)
#undef PYGPU_TEXELS
#undef PYGPU_TEXEL

// The result of a fetch: four registers of 32 bits, which the requested type reinterprets, as on a
// GPU. So a wrong type gives wrong numbers, not a conversion.
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
    typename Texel<T>::Number numbers[Texel<T>::count];
    for (int i = 0; i < Texel<T>::count; ++i) read(i, numbers[i]);
    T texel;
    static_assert(sizeof texel == sizeof numbers, "a texel is its numbers");
    std::memcpy(&texel, numbers, sizeof texel);
    return texel;
  }
};

}  // namespace host
}  // namespace PyGPU

// The format of elements of a type.
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Number = typename PyGPU::host::Texel<T>::Number;
  constexpr int bits = 8 * sizeof(Number), channels = PyGPU::host::Texel<T>::count;
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
          Number(0.5f) != 0        ? cudaChannelFormatKindFloat
          : Number(-1) < Number(0) ? cudaChannelFormatKindSigned
                                   : cudaChannelFormatKindUnsigned};
}
