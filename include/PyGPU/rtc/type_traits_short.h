// The aliases of the type traits: name_t from C++14, name_v from C++17.
#pragma once

extern "C++" {
namespace std {

template <bool condition, class Then, class Else>
using conditional_t = typename conditional<condition, Then, Else>::type;
template <bool condition, class T = void>
using enable_if_t = typename enable_if<condition, T>::type;
template <class... T>
using common_type_t = typename common_type<T...>::type;
template <class T>
using add_const_t = typename add_const<T>::type;
template <class T>
using add_lvalue_reference_t = typename add_lvalue_reference<T>::type;
template <class T>
using add_pointer_t = typename add_pointer<T>::type;
template <class T>
using add_rvalue_reference_t = typename add_rvalue_reference<T>::type;
template <class T>
using decay_t = typename decay<T>::type;
template <class T>
using make_signed_t = typename make_signed<T>::type;
template <class T>
using make_unsigned_t = typename make_unsigned<T>::type;
template <class T>
using remove_const_t = typename remove_const<T>::type;
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T>
using remove_extent_t = typename remove_extent<T>::type;
template <class T>
using remove_pointer_t = typename remove_pointer<T>::type;
template <class T>
using remove_reference_t = typename remove_reference<T>::type;
template <class T>
using remove_volatile_t = typename remove_volatile<T>::type;

#if __cplusplus >= 201703L
template <class...>
using void_t = void;
template <class T>
constexpr size_t alignment_of_v = alignment_of<T>::value;
template <class T>
constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T>
constexpr bool is_array_v = is_array<T>::value;
template <class T>
constexpr bool is_class_v = is_class<T>::value;
template <class T>
constexpr bool is_const_v = is_const<T>::value;
template <class T>
constexpr bool is_enum_v = is_enum<T>::value;
template <class T>
constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T>
constexpr bool is_integral_v = is_integral<T>::value;
template <class T>
constexpr bool is_lvalue_reference_v = is_lvalue_reference<T>::value;
template <class T>
constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T>
constexpr bool is_reference_v = is_reference<T>::value;
template <class T>
constexpr bool is_rvalue_reference_v = is_rvalue_reference<T>::value;
template <class T>
constexpr bool is_signed_v = is_signed<T>::value;
template <class T>
constexpr bool is_trivially_copyable_v = is_trivially_copyable<T>::value;
template <class T>
constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T>
constexpr bool is_void_v = is_void<T>::value;
template <class T>
constexpr bool is_volatile_v = is_volatile<T>::value;
template <class A, class B>
constexpr bool is_base_of_v = is_base_of<A, B>::value;
template <class A, class B>
constexpr bool is_convertible_v = is_convertible<A, B>::value;
template <class A, class B>
constexpr bool is_same_v = is_same<A, B>::value;
#endif

#if __cplusplus >= 202002L
template <class T>
struct remove_cvref : remove_cv<typename remove_reference<T>::type> {};
template <class T>
using remove_cvref_t = typename remove_cvref<T>::type;
#endif

}  // namespace std
}
