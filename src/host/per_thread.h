// Objects of which each thread has its own.
#pragma once

#include <pthread.h>

namespace PyGPU::host {

// Return the calling thread's object of this type, made at its first use. It is freed after the
// thread's `thread_local` objects, and in the process's first thread never: destructors and the
// functions of std::atexit may launch kernels.
template <class T>
T& of_thread() {
  static __thread T* object = nullptr;
  static const pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(&made, [](void* ended) {
      delete static_cast<T*>(ended);
      object = nullptr;
    });
    return made;
  }();
  if (!object) {
    object = new T();
    pthread_setspecific(key, object);
  }
  return *object;
}

}  // namespace PyGPU::host
