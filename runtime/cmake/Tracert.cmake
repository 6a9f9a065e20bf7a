# How the runtime's targets are declared. The runtime is a CMake project of its own, so nothing
# here may refer to a file outside runtime/.
#
#   tracert_sources(core Executor.cpp Program.cpp)          # from any folder of the runtime
#   tracert_isa_sources(kernels Elementwise.cpp)            # compiled once per ISA level

include_guard(GLOBAL)

# Number contract (scalar/Numbers.md): what every file that computes is compiled with.
set(TRACERT_NUMBER_FLAGS -ffp-contract=off -fwrapv -fno-math-errno
  CACHE INTERNAL "flags of the number contract")
add_library(tracert_number_flags INTERFACE)
target_compile_options(tracert_number_flags INTERFACE ${TRACERT_NUMBER_FLAGS})

add_library(tracert_options INTERFACE)
target_compile_features(tracert_options INTERFACE c_std_11 cxx_std_20)
target_compile_options(tracert_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden -ffunction-sections -fdata-sections
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
target_link_libraries(tracert_options INTERFACE tracert_number_flags)
target_link_options(tracert_options INTERFACE -Wl,--gc-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(tracert_options INTERFACE -fcolor-diagnostics)
endif()
if(TRACEC_SANITIZE)
  target_compile_options(tracert_options INTERFACE
    -fsanitize=${TRACEC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tracert_options INTERFACE -fsanitize=${TRACEC_SANITIZE})
endif()

# Levels of the processor with kernels of their own: name, compile flags. `portable` runs on any
# x86-64 or aarch64, which has NEON always.
# In the cache, so that the number contract's test sees them too.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(TRACERT_ISAS portable CACHE INTERNAL "ISA levels")
  set(machine aarch64-linux-gnu)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(TRACERT_ISAS portable v3 avx512 CACHE INTERNAL "ISA levels")
  set(machine x86_64-linux-gnu)
else()
  message(FATAL_ERROR "libtracert knows x86-64 and aarch64, not '${CMAKE_SYSTEM_PROCESSOR}'")
endif()
set(TRACERT_ISA_FLAGS_portable "" CACHE INTERNAL "")
# For bitcode, by clang on any machine.
set(TRACERT_ISA_FLAGS_neon --target=aarch64-linux-gnu CACHE INTERNAL "")
set(TRACERT_ISA_FLAGS_v3 -march=x86-64-v3 CACHE INTERNAL "")
set(TRACERT_ISA_FLAGS_avx512 -march=x86-64-v4 -mprefer-vector-width=512 CACHE INTERNAL "")

# Adds sources to the object library tracert_<part>_objects (part: core or kernels).
function(tracert_sources part)
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" OUTPUT_VARIABLE paths)
  set_property(GLOBAL APPEND PROPERTY TRACERT_SOURCES_${part} ${paths})
endfunction()

# The same for sources compiled once per ISA level with TRACERT_ISA defined as the level's name;
# each puts its code into  namespace tracert::TRACERT_ISA ; nothing else is visible outside.
function(tracert_isa_sources part)
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" OUTPUT_VARIABLE paths)
  set_property(GLOBAL APPEND PROPERTY TRACERT_ISA_SOURCES_${part} ${paths})
endfunction()

# Creates the object libraries of a part and puts the objects to link into `out_var`.
function(tracert_create_part part out_var)
  set(created "")
  set(objects "")
  get_property(sources GLOBAL PROPERTY TRACERT_SOURCES_${part})
  if(sources)
    add_library(tracert_${part}_objects OBJECT ${sources})
    list(APPEND created tracert_${part}_objects)
    list(APPEND objects $<TARGET_OBJECTS:tracert_${part}_objects>)
  endif()
  get_property(isa_sources GLOBAL PROPERTY TRACERT_ISA_SOURCES_${part})
  if(isa_sources)
    foreach(isa ${TRACERT_ISAS})
      set(target tracert_${part}_${isa}_objects)
      add_library(${target} OBJECT ${isa_sources})
      target_compile_options(${target} PRIVATE ${TRACERT_ISA_FLAGS_${isa}})
      if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # gcc 12's own AVX-512 headers set it off.
        target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
      endif()
      target_compile_definitions(${target} PRIVATE TRACERT_ISA=${isa})
      string(TOUPPER ${isa} upper)
      target_compile_definitions(${target} PRIVATE TRACERT_ISA_${upper}=1)
      list(APPEND created ${target})
      if(TRACEC_SANITIZE)
        list(APPEND objects $<TARGET_OBJECTS:${target}>)
      else()
        _tracert_isolate(${target} ${isa} isolated)
        list(APPEND objects ${isolated})
      endif()
    endforeach()
  endif()
  foreach(target ${created})
    target_link_libraries(${target} PRIVATE tracert_options tracert_internal)
    target_compile_definitions(${target} PRIVATE TRACERT_BUILDING=1)
    set_target_properties(${target} PROPERTIES
      CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  endforeach()
  set(${out_var} ${objects} PARENT_SCOPE)
endfunction()

# Links the objects of one ISA level into one, in which only  tracert::<isa>::  stays global. An
# inline function or template that every level instantiates (the C++ library's, Status, Dims) is a
# weak symbol; left global, the linker would keep any one of them, and portable code would run
# AVX-512 instructions.
function(_tracert_isolate target isa out_var)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/isolated/${target}.o")
  string(LENGTH ${isa} length)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # ld -r would leave its symbol numbers wrong.
    target_compile_options(${target} PRIVATE -fno-addrsig)
  endif()
  add_custom_command(OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/isolated"
    COMMAND "${TRACERT_LD}" -r --force-group-allocation -o "${out}" "$<TARGET_OBJECTS:${target}>"
    COMMAND "${TRACERT_OBJCOPY}" --wildcard "--keep-global-symbol=_ZN7tracert${length}${isa}*" "${out}"
    DEPENDS ${target} "$<TARGET_OBJECTS:${target}>" COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Isolating ${target}")
  set_source_files_properties("${out}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  add_custom_target(${target}_isolated DEPENDS "${out}")
  set(${out_var} "${out}" PARENT_SCOPE)
endfunction()
find_program(TRACERT_LD NAMES ${machine}-ld ld REQUIRED)
find_program(TRACERT_OBJCOPY NAMES ${machine}-objcopy objcopy REQUIRED)
