# tc_add_sample(name SOURCES files... [LINK libraries...] [ARGS arguments of the test run...]
#               [SHORT_ARGS arguments of a run under sanitizers...] [DEMO_GCC: tools/demo shows it built by gcc, too]
#               [OF_THIS_MACHINE: kernels as tc_sample_of_this_machine has them])
#
# Builds a sample: <name> with the plugin, <name>_clang by the same compiler without it, <name>_gcc by gcc,
# <name>_gcc_plugin by the newest gcc that there is a plugin for, <name>_gcc_<major>_plugin by each older one, but
# for those OF_THIS_MACHINE: whole models show nothing of a GCC that the others do not (kernels for some levels of
# CPU, of those that <name> has, the least among them: they come from the cache).  CTest
# runs them and checks that they print the same answers (the lines that do not start with '#': those carry times).
include_guard(GLOBAL)
find_program(TC_GCC gcc)
add_custom_target(samples)
add_custom_target(samples_of_gcc) # those that tools/demo shows; empty where there is no plugin for a GCC

# The highest level of CPU that the machine that builds runs kernels of.  Where it has tiles, both levels that it may be:
# the system gives permission to use them while a program runs.
function(tc_level_of_this_machine out)
  set(level v2)
  if(EXISTS /proc/cpuinfo)
    file(READ /proc/cpuinfo flags)
    if(flags MATCHES "amx_bf16")
      set(level bf16,amx)
    elseif(flags MATCHES "avx512_bf16")
      set(level bf16)
    elseif(flags MATCHES "avx512vl")
      set(level v4)
    elseif(flags MATCHES "avx2")
      set(level v2,v3)
    endif()
  endif()
  set(${out} ${level} PARENT_SCOPE)
endfunction()

# Whole models have many kernels: those of the CPU that builds, and of GPUs from 8.0 on where there is one.
function(tc_sample_of_this_machine target)
  tc_level_of_this_machine(level)
  tcompile_options(${target} isa=${level})
  if(EXISTS /dev/nvidia0)
    tcompile_options(${target} cuda-arch=ptx80)
  else()
    tcompile_options(${target} backend=openmp)
  endif()
endfunction()

function(tc_add_sample name)
  cmake_parse_arguments(arg "DEMO_GCC;OF_THIS_MACHINE" "" "SOURCES;LINK;ARGS;SHORT_ARGS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  tcompile_enable(${name})
  tcompile_options(${name} ${TC_OPTIONS})
  set(level v2,v3)
  if(arg_OF_THIS_MACHINE)
    tc_level_of_this_machine(level)
    tc_sample_of_this_machine(${name})
  endif()
  add_executable(${name}_clang ${arg_SOURCES})
  target_link_libraries(${name}_clang PRIVATE tcrt)
  foreach(target ${name} ${name}_clang)
    target_link_libraries(${target} PRIVATE ${arg_LINK} m)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Werror)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/samples)
  endforeach()
  add_dependencies(samples ${name} ${name}_clang)
  set(variants ${name}_clang)
  if(TC_GCC AND NOT TC_SANITIZE)
    list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
    set(libraries)
    foreach(library ${arg_LINK})
      list(APPEND libraries -l${library})
    endforeach()
    set(gcc_program ${CMAKE_CURRENT_BINARY_DIR}/${name}_gcc)
    file(GLOB headers CONFIGURE_DEPENDS *.h ${PROJECT_SOURCE_DIR}/samples/common/*.h)
    add_custom_command(OUTPUT ${gcc_program} DEPENDS ${files} ${headers} tcrt VERBATIM
      COMMAND ${TC_GCC} -std=gnu17 -O2 -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR}/samples
              -I${PROJECT_BINARY_DIR}/include ${files} -o ${gcc_program}
              $<TARGET_FILE:tcrt> -Wl,-rpath,$<TARGET_FILE_DIR:tcrt> ${libraries} -lm)
    add_custom_target(${name}_with_gcc ALL DEPENDS ${gcc_program})
    list(APPEND variants ${gcc_program})
    set(newest)
    if(TC_GCC_MAJORS)
      list(GET TC_GCC_MAJORS -1 newest)
    endif()
    foreach(major ${TC_GCC_MAJORS})
      set(suffix gcc_plugin)
      if(NOT major EQUAL newest)
        if(arg_OF_THIS_MACHINE)
          continue()
        endif()
        set(suffix gcc_${major}_plugin)
      endif()
      set(compiled ${CMAKE_CURRENT_BINARY_DIR}/${name}_${suffix})
      add_custom_command(OUTPUT ${compiled} DEPENDS ${files} ${headers} tcrt tcgcc tcompile ${name} VERBATIM
        COMMAND ${TC_GCC_${major}} -std=gnu17 -O2 -Wall -Wextra -Werror -fplugin=$<TARGET_FILE:tcgcc>
                -fplugin-arg-libtcgcc-backend=openmp -fplugin-arg-libtcgcc-isa=${level} -I${PROJECT_SOURCE_DIR}/samples
                -I${PROJECT_BINARY_DIR}/include ${files} -o ${compiled}
                $<TARGET_FILE:tcrt> -Wl,-rpath,$<TARGET_FILE_DIR:tcrt> ${libraries} -lm)
      add_custom_target(${name}_with_${suffix} ALL DEPENDS ${compiled})
      if(arg_DEMO_GCC AND major EQUAL newest)
        add_dependencies(samples_of_gcc ${name}_with_${suffix})
      endif()
      list(APPEND variants ${compiled})
    endforeach()
  endif()
  if(NOT TC_BUILD_TESTS)
    return()
  endif()
  set(programs)
  foreach(variant ${name} ${variants})
    if(TARGET ${variant})
      list(APPEND programs $<TARGET_FILE:${variant}>)
    else()
      list(APPEND programs ${variant})
    endif()
  endforeach()
  if(TC_SANITIZE)
    set(arg_ARGS ${arg_SHORT_ARGS})
  endif()
  tc_add_test(sample.${name} TIMEOUT 900
    COMMAND ${PROJECT_SOURCE_DIR}/tests/same_answers ${programs} -- ${arg_ARGS})
endfunction()
