// Reductions over cooperative groups, reduce() and its operations, for HIPRTC and the host machine.
#pragma once

#include <cooperative_groups.h>

extern "C++" {
namespace cooperative_groups {

#define PYGPU_FOLD(P_name, P_expression)                                                     \
  template <class P_T>                                                                       \
  struct P_name {                                                                            \
    __device__ P_T operator()(const P_T& P_a, const P_T& P_b) const { return P_expression; } \
  };
PYGPU_FOLD(plus, P_a + P_b)
PYGPU_FOLD(less, P_b < P_a ? P_b : P_a)
PYGPU_FOLD(greater, P_a < P_b ? P_b : P_a)
PYGPU_FOLD(bit_and, (P_a & P_b))
PYGPU_FOLD(bit_or, P_a | P_b)
PYGPU_FOLD(bit_xor, P_a ^ P_b)
#undef PYGPU_FOLD

template <unsigned P_size, class P_Parent, class P_T, class P_Fold>
__device__ inline P_T reduce(const thread_block_tile<P_size, P_Parent>& P_tile, P_T P_value,
                             P_Fold P_fold) {
  for (unsigned P_by = P_size / 2; P_by; P_by /= 2)
    P_value = P_fold(P_value, P_tile.shfl_xor(P_value, P_by));
  return P_value;
}
template <class P_T, class P_Fold>
__device__ inline P_T reduce(const coalesced_group& P_group, P_T P_value, P_Fold P_fold) {
  P_T P_all = P_group.shfl(P_value, 0);
  for (unsigned P_rank = 1; P_rank < P_group.size(); ++P_rank)
    P_all = P_fold(P_all, P_group.shfl(P_value, P_rank));
  return P_all;
}

}  // namespace cooperative_groups
}
