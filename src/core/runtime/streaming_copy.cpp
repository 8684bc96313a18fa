// Copies by non-temporal stores. See streaming_copy.h.
#include "PyGPU/runtime/streaming_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace PyGPU {

#if defined(__SSE2__)
void copy_past_cache(char* to, const char* from, std::size_t nbytes) {
  constexpr std::size_t line = 64;
  const std::size_t past_line = reinterpret_cast<std::uintptr_t>(to) % line;
  const std::size_t head = std::min(past_line ? line - past_line : 0, nbytes);
  std::memcpy(to, from, head);
  std::size_t at = head;
  for (; at + line <= nbytes; at += line) {
    const auto* const source = reinterpret_cast<const __m128i*>(from + at);
    auto* const target = reinterpret_cast<__m128i*>(to + at);
    const __m128i first = _mm_loadu_si128(source), second = _mm_loadu_si128(source + 1),
                  third = _mm_loadu_si128(source + 2), fourth = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, first);
    _mm_stream_si128(target + 1, second);
    _mm_stream_si128(target + 2, third);
    _mm_stream_si128(target + 3, fourth);
  }
  std::memcpy(to + at, from + at, nbytes - at);
  _mm_sfence();  // before the device, or another thread, is told that the bytes are there
}
#else
void copy_past_cache(char* to, const char* from, std::size_t nbytes) {
  std::memcpy(to, from, nbytes);
}
#endif

}  // namespace PyGPU
