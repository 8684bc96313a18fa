// Table of the kernels of a shared library, and of variables whose names the dynamic linker does
// not have as C++ does. The run-time compiler appends
//
//    PYGPU_HOST_KERNELS(PyGPU_host_names, PYGPU_HOST_KERNEL("saxpy", false, saxpy), ..., )
//
// to the user's text (PyGPU/_compile/compilers/host.py).
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../cuda_on_host.h"
#include "kernel_row.h"

namespace PyGPU::host {

template <class... Parameters>
struct Signature {
  // Offsets as in a struct of the parameters, the layout that a GPU receives.
  struct Table {
    PyGPUHostParameter rows[sizeof...(Parameters) + 1];
  };
  static constexpr Table table() {
    Table table{};
    const std::size_t sizes[] = {sizeof(Stored<Parameters>)..., 0};
    const std::size_t alignments[] = {alignof(Stored<Parameters>)..., 1};
    std::size_t end = 0;
    for (std::size_t i = 0; i < sizeof...(Parameters); ++i) {
      end = (end + alignments[i] - 1) / alignments[i] * alignments[i];
      table.rows[i].offset = end;
      table.rows[i].nbytes = sizes[i];
      end += sizes[i];
    }
    return table;
  }
  static constexpr Table parameters = table();
};

template <class Function, Function function, bool waits>
struct Entry;

template <class... Parameters, void (*kernel)(Parameters...), bool waits>
struct Entry<void (*)(Parameters...), kernel, waits> {
  static constexpr PyGPUHostKernel row(const char* name) {
    return {name,      &threads, Signature<Parameters...>::parameters.rows, sizeof...(Parameters),
            &function, 0};
  }
  static constexpr void (*function)(Parameters...) = kernel;
  static void threads(void* context) {
    run(static_cast<void**>(context), std::index_sequence_for<Parameters...>());
  }
  template <std::size_t... i>
  static void run([[maybe_unused]] void** arguments, std::index_sequence<i...>) {
    run_with(*static_cast<const Stored<Parameters>*>(arguments[i])...);
  }
  // Copy the values to locals, so that the compiler knows that no thread changes them. No tuple is
  // used: it would take a third of a small kernel's compile time.
  static void run_with(const Stored<Parameters>&... arguments) {
    const auto thread = [arguments...] { kernel(arguments...); };
    if (waits) {
      for_each_thread(thread);
    } else {
      for_each_lone_thread(thread);
    }
  }
};

template <class Variable, Variable* variable, bool waits>
struct Entry<Variable*, variable, waits> {
  static constexpr PyGPUHostKernel row(const char* name) {
    return {name, nullptr, nullptr, 0, variable, sizeof(Variable)};
  }
};

}  // namespace PyGPU::host

template <class Function, Function function, bool waits>
constexpr PyGPUHostKernel PyGPU_kernel_row(const char* name) {
  return PyGPU::host::Entry<Function, function, waits>::row(name);
}

// Return the address of a kernel or a variable, given itself or its address.
template <class T>
constexpr auto PyGPU_address(T&& object) {
  if constexpr (std::is_pointer<T>::value)  // of an object, T is a reference
    return object;
  else
    return __builtin_addressof(object);
}

// Make a row of the table. The kernel or the variable, or its address, comes last. `waits` is true
// if threads may wait for each other.
#define PYGPU_HOST_KERNEL(name, waits, ...)                                                        \
  ::PyGPU_kernel_row<decltype(::PyGPU_address(__VA_ARGS__)), ::PyGPU_address(__VA_ARGS__), waits>( \
      name)
#define PYGPU_HOST_KERNELS(table, ...)                                             \
  extern "C" __attribute__((visibility("default"))) const PyGPUHostKernel table[]; \
  const PyGPUHostKernel table[] = {__VA_ARGS__{nullptr, nullptr, nullptr, 0, nullptr, 0}};
