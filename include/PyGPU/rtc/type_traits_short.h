// Aliases of the type traits: name_t from C++14, name_v from C++17.
#pragma once

extern "C++" {
namespace std {

template <bool P_condition, class P_Then, class P_Else>
using conditional_t = typename conditional<P_condition, P_Then, P_Else>::type;
template <bool P_condition, class P_T = void>
using enable_if_t = typename enable_if<P_condition, P_T>::type;
template <class... P_T>
using common_type_t = typename common_type<P_T...>::type;
#define PYGPU_TYPE(name) \
  template <class P_T>   \
  using name##_t = typename name<P_T>::type;
PYGPU_TYPE(add_const)
PYGPU_TYPE(add_lvalue_reference)
PYGPU_TYPE(add_pointer)
PYGPU_TYPE(add_rvalue_reference)
PYGPU_TYPE(decay)
PYGPU_TYPE(make_signed)
PYGPU_TYPE(make_unsigned)
PYGPU_TYPE(remove_const)
PYGPU_TYPE(remove_cv)
PYGPU_TYPE(remove_extent)
PYGPU_TYPE(remove_pointer)
PYGPU_TYPE(remove_reference)
PYGPU_TYPE(remove_volatile)
#undef PYGPU_TYPE

#if __cplusplus >= 201703L
template <class...>
using void_t = void;
template <class P_T>
constexpr size_t alignment_of_v = alignment_of<P_T>::value;
#define PYGPU_VALUE(name) \
  template <class P_T>    \
  constexpr bool name##_v = name<P_T>::value;
PYGPU_VALUE(is_arithmetic)
PYGPU_VALUE(is_array)
PYGPU_VALUE(is_class)
PYGPU_VALUE(is_const)
PYGPU_VALUE(is_copy_constructible)
PYGPU_VALUE(is_default_constructible)
PYGPU_VALUE(is_empty)
PYGPU_VALUE(is_enum)
PYGPU_VALUE(is_floating_point)
PYGPU_VALUE(is_integral)
PYGPU_VALUE(is_lvalue_reference)
PYGPU_VALUE(is_pointer)
PYGPU_VALUE(is_reference)
PYGPU_VALUE(is_rvalue_reference)
PYGPU_VALUE(is_signed)
PYGPU_VALUE(is_standard_layout)
PYGPU_VALUE(is_trivial)
PYGPU_VALUE(is_trivially_copy_assignable)
PYGPU_VALUE(is_trivially_copy_constructible)
PYGPU_VALUE(is_trivially_copyable)
PYGPU_VALUE(is_trivially_default_constructible)
PYGPU_VALUE(is_trivially_destructible)
PYGPU_VALUE(is_union)
PYGPU_VALUE(is_unsigned)
PYGPU_VALUE(is_void)
PYGPU_VALUE(is_volatile)
#undef PYGPU_VALUE
template <class P_A, class P_B>
constexpr bool is_base_of_v = is_base_of<P_A, P_B>::value;
template <class P_A, class P_B>
constexpr bool is_convertible_v = is_convertible<P_A, P_B>::value;
template <class P_A, class P_B>
constexpr bool is_same_v = is_same<P_A, P_B>::value;
#endif

#if __cplusplus >= 202002L
template <class P_T>
struct remove_cvref : remove_cv<typename remove_reference<P_T>::type> {};
template <class P_T>
using remove_cvref_t = typename remove_cvref<P_T>::type;
#endif

}  // namespace std
}
