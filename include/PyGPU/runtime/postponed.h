// Releases that are postponed because they would invalidate the capture of a stream.
#pragma once

#include <memory>

namespace PyGPU {

// Return whether work on the device's null stream, or waiting for it, would invalidate a capture.
bool would_invalidate_capture(int device);
// Return whether synchronizing the device would invalidate a known capture.
bool wait_would_invalidate_capture(int device);
// Keep an object alive until the next allocation, or until a capture by PyGPU ends. Its release may
// postpone further objects.
void postpone(std::shared_ptr<void> thing);
// Release the postponed objects.
void release_postponed();

}  // namespace PyGPU
