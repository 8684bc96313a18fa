// Kinds of C++ types, as PyGPU compares them with NumPy's dtypes.
//
// P pointer, i and u integers, f floating point, B bfloat16, b bool, c complex number, s class,
// S stream, E error of the runtime, v void, ? unknown.
#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>

struct CUstream_st;      // a cudaStream_t points to it
struct ihipStream_t;     // a hipStream_t points to it
struct PyGPUHostStream;  // on the host machine, a cudaStream_t points to it

namespace PyGPU {
namespace library {

// Return whether `name` begins the compiler's name of T, in __PRETTY_FUNCTION__: g++ writes
// "[with T = NAME]", and clang++ "[T = NAME]". With `whole`, it must be all of it.
template <class T>
constexpr bool is_named(const char* name, bool whole = true) {
  const char* text = __PRETTY_FUNCTION__;
  while (*text && !(text[0] == 'T' && text[1] == ' ' && text[2] == '=' && text[3] == ' ')) ++text;
  if (!*text) return false;
  for (text += 4; *name; ++name, ++text)
    if (*text != *name) return false;
  return !whole || *text == ']' || *text == ';';
}

template <class T>
constexpr bool is_cuda_vector() {
  const char* const bases[] = {"char",     "uchar",     "short", "ushort", "int",   "uint",
                               "longlong", "ulonglong", "long",  "ulong",  "float", "double"};
  for (const char* base : bases)
    for (const char* count : {"2", "3", "4"}) {
      char name[16] = {};
      std::size_t size = 0;
      for (; base[size]; ++size) name[size] = base[size];
      name[size] = *count;
      if (is_named<T>(name)) return true;
    }
  return is_named<T>("HIP_vector_type<", false);
}

template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};

template <class T, class = void>
struct SizeOf : std::integral_constant<unsigned, 0> {};  // void and incomplete classes
template <class T>
using Object = std::conditional_t<std::is_object<T>::value, T, char>;  // no void, no function
template <class T>
struct SizeOf<T, std::enable_if_t<std::is_object<T>::value && (sizeof(Object<T>) > 0)>>
    : std::integral_constant<unsigned, sizeof(T)> {};

template <class T>
constexpr bool is_stream =
    std::is_same<T, CUstream_st*>::value || std::is_same<T, ihipStream_t*>::value ||
    std::is_same<T, PyGPUHostStream*>::value;
template <class T>
constexpr bool is_runtime_error = std::is_enum<T>::value &&
                                  (is_named<T>("cudaError") || is_named<T>("cudaError_t") ||
                                   is_named<T>("hipError_t"));

template <class T>
constexpr char kind_of() {
  if (std::is_void<T>::value) return 'v';
  if (is_stream<T>) return 'S';
  if (std::is_pointer<T>::value) return 'P';
  if (std::is_same<T, bool>::value) return 'b';
  if (std::is_floating_point<T>::value) return 'f';
  if (std::is_integral<T>::value) return std::is_signed<T>::value ? 'i' : 'u';
  if (is_runtime_error<T>) return 'E';
  if (std::is_enum<T>::value) return 'i';
  if (is_named<T>("__half")) return 'f';
  if (is_named<T>("__nv_bfloat16") || is_named<T>("__hip_bfloat16")) return 'B';
  if (IsComplex<T>::value || is_named<T>("float2") || is_named<T>("double2")) return 'c';
  return std::is_class<T>::value || std::is_union<T>::value ? 's' : '?';
}

}  // namespace library
}  // namespace PyGPU
