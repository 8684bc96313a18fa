// Objects of which each thread has its own.
#pragma once

#include <pthread.h>

#include <utility>

namespace PyGPU::host {

// The calling thread's object of this type; null before its first use and after its end.
template <class T>
__thread T* object_of_thread = nullptr;

// Return the calling thread's object, made at its first use. It is freed after the thread's
// `thread_local` objects, and in the process's first thread never: destructors and the functions of
// std::atexit may launch kernels.
template <class T>
T& of_thread() {
  if (object_of_thread<T>) return *object_of_thread<T>;
  static const pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(&made, [](void*) { delete std::exchange(object_of_thread<T>, nullptr); });
    return made;
  }();
  object_of_thread<T> = new T();
  pthread_setspecific(key, object_of_thread<T>);
  return *object_of_thread<T>;
}

}  // namespace PyGPU::host
