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
template <class P_T>
using add_const_t = typename add_const<P_T>::type;
template <class P_T>
using add_lvalue_reference_t = typename add_lvalue_reference<P_T>::type;
template <class P_T>
using add_pointer_t = typename add_pointer<P_T>::type;
template <class P_T>
using add_rvalue_reference_t = typename add_rvalue_reference<P_T>::type;
template <class P_T>
using decay_t = typename decay<P_T>::type;
template <class P_T>
using make_signed_t = typename make_signed<P_T>::type;
template <class P_T>
using make_unsigned_t = typename make_unsigned<P_T>::type;
template <class P_T>
using remove_const_t = typename remove_const<P_T>::type;
template <class P_T>
using remove_cv_t = typename remove_cv<P_T>::type;
template <class P_T>
using remove_extent_t = typename remove_extent<P_T>::type;
template <class P_T>
using remove_pointer_t = typename remove_pointer<P_T>::type;
template <class P_T>
using remove_reference_t = typename remove_reference<P_T>::type;
template <class P_T>
using remove_volatile_t = typename remove_volatile<P_T>::type;

#if __cplusplus >= 201703L
template <class...>
using void_t = void;
template <class P_T>
constexpr size_t alignment_of_v = alignment_of<P_T>::value;
template <class P_T>
constexpr bool is_arithmetic_v = is_arithmetic<P_T>::value;
template <class P_T>
constexpr bool is_array_v = is_array<P_T>::value;
template <class P_T>
constexpr bool is_class_v = is_class<P_T>::value;
template <class P_T>
constexpr bool is_const_v = is_const<P_T>::value;
template <class P_T>
constexpr bool is_enum_v = is_enum<P_T>::value;
template <class P_T>
constexpr bool is_floating_point_v = is_floating_point<P_T>::value;
template <class P_T>
constexpr bool is_integral_v = is_integral<P_T>::value;
template <class P_T>
constexpr bool is_lvalue_reference_v = is_lvalue_reference<P_T>::value;
template <class P_T>
constexpr bool is_pointer_v = is_pointer<P_T>::value;
template <class P_T>
constexpr bool is_reference_v = is_reference<P_T>::value;
template <class P_T>
constexpr bool is_rvalue_reference_v = is_rvalue_reference<P_T>::value;
template <class P_T>
constexpr bool is_signed_v = is_signed<P_T>::value;
template <class P_T>
constexpr bool is_trivially_copyable_v = is_trivially_copyable<P_T>::value;
template <class P_T>
constexpr bool is_unsigned_v = is_unsigned<P_T>::value;
template <class P_T>
constexpr bool is_void_v = is_void<P_T>::value;
template <class P_T>
constexpr bool is_volatile_v = is_volatile<P_T>::value;
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
