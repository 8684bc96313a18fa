// One step of the diffusion of heat, for the module and for the kernels.
#pragma once

// Write the temperatures after one step to `after`; the border keeps its temperature. The stream is
// a cudaStream_t. Throws std::runtime_error if the launch fails.
void diffuse(const double* before, double* after, long rows, long columns, double rate,
             void* stream);
