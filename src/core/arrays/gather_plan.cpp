// Plans of gathers and scatters. See gather_plan.h.
#include "PyGPU/arrays/gather_plan.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace PyGPU {
namespace {

constexpr int most_arrays = 3 + Axes::capacity;
constexpr Index usual_most = (Index(1) << 31) - 4096;
Index most_by_index32 = usual_most;

// Round up a number of axes beyond four to the next one that has a kernel.
int padded(int ndim) {
  if (ndim <= 4) return ndim;
  for (int enough : {6, 8, 12, 16, 24})
    if (ndim <= enough) return enough;
  return LoopAxes<1>::most;
}

}  // namespace

void override_index32(Index most) { most_by_index32 = most ? most : usual_most; }

IndexArray IndexArray::merged() const {
  LoopAxes<1> axes(1);
  for (int i = 0; i < lengths.size(); ++i) {
    const Index step = steps[i];
    axes.append(lengths[i], &step);
  }
  axes.complete();
  IndexArray same = *this;
  same.lengths = same.steps = Axes();
  for (int i = 0; i < axes.ndim; ++i) {
    same.lengths.push_back(axes.shape[i]);
    same.steps.push_back(axes.strides[0][i]);
  }
  return same;
}

Index IndexArray::count() const {
  return std::accumulate(lengths.begin(), lengths.end(), Index(1), std::multiplies<>());
}

GatherPlan plan_gather(const Gather& gather) {
  const bool masked = gather.mask.address;
  const int own = masked ? 3 : 2;
  LoopAxes<most_arrays> axes(own + int(gather.indices.size()));
  Index steps[most_arrays];
  for (int axis = 0; axis < gather.shape.size(); ++axis) {
    steps[0] = gather.target.strides[axis];
    steps[1] = gather.source.strides[axis];
    if (masked) steps[2] = gather.mask.strides[axis];
    for (int k = own; k < axes.arrays; ++k)
      steps[k] = gather.indices[std::size_t(k - own)].strides[axis];
    axes.append(gather.shape[axis], steps);
  }
  std::fill(steps, steps + axes.arrays, 0);
  steps[0] = steps[1] = 1;
  axes.append(Index(gather.itemsize), steps);
  axes.complete();
  // The last axis is a run of bytes, unless single bytes are strided.
  bool is_run = true;
  for (int k = 0; k < axes.arrays; ++k)
    is_run = is_run && axes.strides[k][axes.last()] == (k < 2 ? 1 : 0);
  const Index run = is_run ? axes.shape[axes.last()] : 1;

  std::vector<IndexArray> indices;
  for (const IndexArray& index : gather.indices) indices.push_back(index.merged());
  Index word = std::gcd(Index(16), run);
  const auto fits = [&](Index number) { word = std::gcd(word, std::abs(number)); };
  fits(reinterpret_cast<Index>(gather.target.address));
  fits(reinterpret_cast<Index>(gather.source.address));
  for (int axis = 0; axis < axes.ndim - is_run; ++axis)
    for (int k = 0; k < 2; ++k) fits(axes.strides[k][axis]);
  for (const IndexArray& index : indices)
    for (Index step : index.steps) fits(step);
  if (is_run && run == word && axes.ndim > 1) {
    --axes.ndim;
  } else if (is_run) {
    axes.shape[axes.last()] = run / word;
    axes.strides[0][axes.last()] = axes.strides[1][axes.last()] = word;
  }

  GatherPlan plan;
  plan.word = int(word);
  plan.ndim = padded(axes.ndim);
  plan.size = axes.size();
  const auto put = [&](std::vector<Index>& to, const Index* numbers, Index padding) {
    to.insert(to.end(), std::size_t(plan.ndim - axes.ndim), padding);
    to.insert(to.end(), numbers, numbers + axes.ndim);
  };
  plan.loop.push_back(plan.size);
  put(plan.loop, axes.shape, 1);
  for (int k = 0; k < own; ++k) put(plan.loop, axes.strides[k], 0);
  plan.index64 = plan.size > most_by_index32;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const IndexArray& index = indices[k];
    std::vector<Index> meaning{index.offset, index.count()};
    plan.index64 = plan.index64 || index.count() > most_by_index32;
    put(meaning, axes.strides[std::size_t(own) + k], 0);
    meaning.insert(meaning.end(), index.lengths.begin(), index.lengths.end());
    const auto steps_or_none = [&](bool is_so) {
      for (Index step : index.steps) meaning.push_back(is_so ? step : 0);
    };
    steps_or_none(index.scatters);
    steps_or_none(!index.scatters);
    plan.counted.push_back(index.lengths.size());
    plan.indices.push_back(std::move(meaning));
  }
  return plan;
}

}  // namespace PyGPU
