// What is let go while a stream is captured, and would then invalidate the graph.
#pragma once

#include <memory>

namespace PyGPU {

// Would work on the null stream of the device, or waiting for it, invalidate a capture?
bool meets_capture(int device);
// Would waiting for all of the device invalidate one that is known?
bool wait_meets_capture(int device);
// Keep a thing until memory is next taken, or a capture of ours has ended. What goes then may come
// here again.
void postpone(std::shared_ptr<void> thing);
void let_postponed_go();

}  // namespace PyGPU
