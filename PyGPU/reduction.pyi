"""For type checkers: the names of PyGPU.reduction, which are imported at first use."""

from PyGPU._kernels.reduction_getters import get_all_kernel as get_all_kernel
from PyGPU._kernels.reduction_getters import get_any_kernel as get_any_kernel
from PyGPU._kernels.reduction_getters import get_dot_kernel as get_dot_kernel
from PyGPU._kernels.reduction_getters import get_minmax_kernel as get_minmax_kernel
from PyGPU._kernels.reduction_getters import get_minmax_neutral as get_minmax_neutral
from PyGPU._kernels.reduction_getters import get_subset_dot_kernel as get_subset_dot_kernel
from PyGPU._kernels.reduction_getters import get_subset_minmax_kernel as get_subset_minmax_kernel
from PyGPU._kernels.reduction_getters import get_subset_sum_kernel as get_subset_sum_kernel
from PyGPU._kernels.reduction_getters import get_sum_kernel as get_sum_kernel
from PyGPU._kernels.reduction_kernel import ReductionKernel as ReductionKernel
from PyGPU._kernels.stages import get_reduction_kernel_and_types as get_reduction_kernel_and_types
from PyGPU._kernels.stages import get_reduction_module as get_reduction_module
from PyGPU._kernels.types import ScalarArg as ScalarArg
from PyGPU._kernels.types import VectorArg as VectorArg
from PyGPU._kernels.types import dtype_to_ctype as dtype_to_ctype
from PyGPU._runtime import context_dependent_memoize as context_dependent_memoize
