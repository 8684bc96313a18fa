// Threads that receive no signals: those are for the program's own threads.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>

namespace PyGPU {

// Start a thread with all signals blocked. Throws std::system_error if there are no more threads.
template <class Work>
std::thread start_quiet_thread(Work work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto restore = [&] { pthread_sigmask(SIG_SETMASK, &before, nullptr); };
  try {
    std::thread thread(std::move(work));
    restore();
    return thread;
  } catch (...) {
    restore();
    throw;
  }
}

}  // namespace PyGPU
