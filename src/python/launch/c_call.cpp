// Calls by the C calling conventions of Linux on x86-64 and on 64-bit ARM.
//
// Both pass integers and pointers in one set of registers and floating-point numbers in another,
// each in the order of the parameters, and the rest in stack slots of 8 bytes. So one prototype
// that fills all registers calls any function of numbers and pointers: what the function does not
// read does no harm. Sources: "System V Application Binary Interface, AMD64", section 3.2.3;
// "Procedure Call Standard for the Arm 64-bit Architecture", section 6.8.2.
#include "python/launch/c_call.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "python/launch/numbers.h"

namespace PyGPU::python {
namespace {

#if defined(__x86_64__)
constexpr std::size_t integer_registers = 6;
#elif defined(__aarch64__)
constexpr std::size_t integer_registers = 8;
#else
constexpr std::size_t integer_registers = 0;
#endif
constexpr std::size_t float_registers = 8, stack_slots = 16;

using Word = std::uint64_t;

struct Values {
  Word integers[integer_registers + 1] = {};
  double floats[float_registers] = {};
  Word stack[stack_slots] = {};
};

template <std::size_t>
using WordAt = Word;
template <std::size_t>
using DoubleAt = double;

template <class R, std::size_t... i, std::size_t... f, std::size_t... s>
R call_with(void* function, const Values& v, std::index_sequence<i...>, std::index_sequence<f...>,
            std::index_sequence<s...>) {
  using Function = R (*)(WordAt<i>..., DoubleAt<f>..., WordAt<s>...);
  return reinterpret_cast<Function>(function)(v.integers[i]..., v.floats[f]..., v.stack[s]...);
}

template <class R>
R call_by(void* function, const Values& v, bool uses_stack) {
  const std::make_index_sequence<integer_registers> integers;
  const std::make_index_sequence<float_registers> floats;
  if (uses_stack)
    return call_with<R>(function, v, integers, floats, std::make_index_sequence<stack_slots>());
  return call_with<R>(function, v, integers, floats, std::index_sequence<>());
}

void store(const void* from, void* to, std::size_t nbytes) { std::memcpy(to, from, nbytes); }

}  // namespace

CCall::CCall(void* function, const std::vector<KernelParameter>& parameters, char result,
             std::size_t result_nbytes)
    : function_(function), result_(result), result_nbytes_(result_nbytes) {
  if (integer_registers == 0)
    throw std::invalid_argument(
        "declarations: the calling convention of this processor is not known; export the functions "
        "by <PyGPU/export.h>");
  std::size_t integers = 0, floats = 0, slots = 0;
  for (const KernelParameter& parameter : parameters) {
    const bool is_float = parameter.kind == Kind::floating_point && parameter.nbytes >= 4;
    const bool is_integer = is_integral(parameter.kind) || parameter.kind == Kind::pointer ||
                            parameter.kind == Kind::boolean || parameter.kind == Kind::unknown;
    if (!is_float && !is_integer)
      throw std::invalid_argument(std::string("declarations: ") + kind_text(parameter.kind) +
                                  " by value needs <PyGPU/export.h>");
    Place place{Place::stack, 0, parameter.nbytes, parameter.kind == Kind::integer};
    if (is_float && floats < float_registers)
      place = {Place::floating_point, floats++, parameter.nbytes, false};
    else if (is_integer && integers < integer_registers)
      place = {Place::integer, integers++, parameter.nbytes, place.is_signed};
    else if (slots < stack_slots)
      place.index = slots++;
    else
      throw std::invalid_argument("declarations: a function of more than " +
                                  std::to_string(places_.size()) +
                                  " such parameters needs <PyGPU/export.h>");
    places_.push_back(place);
  }
  uses_stack_ = slots > 0;
}

void CCall::run(void* const* arguments, void* result) const {
  Values values;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const auto* const from = static_cast<const char*>(arguments[i]);
    if (place.where == Place::floating_point)
      store(from, &values.floats[place.index], place.nbytes);  // a float fills the lower half
    else
      (place.where == Place::integer ? values.integers : values.stack)[place.index] =
          read_integer(from, place.nbytes, place.is_signed);
  }
  if (result_ == 'f' && result_nbytes_ == 4) {
    const auto made = call_by<float>(function_, values, uses_stack_);
    store(&made, result, sizeof made);
  } else if (result_ == 'f') {
    const auto made = call_by<double>(function_, values, uses_stack_);
    store(&made, result, sizeof made);
  } else {
    const Word made = call_by<Word>(function_, values, uses_stack_);
    store(&made, result, sizeof made);
  }
}

int call_guarded(Trampoline trampoline, const CCall* plain, void* const* arguments, void* result,
                 char* text, std::size_t capacity) {
  try {
    if (trampoline) return trampoline(arguments, result, text, capacity);
    plain->run(arguments, result);
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(text, capacity, "%s", error.what());
  } catch (...) {
    std::snprintf(text, capacity, "a C++ exception that is no std::exception");
  }
  return -1;
}

}  // namespace PyGPU::python
