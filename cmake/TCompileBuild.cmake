# Settings of this project's own build: language levels, warnings, sanitizers, ccache, helpers for
# libraries and unit tests.  Users of the package see none of this.

function(tc_build_settings)
  find_program(TC_CCACHE ccache)
  if(TC_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${TC_CCACHE} PARENT_SCOPE)
    # without which ccache keeps nothing that includes a precompiled header
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${TC_CCACHE} PARENT_SCOPE)
    # of texts that tests make: sanitizer builds make the same ones
    set(TC_TEST_LAUNCHER "${TC_CCACHE} " PARENT_SCOPE)
  endif()
  set(CMAKE_C_STANDARD 17 PARENT_SCOPE)
  set(CMAKE_C_STANDARD_REQUIRED ON PARENT_SCOPE)
  set(CMAKE_CXX_STANDARD 17 PARENT_SCOPE)
  set(CMAKE_CXX_STANDARD_REQUIRED ON PARENT_SCOPE)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON PARENT_SCOPE)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON PARENT_SCOPE)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release PARENT_SCOPE)
  endif()
  add_library(tc_flags INTERFACE)
  target_compile_options(tc_flags INTERFACE -Wall -Wextra -Werror -Wno-unknown-warning-option)
  target_include_directories(tc_flags INTERFACE
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/include)
  if(TC_SANITIZE)
    # Split debug information, for which kernels have no line tables (wants_lines): so they are those of the release
    # build, in the cache of compiled kernels, and are not compiled again for each sanitizer.
    # Lines are all that reports name, and the rest of it takes a sixth of the time of a file.
    add_compile_options(-fsanitize=${TC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -gline-tables-only -gsplit-dwarf)
    add_link_options(-fsanitize=${TC_SANITIZE})
  endif()
  tc_sanitizer_environment(environment)
  set(TC_TEST_ENVIRONMENT ${environment} PARENT_SCOPE)
endfunction()

# The environment that tests need under TC_SANITIZE.  libomp keeps memory of its own until the end.
# It is not built with TSan either, so that libarcher tells TSan what OpenMP orders.
# What was freed last ASan keeps out of use: 32 MB of it here, for with 256 MB, its default, up to half of a test's time goes
# into pages that are cleared.
function(tc_sanitizer_environment out)
  set(environment)
  if(TC_SANITIZE MATCHES address)
    set(suppressions ${PROJECT_BINARY_DIR}/leaks)
    file(WRITE ${suppressions} "leak:libomp\n")
    list(APPEND environment ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=32
         LSAN_OPTIONS=suppressions=${suppressions}:print_suppressions=0)
  endif()
  if(TC_SANITIZE MATCHES undefined)
    list(APPEND environment UBSAN_OPTIONS=print_stacktrace=1)
  endif()
  if(TC_SANITIZE MATCHES thread)
    find_library(TC_ARCHER archer HINTS /usr/lib/llvm-${TC_LLVM}/lib REQUIRED)
    list(APPEND environment OMP_TOOL_LIBRARIES=${TC_ARCHER} TSAN_OPTIONS=ignore_noninstrumented_modules=1)
  endif()
  set(${out} ${environment} PARENT_SCOPE)
endfunction()

# tc_add_test(name COMMAND ... [TIMEOUT seconds]): a CTest test, in the environment of the sanitizers.
function(tc_add_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "COMMAND" ${ARGN})
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${TC_TEST_ENVIRONMENT}")
endfunction()

# A static library of all C files of this folder (and the named subfolders).
function(tc_core_library name)
  cmake_parse_arguments(arg "" "" "FOLDERS;LINK" ${ARGN})
  set(files)
  foreach(folder . ${arg_FOLDERS})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c)
    list(APPEND files ${found})
  endforeach()
  list(FILTER files EXCLUDE REGEX "_main\\.c$")
  add_library(${name} STATIC ${files})
  target_compile_options(${name} PRIVATE -fvisibility=hidden -ffunction-sections -fdata-sections)
  target_link_libraries(${name} PUBLIC tc_flags ${arg_LINK})
endfunction()

# tc_unity(target name size files...): the files are compiled in groups of that size: instances of templates, which take longer
# than all else in a C++ file of ours, once for all of a group.  Files of one group share names of file scope.
option(TC_UNITY "Compile C++ files in groups: the whole in half of the time, one changed file in three times its own" ON)
function(tc_unity target name size)
  if(NOT TC_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(n 0)
  foreach(file ${ARGN})
    math(EXPR group "${n} / ${size}")
    math(EXPR n "${n} + 1")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${name}_${group})
  endforeach()
endfunction()

# Every test_*.c of this folder becomes a Criterion program and a CTest test; other C files are shared.
function(tc_unit_tests prefix)
  cmake_parse_arguments(arg "" "" "LINK;SHARED" ${ARGN})
  find_library(TC_CRITERION criterion REQUIRED)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test_*.c)
  foreach(file ${files})
    cmake_path(GET file STEM stem)
    set(target ${prefix}_${stem})
    add_executable(${target} ${file} ${arg_SHARED})
    target_link_libraries(${target} PRIVATE ${arg_LINK} tc_flags ${TC_CRITERION} m)
    if(TC_SANITIZE) # what they call is optimised; they themselves take four times as long to compile where they are
      target_compile_options(${target} PRIVATE -O0)
    endif()
    tc_add_test(${prefix}.${stem} COMMAND ${target})
  endforeach()
endfunction()

# The unit tests of one layer: its own CMakeLists.txt if it has one, else all its test_*.c.
function(tc_test_folder folder)
  set(path ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  if(EXISTS ${path}/CMakeLists.txt)
    add_subdirectory(${folder})
    return()
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${path}/test_*.c)
  if(files)
    set(CMAKE_CURRENT_SOURCE_DIR ${path})
    file(GLOB shared CONFIGURE_DEPENDS ${path}/*.c)
    list(FILTER shared EXCLUDE REGEX "/test_[^/]*$")
    tc_unit_tests(${folder} SHARED ${shared} LINK ${ARGN})
  endif()
endfunction()
