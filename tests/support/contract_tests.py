"""Tests that verify the claims of the table in contract_names.py: a line for each of its rows.

A line has the row's first name, then files of tests, "arrays/test_ranges.py" as "arrays/ranges:",
each with its tests without "test_". These tests must use all names of the row (see mentions.py).
"""

from driver_numbers import ENUMERATIONS as OF_DRIVER
from driver_numbers import FLAGS as FLAGS_OF_DRIVER

ENUMERATION = "driver/driver_enums: members numbers_of_the_driver_are_cudas"
FLAGS = "driver/driver_enums: flags numbers_of_the_driver_are_cudas"

SHOWN = {
    "autoinit": """
device driver/autoinit: what_they_have the_exit_hook_forgets_the_context;
    driver/tools_names: modules_that_make_a_context
""",
    "autoprimaryctx": """
device driver/autoinit: what_they_have both_modules_and_a_context_of_ones_own
""",
    "driver": """
Error runtime/status: each_code_has_the_class_that_pycuda_gives_it
MemoryError runtime/status: classes_that_share_a_builtins_name_are_that_builtin
CompileError runtime/status: a_compile_error_shows_the_command_and_the_output
CompileError.stderr compile/compiler: errors_stand_in_the_users_lines
init driver/driver_devices: init_may_come_again init_knows_no_flags
get_version driver/driver_devices: versions debugging_is_a_switch; driver/driver_names: aliases
have_gl_ext driver/driver_devices: versions
Device driver/driver_devices: devices_are_counted a_device_by_its_bus_id
    what_a_device_says_of_itself all_attributes_at_once a_device_is_not_its_own_peer
Device.get_attribute driver/driver_devices: attributes_by_member_number_and_name
Device.__getattr__ driver/driver_devices: attributes_by_member_number_and_name unknown_shortcuts
Device.__eq__ driver/driver_devices: devices_are_values
Device.make_context driver/driver_contexts: contexts_are_values flags_of_contexts
Device.retain_primary_context driver/driver_contexts: the_primary_context_is_not_made_current
Context driver/driver_contexts: a_context_is_current_until_it_is_popped
    a_context_can_be_pushed_repeatedly synchronize limits
Context.__eq__ driver/driver_contexts: contexts_are_values
Context.detach driver/driver_contexts: what_lives_beyond_its_context
Context.set_cache_config driver/driver_contexts: cache_configuration the_handle_is_the_drivers
    a_stack_over_two_devices
Context.disable_peer_access driver/driver_contexts: a_context_is_not_its_own_peer
Context.set_shared_config driver/driver_contexts: shared_memory_has_one_configuration
Context.get_api_version driver/driver_contexts: the_handle_is_the_drivers
Stream driver/driver_streams: a_stream_does_its_work the_handle_of_a_stream
    objects_that_have_a_stream a_stream_waits_for_an_event
Event driver/driver_streams: calls_on_events_can_be_chained times_between_events handles_of_events
Event.from_ipc_handle driver/driver_streams: handles_of_events bad_handles_of_events
mem_alloc driver/driver_memory: memory_of_any_size
mem_get_info driver/driver_memory: free_memory_is_counted pitched_memory memory_like_an_array
    the_range_that_an_address_is_in
to_device driver/driver_memory: arrays_there_and_back arrays_like_others;
    driver/driver_pointers: memory_of_another_process
DeviceAllocation driver/driver_memory: an_allocation_is_an_address memory_is_freed_once;
    driver/driver_pointers: a_device_address_as_a_buffer_for_others_to_read
IPCMemoryHandle driver/driver_pointers: bad_handles memory_of_another_process
PointerHolderBase driver/driver_pointers: holders_of_pointers a_holder_need_not_call_the_base
    a_device_address_as_a_buffer_for_others_to_read
pagelocked_empty driver/driver_host_memory: shapes_are_numbers_or_sequences
    every_dtype_shape_and_order
pagelocked_empty_like driver/driver_host_memory: like_another_array
PagelockedHostAllocation driver/driver_host_memory: page_locked_memory
    flags_of_page_locked_memory memory_is_freed_once
HostAllocation driver/driver_names: host_memory_is_a_host_pointer;
    driver/driver_host_memory: page_locked_memory
managed_empty driver/driver_host_memory: managed_memory managed_memory_is_attached
    like_another_array every_dtype_shape_and_order
ManagedAllocation driver/driver_host_memory: managed_memory managed_memory_is_attached
    memory_is_freed_once; driver/driver_pointers: managed_memory_as_a_buffer
aligned_empty driver/driver_host_memory: aligned_memory every_dtype_shape_and_order
    like_another_array
AlignedHostAllocation driver/driver_host_memory: aligned_memory_is_given_up_once
register_host_memory driver/driver_registered_memory: memory_is_registered_in_place
    a_read_only_array_stays_read_only_when_registered
RegisteredHostMemory driver/driver_registered_memory: memory_is_registered_in_place
RegisteredHostMemory.base driver/driver_registered_memory: memory_is_registered_in_place
memcpy_htod driver/driver_copies: what_is_a_device_address;
    driver/driver_device_copies: a_part_of_the_memory
memcpy_peer driver/driver_device_copies: all_of_the_memory what_is_no_context;
    driver/driver_contexts: a_stack_over_two_devices
memset_d8 driver/driver_fills: a_part_is_filled known_answers
memset_d2d8 driver/driver_fills: rows_are_filled pitched_rows
memcpy_dtoa driver/driver_arrays: copies_to_and_from_one_dimension
memcpy_htoa driver/driver_arrays: copies_to_and_from_one_dimension
Memcpy2D driver/driver_boxes: any_box_between_any_two_sides the_ways_to_call_a_2d_copy
    the_fields_start_at_0_and_others_can_be_set setters_set_the_memory_type
    the_description_keeps_its_buffers a_host_buffer_that_is_too_small keywords
Memcpy3D driver/driver_boxes: any_box_between_any_two_sides mipmaps_and_bad_pitches
    the_fields_start_at_0_and_others_can_be_set
Memcpy3DPeer driver/driver_boxes: between_devices a_device_that_is_none
module_from_file compile/compiler_images: images_can_be_kept
Module compile/compiler: globals; driver/tools_names: the_modules_of_the_compiler_are_of_one_family
Module.get_function compile/compiler: text_gets_c_names templates_and_namespaces
Function driver/function_arguments: plain_numbers_where_the_source_tells_the_type;
    driver/bad_kernel_calls: a_wrong_call; arrays/functions: forms_of_shapes
Function.prepare driver/prepared: every_character asynchronous_calls timed_calls pointers
Module.get_texref driver/texture_references: ways_to_declare_a_reference;
    driver/surface_references: reads_and_writes
Function.param_set_texref driver/reference_launches: prepared_calls
Function.get_attribute arrays/functions: attributes_make_sense cache_preferences_are_hints
    more_than_48_KB_of_dynamic_shared_memory
Function.set_shared_config arrays/functions: cache_preferences_are_hints
Function.__getattr__ arrays/functions: attributes_have_short_names
Function.set_block_shape driver/stateful_launches: the_three_launches
    integers_floats_and_shared_memory what_is_missing_or_too_much
ArgumentHandler driver/argument_handlers: a_handler_is_asked_before_and_after
    a_handler_keeps_its_memory_on_the_device a_handler_with_memory_of_its_own
    what_a_handler_raises_reaches_the_caller
In driver/argument_handlers: in_does_not_come_back out_uploads_nothing inout_does_both
    a_handler_may_launch_kernels_itself
Linker compile/dynamic_modules: images_are_linked_from_memory_and_from_files
initialize_profiler driver/driver_streams: the_profiler_needs_no_configuration
start_profiler driver/driver_streams: the_profiler_starts_and_stops
ArrayDescriptor driver/driver_arrays: descriptors
ArrayDescriptor3D driver/driver_arrays: descriptors
Array driver/driver_arrays: descriptors free
dtype_to_array_format driver/driver_arrays: the_format_of_a_dtype
matrix_to_array driver/driver_arrays: matrix_to_array np_to_array_and_gpuarray_to_array
    make_multichannel_2d_array
TextureReference driver/texture_references: memory_by_its_address memory_with_rows
    reads_as_a_texture_object_does elements_of_every_type what_a_new_reference_has
SurfaceReference driver/surface_references: reads_and_writes;
    driver/texture_references: a_matrix; driver/reference_launches: bad_arguments_of_references
DeviceMemoryPool driver/driver_names: aliases a_star_import_gives_the_names
TRSA_OVERRIDE_FORMAT driver/driver_enums: constants numbers_of_the_driver_are_cudas
""",
    "compiler": """
SourceModule compile/compiler_images: settings_without_a_meaning_are_taken;
    compile/kept: a_module; compile/nvcc_environment: they_stand_around_the_options;
    compile/compiler_options: what_only_nvcc_can_follow_is_left_out_with_a_word_in_the_log;
    compile/compiler: templates_and_namespaces;
    compile/compile_cache: a_folder_that_does_not_exist_is_made_by_whoever_comes_first
    a_hit_and_what_makes_a_miss
SourceModule.module compile/compiler: globals; compile/compiler_images: images_can_be_kept
SourceModule.get_texref driver/texture_references: a_matrix;
    driver/surface_references: reads_and_writes
compile compile/compiler_images: images_can_be_kept settings_without_a_meaning_are_taken;
    compile/nvcc_environment: older_architectures the_text_of_an_older_architecture
DEFAULT_NVCC_FLAGS compile/compiler_images: default_flags;
    compile/compiler_options: flags_from_the_environment
compile_plain compile/compiler_images: compile_plain_and_preprocess images_can_be_kept;
    driver/tools_names: the_modules_of_the_compiler_are_of_one_family
preprocess_source compile/compiler_images: compile_plain_and_preprocess
get_nvcc_version compile/compiler_images: the_compilers_version
DynamicModule compile/dynamic_modules: texts_use_each_others_functions_and_variables
    images_are_linked_from_memory_and_from_files a_child_of_another_text
DynamicSourceModule compile/dynamic_modules: a_kernel_launches_a_kernel
    children_of_a_stream_run_one_after_another_and_see_what_their_parent_wrote
""",
    "gpuarray": """
GPUArray arrays/gpuarray_create: forms_of_a_shape python_objects_are_refused;
    arrays/gpuarray_memory: an_allocator_is_called_once_with_the_bytes
    all_arguments_by_position
GPUArray.shape arrays/gpuarray_create: attributes_of_a_new_array;
 arrays/subclasses: shape_strides_and_dtype_change_the_array gpudata_changes_the_memory
GPUArray.size arrays/subclasses: what_a_subclass_says_is_read_and_what_is_true_is_used;
 arrays/subclasses: what_a_plain_array_refuses
GPUArray.itemsize arrays/gpuarray_create: attributes_of_a_new_array
_memcpy_discontig arrays/subclasses: copies_of_any_strides
GPUArray.ptr arrays/gpuarray_memory: gpudata_without_elements;
    arrays/gpuarray_create: attributes_of_a_new_array
GPUArray.__cuda_array_interface__ arrays/gpuarray_protocols: cuda_array_interface
    the_stream_of_the_interface_orders_reads
GPUArray.__array_priority__ arrays/operator_arguments: arrays_on_the_host
    arrays_on_the_host_leave_operators_to_ours
GPUArray._grid kernels/elementwise_arguments: splay; arrays/functions_array: mul_add;
 arrays/subclasses: the_inner_sums_by_themselves results_are_made_by_the_class
GPUArray.__len__ arrays/gpuarray_views: length truth_of_one_element;
    arrays/gpuarray_protocols: text_is_numpys; arrays/gpuarray_create: an_array_is_not_hashable
GPUArray.__reduce__ arrays/gpuarray_protocols: copies_by_python a_pickle_names_no_target
GPUArray.set arrays/gpuarray_transfer: set_from_any_layout_into_any_layout;
    arrays/gpuarray_async: the_arguments_async_and_stream set_in_a_stream
GPUArray.get arrays/gpuarray_transfer: get_of_any_view get_gives_fresh_memory;
    arrays/gpuarray_async: page_locked_results
GPUArray.get_async arrays/gpuarray_async: page_locked_results there_and_back_in_a_stream
to_gpu arrays/gpuarray_transfer: there_and_back; arrays/gpuarray_async: there_and_back_in_a_stream
GPUArray.copy arrays/gpuarray_assign: copy_of_any_view
GPUArray.__setitem__ arrays/gpuarray_assign: assign_an_ndarray arrays_are_repeated_to_fit;
    arrays/indexing: assign
GPUArray.reshape arrays/gpuarray_shapes: reshape_reads_the_memory_anew ravel_reads_the_memory
    shapes_are_views
GPUArray.transpose arrays/gpuarray_shapes: transpose wrong_axes
GPUArray.view arrays/gpuarray_shapes: a_view_of_another_item_size a_view_of_the_same_item_size
GPUArray.squeeze arrays/gpuarray_shapes: squeeze
GPUArray.__getitem__ arrays/gpuarray_views: any_index_of_any_array; arrays/indexing: get
GPUArray.reverse arrays/joining: reverse
transpose arrays/joining: turned_and_reshaped
concatenate arrays/joining: concatenate dtypes_are_promoted
stack arrays/joining: stack
GPUArray.__add__ arrays/operators: two_arrays any_layouts_and_shapes_that_fit_together one_array
    a_number_on_either_side; arrays/operators_in_place: unsigned_integers_wrap
GPUArray.__truediv__ arrays/operators: two_arrays a_number_on_either_side;
    arrays/operator_types: quotients_of_integers_are_float64;
    arrays/operator_arguments: division_by_zero
GPUArray.__pow__ arrays/operators: two_arrays a_number_on_either_side;
    arrays/operator_arguments: powers_of_integers_are_exact
GPUArray.__iadd__ arrays/operators_in_place: every_operator any_views_of_one_array
GPUArray.__abs__ arrays/operators: one_array
GPUArray.__pos__ arrays/operators: one_array
GPUArray.__eq__ arrays/operators: two_arrays;
    arrays/operator_types: comparisons_have_the_common_type;
    arrays/operator_arguments: what_is_no_operand_is_not_equal complex_numbers_can_be_equal
GPUArray.__lt__ arrays/operators: two_arrays any_layouts_and_shapes_that_fit_together;
    arrays/operator_arguments: complex_numbers_have_no_order
GPUArray.fill arrays/operators_in_place: fill fill_of_views;
    arrays/fill_records: every_element_becomes_the_value
GPUArray.astype arrays/operators: astype
GPUArray.__div__ programs/old_modules: operators_of_python_2
GPUArray.mul_add arrays/functions_array: mul_add
GPUArray.real arrays/functions_array: parts_of_complex_numbers
GPUArray.conj arrays/functions_array: parts_of_complex_numbers conj_into_an_array
GPUArray.bind_to_texref driver/texture_references: memory_with_an_offset
GPUArray.any arrays/reduction: any_and_all methods_take_numpys_arguments
empty arrays/gpuarray_create: empty_takes_what_the_class_takes
zeros arrays/gpuarray_create: zeros_are_zeros; arrays/ranges: ones
empty_like arrays/gpuarray_create: like_another_array; arrays/ranges: like
arange arrays/ranges: integers_are_exact nothing_between arguments_of_arange
take arrays/gather: take modes indices_out_of_range arguments_of_take
multi_take arrays/gather: multi_take multi_put multi_take_put
vec arrays/vec: types no_other_types make
splay kernels/elementwise_arguments: splay
if_positive arrays/functions_array: choice choices_of_any_layouts_that_fit_together
maximum arrays/functions_array: extremes types_of_extremes
logical_and arrays/functions_array: logic logic_of_numbers_alone logic_takes_an_allocator
sum arrays/reduction: sum_is_in_the_arrays_type; arrays/reduction_axes: any_layout_and_axes out
max arrays/reduction: extremes; arrays/reduction_axes: other_operations
any arrays/reduction: any_and_all methods_take_numpys_arguments
dot arrays/reduction: dot dot_of_any_layouts; arrays/reduction_arguments: sizes_that_differ
subset_sum arrays/reduction: subsets
""",
    "elementwise": """
ElementwiseKernel kernels/elementwise: ranges slices streams;
    kernels/elementwise_arguments: orders_that_differ a_dtype_of_another_size_is_told
ElementwiseKernel.generate_stride_kernel_and_types
    kernels/elementwise_arguments: the_parts_of_a_kernel
ElementwiseKernel.get_texref driver/reference_launches: in_an_elementwise_kernel
get_elwise_module kernels/elementwise_arguments: modules_and_prepared_functions
get_elwise_kernel kernels/elementwise_arguments: modules_and_prepared_functions;
    kernels/elementwise: arguments_as_objects_are_left_alone
VectorArg kernels/elementwise_arguments: names_that_programs_import_from_here
get_take_kernel kernels/elementwise_getters: a_getter every_getter_is_there_and_has_a_case
get_copy_kernel kernels/elementwise_getters: a_getter extrema_ignore_nans
get_linear_combination_kernel kernels/linear_combination: two_factors_in_device_memory
""",
    "reduction": """
ReductionKernel kernels/reduction_kernel: a_mapped_sum structures
ReductionKernel.__call__ kernels/reduction_kernel: layouts_that_are_alike calls_that_do_not_fit
ReductionKernel.dtype_out kernels/reduction_kernel: attributes_and_wrapper;
    kernels/reduction_stages: the_stages_of_a_kernel
get_reduction_module kernels/reduction_stages: a_module_with_a_preamble_and_a_name both_stages
get_sum_kernel kernels/reduction_kernel: kernels_for_other_packages neutral_numbers
""",
    "scan": """
InclusiveScanKernel kernels/scan: sums halves_are_summed_in_float
InclusiveScanKernel.__call__ kernels/scan: layouts; kernels/scan_arguments: the_output
    integers_of_the_other_sign inputs_that_are_refused
SHARED_PREAMBLE programs/old_modules: texts_of_pycudas_scans
""",
    "cumath": """
exp kernels/cumath_values: real_functions complex_functions;
    arrays/cumath: every_layout small_types_and_integers a_second_argument_by_its_place_is_honoured
fabs kernels/cumath_values: real_functions; arrays/cumath: every_layout
asin arrays/cumath: every_name_of_pycudas_is_there every_layout types_are_numpys;
    kernels/cumath_values: real_functions complex_functions
fmod arrays/cumath: fmod_is_exact fmod_of_numbers_and_integers
frexp arrays/cumath: fractions_and_exponents frexp_and_modf_of_integers
ldexp arrays/cumath: fractions_and_exponents exponents_of_every_kind
""",
    "curandom": """
rand random/curandom: rand uniform_numbers_are_numpys_to_the_last_bit
seed_getter_uniform random/curandom_distributions: seed_getters
get_curand_version random/curandom_sobol: without_tables tables
XORWOWRandomNumberGenerator random/curandom_states: numbers_are_those_of_curand
    attributes
Sobol32RandomNumberGenerator random/curandom_sobol: words_are_numpys scrambling_is_exclusive_or
    layouts
XORWOWRandomNumberGenerator.fill_uniform random/curandom_states: layouts_and_streams
    fills_are_what_is_generated
    sizes_and_moments poisson_numbers one_draw_after_another;
    random/curandom_distributions: log_normal_numbers
XORWOWRandomNumberGenerator.call_skip_ahead random/curandom_states:
    skipping_is_drawing_in_every_state each_state_is_skipped_by_its_own_number
    states_are_numbered_by_sequences sequences_of_mrg32k3a; random/curandom_sobol: skipping
XORWOWRandomNumberGenerator.generators_per_block random/curandom_states: attributes
generate_direction_vectors random/curandom_sobol: tables without_tables
direction_vector_set random/curandom_sobol: names_of_the_tables
""",
    "tools": """
DeviceMemoryPool driver/pools_limits: threads_share_a_pool blocks_belong_to_a_device
DeviceMemoryPool.allocate driver/pools: the_life_of_a_block memory_is_given_back known_bins
PooledDeviceAllocation driver/pools: a_block_is_an_address the_life_of_a_block
PageLockedMemoryPool driver/pools: the_life_of_a_page_locked_block known_bins
    page_locked_arrays; driver/pools_limits: threads_share_a_pool
PageLockedMemoryPool.allocate driver/pools: page_locked_arrays
PageLockedAllocator driver/pools: the_life_of_a_page_locked_block page_locked_arrays
    flags_of_page_locked_memory
DebugMemoryPool driver/pools: a_pool_that_tells; driver/tools: bitlog2
make_default_context driver/autoinit: the_environment_chooses our_variable_wins a_file_chooses
    makers_of_contexts
get_default_device driver/autoinit: the_old_way_to_a_device
context_dependent_memoize driver/tools: results_are_kept results_are_forgotten
mark_cuda_test driver/tools: mark_cuda_test no_fixture_leaves_a_context
DeviceData driver/tools: data_of_a_device alignments
DeviceData.warps_per_mp driver/tools: data_of_a_device
OccupancyRecord driver/tools: occupancy
dtype_to_ctype driver/tools_types: names_of_dtypes
parse_c_arg driver/tools_types: every_spelling_is_read
Argument driver/tools_types: arguments_print every_spelling_is_read
get_or_register_dtype driver/tools_types: structures_get_names the_old_way_to_register
""",
    "characterize": """
platform_bits driver/tools: what_devices_are_like sizes_of_types
""",
    "": """
VERSION runtime/targets: the_face_of_the_package
""",
    "pycuda-complex.hpp": """
complex compile/device_complex: function_against_cmath operators powers;
    compile/device_headers: complex_in_kernels_and_extern_c
""",
    "pycuda-helpers.hpp": """
fp_tex1Dfetch compile/device_headers: texture_helpers; driver/reference_launches: numbers_in_parts
    doubles_of_several_dimensions; driver/surface_references: numbers_of_all_kinds
""",
    "gl": """
graphics_map_flags programs/old_modules: what_a_program_asks_first
init programs/old_modules: opengl_is_not_there_and_says_why
BufferObject programs/old_modules: contexts_for_opengl
""",
    "debug": """
__main__ programs/old_modules: a_program_for_a_debugger
""",
    "sparse": """
cg.ConvergenceError programs/old_modules: sparse_matrices_are_not_there_and_say_why
cg.CGStateContainer programs/old_modules: sparse_matrices_are_not_there_and_say_why
""",
    "compyte.array": """
ArrayFlags arrays/compyte: strides_of_contiguous_arrays whether_strides_are_contiguous
    strides_that_lead_to_the_same_places common_dtypes views_by_strides
""",
    "compyte.dtypes": """
DTypeRegistry arrays/compyte: registries_of_ones_own the_registry_is_the_tools
TypeNameNotKnown arrays/compyte: declarations
parse_c_arg_backend arrays/compyte: declarations
fill_registry_with_c_types arrays/compyte: registries_of_ones_own
NAME_TO_DTYPE arrays/compyte: the_registry_is_the_tools
dtype_to_ctype arrays/compyte: the_registry_is_the_tools;
    driver/tools_types: the_old_way_to_register
""",
    "_cluda": """
CLUDA_PREAMBLE programs/old_modules: a_text_for_cuda_and_opencl
""",
    "_pvt_struct": """
pack programs/old_modules: values_as_bytes an_allocation_as_bytes
""",
    "_mymako": """
mako programs/old_modules: mako_from_where_programs_fetch_it
""",
}


def lines():
    """Return {(module, first name): text} of the rows."""
    found = {("driver", name): ENUMERATION for name in OF_DRIVER}
    found.update({("driver", name): FLAGS for name in FLAGS_OF_DRIVER})
    for module, text in SHOWN.items():
        for line in text.replace("\n ", " ").strip().splitlines():
            name, tests = line.split(None, 1)
            assert (module, name) not in found, name
            found[module, name] = tests
    return found


def tests_in(text):
    """Yield the (file, test) pairs of a row."""
    for part in text.split(";"):
        file, names = part.split(":")
        folder, _, stem = file.strip().partition("/")
        for name in names.split():
            yield f"{folder}/test_{stem}.py", f"test_{name}"


SHOWING = {key: list(tests_in(text)) for key, text in lines().items()}
