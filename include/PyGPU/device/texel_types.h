// Types that textures return and surfaces accept: numbers of 8, 16 and 32 bits, and vectors of 1, 2
// and 4 of them.
#pragma once

namespace PyGPU {

// Number: type of each channel; count: number of channels; Four: vector of four such numbers.
template <class P_T>
struct P_Texel;  // undefined: textures do not support this type

#define PYGPU_TEXEL(T, number, channels, four) \
  template <>                                  \
  struct P_Texel<T> {                          \
    using P_Number = number;                   \
    using P_Four = four;                       \
    static constexpr int P_count = channels;   \
  };
#define PYGPU_TEXELS(number, name)         \
  PYGPU_TEXEL(number, number, 1, name##4)  \
  PYGPU_TEXEL(name##1, number, 1, name##4) \
  PYGPU_TEXEL(name##2, number, 2, name##4) \
  PYGPU_TEXEL(name##4, number, 4, name##4)
PYGPU_TEXELS(signed char, char)
PYGPU_TEXELS(unsigned char, uchar)
PYGPU_TEXELS(short, short)
PYGPU_TEXELS(unsigned short, ushort)
PYGPU_TEXELS(int, int)
PYGPU_TEXELS(unsigned, uint)
PYGPU_TEXELS(float, float)
PYGPU_TEXEL(char, char, 1, char4)
#undef PYGPU_TEXELS
#undef PYGPU_TEXEL

// Kind of a number, as in cudaChannelFormatKind: 0 signed, 1 unsigned, 2 floating-point.
template <class P_Number>
constexpr int P_kind_of_channel() {
  return P_Number(0.5f) != 0 ? 2 : P_Number(-1) < P_Number(0) ? 0 : 1;
}

}  // namespace PyGPU
