"""Part of the table in contract_names.py: arrays, their kernels and random numbers."""

ARRAYS = {
    "gpuarray": """
# Arrays
GPUArray(shape, dtype, allocator, base, gpudata, strides, order)
    better: the default memory comes from the runtime's stream-ordered pool; allocator=None is
    accepted; Python objects as elements raise TypeError
GPUArray.shape .dtype .strides .gpudata .allocator
    better: assigning one changes the array, or raises an error with the reason
GPUArray.size .mem_size .nbytes .base
    better: subclasses may override them; operations use the true values
GPUArray.itemsize .ndim .flags
GPUArray.ptr
    better: 0 for an array without elements, not an AttributeError
GPUArray.__cuda_array_interface__
    better: contains the stream; also on AMD, where it waits for pending work and the stream is
    None; on `host`, for programs under PyCUDA's name or with `PYGPU_HOST_INTERFACE=1`
GPUArray.__array_priority__
    better: `ndarray + a` raises a TypeError with advice, instead of making an array of objects
GPUArray._grid ._block ._axpbyz ._axpbz ._new_like_me
_memcpy_discontig(dst, src, async_, stream)
GPUArray.__len__ .__bool__ .__str__ .__repr__ .__hash__
GPUArray.__reduce__ .__copy__ .__deepcopy__
    better: for `pickle` and `copy`; subclasses, attributes and the device are kept, buffers may go
    out of band

# Transfers
GPUArray.set(ary, async_, stream) .set_async(ary, stream)
    better: any strides on both sides; different orders are converted
GPUArray.get(ary, pagelocked, async_, stream)
    better: any strides; the new ndarray owns its memory
GPUArray.get_async(stream, ary)
    better: into page-locked memory, as documented
to_gpu(ary, allocator) to_gpu_async(ary, allocator, stream)
    better: any strides, including negative and zero ones
GPUArray.copy
    better: also copies non-contiguous views, to a contiguous array
GPUArray.__setitem__
    better: values broadcast; any strides; masks and index arrays

# Shapes and views
GPUArray.reshape(order) .ravel
    differs: NumPy's elements, contiguous in the order of the call, with a copy where needed;
    `order="A"` reads memory as PyCUDA does
GPUArray.T
GPUArray.transpose(axes)
    better: a repeated axis raises ValueError
GPUArray.view(dtype)
    better: also 0-d arrays
GPUArray.squeeze
    better: keeps axes of length zero
GPUArray.__getitem__
    better: empty slices and negative steps are correct; masks and index arrays
GPUArray.reverse(stream)
    better: any strides
transpose(a, axes) reshape(a)
concatenate(arrays, axis, allocator)
    better: any orders, mixed dtypes, negative axes
stack(arrays, axis, allocator)
    better: any orders, mixed dtypes, any axis

# Arithmetic
GPUArray.__add__ .__radd__ .__sub__ .__rsub__ .__mul__ .__rmul__ .__neg__
    better: any strides, broadcasting, float16; unsigned integers wrap as in NumPy
GPUArray.__truediv__ .__rtruediv__
    better: as above; rounded as in NumPy: integers give floats, division by zero gives inf or nan
GPUArray.__pow__ .__rpow__
    better: as above; integers are exact; integers to a negative number raise ValueError, as in
    NumPy; to find one in an array of signed exponents, the call waits for the device, except in a
    capture
GPUArray.__iadd__ .__isub__ .__imul__ .__ipow__ .__itruediv__
    better: as above; computed in NumPy's common dtype; a TypeError if NumPy rejects the cast of the
    result, except for sums and products of integers, which wrap, or are truncated with floats
GPUArray.__div__ .__rdiv__ .__idiv__
    absent: operators of Python 2
GPUArray.__abs__
    better: also unsigned integers; complex arrays keep their order
GPUArray.__pos__
GPUArray.__eq__ .__ne__
    better: [bools](coming_from/pycuda.md#comparisons-and-sums) where PyGPU is imported by its own
    name, else 0 and 1 in the arrays' dtype, as in PyCUDA; broadcasting; complex numbers mix with
    others; an operand that is not an array or number is unequal, not an AssertionError
GPUArray.__lt__ .__le__ .__gt__ .__ge__
    better: dtypes as above; broadcasting; complex numbers raise TypeError, not CompileError
GPUArray.fill(value, stream)
    better: any strides, float16; records and all other element types; integers take the integer
    part of a float, as in NumPy
GPUArray.astype(dtype, stream)
    better: any strides, in the same order; float16
GPUArray.mul_add(selffac, other, otherfac, add_timer, stream, out)
    better: any strides, broadcasting; add_timer works
GPUArray.real .imag
GPUArray.conj(out) .conjugate(out)
    better: any strides
GPUArray.any(stream, allocator) .all(stream, allocator)
    better: `axis=`, `out=`, `keepdims=`; complex numbers
GPUArray.bind_to_texref .bind_to_texref_ext

# Creating arrays
empty(shape, dtype, allocator, base, gpudata, strides, order)
zeros(shape, dtype, allocator, order) ones(shape, dtype, allocator, order)
    better: any dtype
empty_like(other_ary, dtype, order) zeros_like(other_ary, dtype, order)
    ones_like(other_ary, dtype, order)
    better: contiguous even if the other array has gaps
arange(dtype)
    better: empty ranges, small dtypes; `allocator=`; the documented `stream=`
take(a, indices, out, stream)
    better: no textures, so any dtype, any strides; `axis=`, `mode=`; indices are checked
multi_take(arrays, indices, out, stream)
    multi_put(arrays, dest_indices, dest_shape, out, stream)
    multi_take_put(arrays, dest_indices, src_indices, dest_shape, out, stream, src_offsets)
    better: no textures, so any dtype, any strides; indices are checked
vec(vectors)
splay(n, dev)

# Choices and reductions
if_positive(criterion, then_, else_, out, stream) where(criterion, then_, else_, out, stream)
    better: any strides, broadcasting, mixed dtypes, numbers
maximum(a, b, out, stream) minimum(a, b, out, stream)
    better: integers and mixed dtypes, any strides, broadcasting
logical_and(out, allocator) logical_or(out, allocator) logical_not(out, allocator)
    better: any strides, broadcasting, numbers
sum(a, dtype, stream, allocator)
    better: sums of bools and of integers of 8 and 16 bits have
    [64 bits](coming_from/pycuda.md#comparisons-and-sums) where PyGPU is imported by its own name;
    any strides; `axis=`, `out=`, `keepdims=`
max(a, stream) min(a, stream)
    better: any strides, bool and float16; `axis=`, `out=`, `keepdims=`, `allocator=`
any(a, stream, allocator) all(a, stream, allocator)
    better: any strides, complex numbers; `axis=`, `out=`, `keepdims=`
dot(a, b, dtype, stream, allocator)
    better: any strides; `out=`; different sizes raise ValueError
subset_sum(subset, a, dtype, stream, allocator) subset_dot(subset, a, b, dtype, stream, allocator)
    subset_max(subset, a, stream) subset_min(subset, a, stream)
    better: any strides
""",
    "elementwise": """
# Kernels from an expression
ElementwiseKernel(arguments, operation, name, keep, options, preamble, loop_prep, after_loop)
    .__call__(range, slice, stream)
    better: arrays of different orders raise RuntimeError instead of giving a wrong result; range=
    needs no step; a warning if the itemsize of an array differs from the kernel's
ElementwiseKernel.generate_stride_kernel_and_types(use_range)
ElementwiseKernel.get_texref
get_elwise_module(arguments, operation, name, keep, options, preamble, loop_prep, after_loop)
    get_elwise_range_module(arguments, operation, name, keep, options, preamble, loop_prep)
get_elwise_kernel(arguments, operation, name, keep, options)
    get_elwise_kernel_and_types(arguments, operation, name, keep, options, use_range)
    better: do not change a list of arguments
VectorArg ScalarArg dtype_to_ctype context_dependent_memoize
get_take_kernel get_take_put_kernel get_put_kernel
    better: plain loads instead of textures, so the arrays are arguments
get_linear_combination_kernel(summand_descriptors, dtype_z)
    same: (kernel, texture references of the factors in device memory)
get_copy_kernel get_axpbyz_kernel get_axpbz_kernel
    get_binary_op_kernel get_rdivide_elwise_kernel get_binary_func_kernel
    get_binary_func_scalar_kernel get_binary_minmax_kernel get_fill_kernel get_reverse_kernel
    get_real_kernel get_imag_kernel get_conj_kernel get_arange_kernel get_pow_array_kernel
    get_fmod_kernel get_modf_kernel get_frexp_kernel get_ldexp_kernel get_unary_func_kernel
    get_if_positive_kernel get_where_kernel get_scalar_op_kernel get_logical_not_kernel
""",
    "reduction": """
# Kernels from an expression
ReductionKernel(dtype_out, neutral, reduce_expr, map_expr, arguments, name, keep, options, preamble)
    better: structures need no volatile copy functions
ReductionKernel.__call__(stream, out, allocator, kernel_wrapper)
    better: arrays of different orders raise RuntimeError; an unknown keyword raises TypeError
ReductionKernel.dtype_out .block_size .stage1_func .stage2_func .stage1_arg_types .stage2_arg_types
    better: compiled at their first use
get_sum_kernel(dtype_out, dtype_in) get_any_kernel(dtype_out, dtype_in)
    get_all_kernel(dtype_out, dtype_in) get_dot_kernel(dtype_out, dtype_a, dtype_b)
    get_subset_sum_kernel(dtype_out, dtype_subset, dtype_in)
    get_subset_dot_kernel(dtype_out, dtype_subset, dtype_a, dtype_b)
    get_minmax_neutral(what, dtype) get_minmax_kernel(what, dtype)
    get_subset_minmax_kernel(what, dtype, dtype_subset)
get_reduction_module(out_type, block_size, neutral, reduce_expr, map_expr, arguments, name, keep,
    options, preamble)
    get_reduction_kernel_and_types(stage, out_type, block_size, neutral, reduce_expr, map_expr,
    arguments, name, keep, options, preamble)
    better: blocks of any size
""",
    "scan": """
# Kernels from an expression
InclusiveScanKernel(dtype, scan_expr, neutral, name_prefix, options, preamble, devices)
    ExclusiveScanKernel(dtype, scan_expr, neutral, name_prefix, options, preamble, devices)
    better: needs no Mako; float16
InclusiveScanKernel.__call__(input_ary, output_ary, allocator, stream)
    ExclusiveScanKernel.__call__(input_ary, output_ary, allocator, stream)
    better: any stride; output_ary="new" works; the dtype is checked, except for integers' signs
SHARED_PREAMBLE SCAN_INTERVALS_SOURCE INCLUSIVE_UPDATE_SOURCE EXCLUSIVE_UPDATE_SOURCE
    absent: Mako templates of PyCUDA's kernels; PyGPU scans in one pass, with its own kernels
""",
    "cumath": """
# Functions of real and complex arrays
exp(array, out, stream) log(array, out, stream) log10(array, out, stream) sqrt(array, out, stream)
    sin(array, out, stream) cos(array, out, stream) tan(array, out, stream)
    sinh(array, out, stream) cosh(array, out, stream) tanh(array, out, stream)
    better: any strides; integers give floats, as in NumPy; float16; positional stream and out are
    honored

# Functions of real arrays
fabs(array, out, stream) ceil(array, out, stream) floor(array, out, stream)
    better: as above
asin(array, out, stream) acos(array, out, stream) atan(array, out, stream)
    better: as above; also complex arrays
fmod(arg, mod, stream)
    better: all dtypes (PyCUDA reads float64 as float32); broadcasting, numbers; `out=`
frexp(arg, stream) modf(arg, stream)
    better: all dtypes
ldexp(significand, exponent, stream)
    better: all dtypes; integers and numbers as exponents; `out=`
""",
    "curandom": """
# Arrays of random numbers
rand(shape, dtype, stream)
    better: uses Philox4x32-10; also float16 and integers of 64 bits
seed_getter_uniform(n) seed_getter_unique(n)
get_curand_version
    same: (of rocRAND on AMD); the module can be imported without either

# Generators
XORWOWRandomNumberGenerator(seed_getter, offset) MRG32k3aRandomNumberGenerator(seed_getter, offset)
    better: cuRAND's numbers on every target, even without its header (`backend`)
Sobol32RandomNumberGenerator(dir_vector, offset) Sobol64RandomNumberGenerator(dir_vector, offset)
    ScrambledSobol32RandomNumberGenerator(dir_vector, scramble_vector, offset)
    ScrambledSobol64RandomNumberGenerator(dir_vector, scramble_vector, offset)
    better: need no library if vectors are passed; the rows of a (points, N) array are points
XORWOWRandomNumberGenerator.fill_uniform(data, stream) .gen_uniform(shape, dtype, stream)
    .fill_normal(data, stream) .gen_normal(shape, dtype, stream)
    .fill_log_normal(data, mean, stddev, stream) .gen_log_normal(shape, dtype, mean, stddev, stream)
    .fill_poisson(data, lambda_value, stream) .gen_poisson(shape, dtype, lambda_value, stream)
    better: any strides (all generators)
XORWOWRandomNumberGenerator.call_skip_ahead(i, stream) .call_skip_ahead_array(i, stream)
    .call_skip_ahead_sequence(i, stream) .call_skip_ahead_sequence_array(i, stream)
    MRG32k3aRandomNumberGenerator.call_skip_ahead_subsequence(i, stream)
    .call_skip_ahead_subsequence_array(i, stream)
    Sobol32RandomNumberGenerator.call_skip_ahead(i, stream) .call_skip_ahead_array(i, stream)
    better: skip in all generators, not only in those of the first block as in PyCUDA
XORWOWRandomNumberGenerator.generators_per_block .block_count .generator_bits .has_box_muller .state
    .generators .module
generate_direction_vectors(count, direction) generate_scramble_constants32(count)
    generate_scramble_constants64(count)
    same: (from cuRAND, or rocRAND of ROCm 6)
direction_vector_set .VECTOR_32 .SCRAMBLED_VECTOR_32 .VECTOR_64 .SCRAMBLED_VECTOR_64
""",
}
