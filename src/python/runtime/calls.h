// Runtime calls as Python functions, made from their pointers: def(m, "cudaSetDevice",
// call_of(&cudaSetDevice), ...). A parameter that receives a value, such as the `int*` of
// cudaGetDevice, is a result: the Python function returns (value, ..., status). Calls of equal type
// share the compiled code.
#pragma once

#include <array>
#include <tuple>

#include "python/runtime/call.h"

namespace PyGPU::python {

// True for the type of a parameter that receives a value. Handles are pointers as well, and memory
// of unknown type is an address that the caller passes.
template <class T>
constexpr bool is_result =
    std::is_pointer_v<T> && !std::is_same_v<T, cudaStream_t> && !std::is_same_v<T, cudaEvent_t> &&
    !std::is_void_v<std::remove_pointer_t<T>> && !std::is_const_v<std::remove_pointer_t<T>>;

template <class T>
constexpr bool is_ipc_handle =
    std::is_same_v<T, cudaIpcMemHandle_t> || std::is_same_v<T, cudaIpcEventHandle_t>;

template <>
inline constexpr const char* annotation_of<cudaIpcMemHandle_t> = "bytes";
template <>
inline constexpr const char* annotation_of<cudaIpcEventHandle_t> = "bytes";

// Convert an argument to the value that is kept during the call; as_given then converts that value
// to the call's parameter.
template <class T>
decltype(auto) read_for_call(PyObject* value, const ArgumentPosition& position) {
  if constexpr (std::is_same_v<T, cudaStream_t>)
    return stream_of(value);
  else if constexpr (std::is_same_v<T, cudaEvent_t>)
    return (ArgumentConverter<Event>::read(value, position));  // reference
  else if constexpr (std::is_same_v<T, const char*>)
    return read_text(value, position);
  else if constexpr (std::is_pointer_v<T>)
    return ArgumentConverter<Address>::read(value, position).value;
  else if constexpr (is_ipc_handle<T>)
    return ipc_handle_of<T>(ArgumentConverter<py::bytes>::read(value, position));
  else if constexpr (std::is_enum_v<T>)
    return T(ArgumentConverter<int>::read(value, position));
  else
    return ArgumentConverter<T>::read(value, position);
}
inline cudaStream_t as_given(const StreamRef& stream) { return stream.handle; }
inline cudaEvent_t as_given(const Event& event) { return event.get(); }
inline const char* as_given(const std::string& text) { return text.c_str(); }
template <class T>
T as_given(T value) {
  return value;
}

// Python's value of a result: a handle for other processes is bytes, an address or an enum a
// number.
template <class T>
py::object result_value(const T& value) {
  if constexpr (is_ipc_handle<T>)
    return py::bytes(reinterpret_cast<const char*>(&value), sizeof value);
  else if constexpr (std::is_pointer_v<T>)
    return to_python(number_of(value));
  else if constexpr (std::is_enum_v<T>)
    return to_python(int(value));
  else
    return to_python(value);
}
template <class T>
constexpr const char* result_type = is_ipc_handle<T>              ? "bytes"
                                    : std::is_floating_point_v<T> ? "float"
                                                                  : "int";

// The parameters of a call in progress: arguments, converted from Python, and results.
template <class T>
struct GivenParameter {
  using Kept = decltype(read_for_call<T>(std::declval<PyObject*>(),
                                         std::declval<const ArgumentPosition&>()));
  GivenParameter(PyObject* const* values, const ArgumentPosition& position)
      : kept(read_for_call<T>(values[position.number], position)) {}
  auto passed() { return as_given(kept); }
  void put(py::tuple&, std::size_t&) const {}
  static void name(std::string&) {}
  Kept kept;
};
template <class T>
struct ResultParameter {
  using Value = std::remove_pointer_t<T>;
  ResultParameter(PyObject* const*, const ArgumentPosition&) {}
  T passed() { return &value; }
  void put(py::tuple& outcome, std::size_t& place) const { outcome[place++] = result_value(value); }
  static void name(std::string& names) { names += std::string(result_type<Value>) + ", "; }
  Value value{};
};
template <class T>
using CallParameter = std::conditional_t<is_result<T>, ResultParameter<T>, GivenParameter<T>>;

// How a call behaves while this thread captures a stream: it is made as it is, or, where it is
// unrelated to the capture but could invalidate it, in CUDA's relaxed mode.
enum class DuringCapture { as_it_is, relaxed };

template <DuringCapture mode, class R, class... A>
struct RuntimeCall {
  static constexpr std::size_t count = (std::size_t(!is_result<A>) + ... + 0);

  // Number of arguments from Python before each parameter.
  static constexpr auto places = [] {
    std::array<std::size_t, sizeof...(A) + 1> found{};
    [[maybe_unused]] std::size_t place = 0, i = 0;
    ((found[i++] = place, place += !is_result<A>), ...);
    return found;
  }();
  static constexpr auto annotations = [] {
    std::array<const char*, count + 1> found{};
    [[maybe_unused]] std::size_t place = 0;
    ((is_result<A> ? void() : void(found[place++] = annotation_of<A>)), ...);
    return found;
  }();

  template <std::size_t... i>
  static py::object made(std::index_sequence<i...>, const Callable& c,
                         [[maybe_unused]] PyObject* const* values) {
    std::tuple<CallParameter<A>...> parameters{CallParameter<A>(values, {c, places[i]})...};
    const auto enter = [&] {
      return reinterpret_cast<R (*)(A...)>(c.function)(std::get<i>(parameters).passed()...);
    };
    const Status status =
        mode == DuringCapture::relaxed ? call_in_relaxed_mode(enter) : call(enter);
    if constexpr (count == sizeof...(A)) return to_python(status);
    py::tuple outcome(sizeof...(A) - count + 1);
    std::size_t place = 0;
    (std::get<i>(parameters).put(outcome, place), ...);
    outcome[place] = to_python(status);
    return outcome;
  }
  static py::object thunk(const Callable& c, PyObject* const* values) {
    return made(std::index_sequence_for<A...>(), c, values);
  }
  static std::string result() {
    std::string names;
    (CallParameter<A>::name(names), ...);
    return names.empty() ? "cudaError_t" : "tuple[" + names + "cudaError_t]";
  }
};

template <DuringCapture mode, class R, class... A>
Signature signature_of_call(R (*function)(A...)) {
  using Made = RuntimeCall<mode, R, A...>;
  return {reinterpret_cast<Callable::Plain>(function), &Made::thunk, Made::count,
          Made::annotations.data(), &Made::result};
}
// For an overloaded function, give the types of its parameters: call_of<void**,
// size_t>(&cudaMalloc).
template <class... A>
Signature call_of(cudaError_t (*function)(A...)) {
  return signature_of_call<DuringCapture::as_it_is>(function);
}
template <class... A>
Signature call_of(Status (*function)(A...)) {
  return signature_of_call<DuringCapture::as_it_is>(function);
}
template <class... A>
Signature relaxed_call_of(cudaError_t (*function)(A...)) {
  return signature_of_call<DuringCapture::relaxed>(function);
}

}  // namespace PyGPU::python
