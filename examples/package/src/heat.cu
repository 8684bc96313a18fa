// Kernel of the diffusion of heat, for nvcc, hipcc and, on a machine without a GPU, g++.
#include <PyGPU/gpu.h>

#include <stdexcept>

#include "heat.h"

__global__ void diffusion(const double* before, double* after, long rows, long columns,
                          double rate) {
  const long column = blockIdx.x * long(blockDim.x) + threadIdx.x;
  const long row = blockIdx.y * long(blockDim.y) + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const long i = row * columns + column;
  const bool is_inside = row > 0 && row < rows - 1 && column > 0 && column < columns - 1;
  const double flow = is_inside ? before[i - 1] + before[i + 1] + before[i - columns] +
                                      before[i + columns] - 4 * before[i]
                                : 0;
  after[i] = before[i] + rate * flow;
}

void diffuse(const double* before, double* after, long rows, long columns, double rate,
             void* stream) {
  if (rows == 0 || columns == 0) return;
  const dim3 block(32, 8);
  const dim3 grid((columns + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  diffusion<<<grid, block, 0, static_cast<cudaStream_t>(stream)>>>(before, after, rows, columns,
                                                                   rate);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
