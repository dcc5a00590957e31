# Functions for projects that use TCompile, from an installed package or from its build tree.
#
#   tcompile_enable(target ...)   compile the annotated functions of these targets with the plugin,
#                                 and link libtcrt.  An error when the C compiler cannot load it.
#   tcompile_options(target KEY=VALUE ...)   options for every annotated function of the target
#
# TCompile_NVRTC: the library that compiles device code, found here as the plugin would find it (the
# variable TC_NVRTC wins), or `none`.  It stands on the command line of every object, because a
# compiler cache does not see what a plugin opens: an object made without it must not come back.

# One clear sentence in `out` when this project's C compiler cannot load the plugin; else empty.
function(_tcompile_refusal out)
  set(reason "")
  if(NOT TARGET TCompile::plugin)
    set(reason "this TCompile was built without its compiler plugin")
  elseif(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    set(reason "the plugin needs clang ${TCompile_LLVM_VERSION} as the C compiler, which is ${CMAKE_C_COMPILER_ID}")
  elseif(NOT CMAKE_C_COMPILER_VERSION MATCHES "^${TCompile_LLVM_VERSION}\\.")
    set(reason "the plugin is built for clang ${TCompile_LLVM_VERSION}, and the C compiler is clang ${CMAKE_C_COMPILER_VERSION}")
  endif()
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

# The option that names NVRTC, for targets compiled with the plugin in `plugin_file`; else empty.
function(_tcompile_nvrtc_option plugin_file out)
  get_filename_component(folder ${plugin_file} DIRECTORY)
  if(DEFINED ENV{TC_NVRTC})
    set(TCompile_NVRTC $ENV{TC_NVRTC})
  else()
    find_library(TCompile_NVRTC NAMES nvrtc libnvrtc.so.13 libnvrtc.so.12
                 HINTS ${folder}/nvrtc ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
                 PATH_SUFFIXES lib64 lib NO_CMAKE_FIND_ROOT_PATH)
  endif()
  set(option "")
  if(TCompile_NVRTC)
    set(option -fplugin-arg-tc-nvrtc=${TCompile_NVRTC})
    if(EXISTS ${TCompile_NVRTC})
      file(REAL_PATH ${TCompile_NVRTC} file)
      set(option -fplugin-arg-tc-nvrtc=${file})
    endif()
  endif()
  set(${out} "${option}" PARENT_SCOPE)
endfunction()

function(tcompile_enable)
  _tcompile_refusal(reason)
  if(reason)
    message(FATAL_ERROR "tcompile_enable: ${reason}. Set CMAKE_C_COMPILER=clang-${TCompile_LLVM_VERSION}, "
                        "or link TCompile::tcrt alone: the same sources then run eagerly.")
  endif()
  # Objects are made anew when the plugin changes; OBJECT_DEPENDS wants a path.
  get_target_property(plugin_file TCompile::plugin IMPORTED_LOCATION)
  if(NOT plugin_file)
    get_target_property(plugin_folder TCompile::plugin BINARY_DIR)
    set(plugin_file ${plugin_folder}/libtcplugin.so)
  endif()
  _tcompile_nvrtc_option(${plugin_file} nvrtc)
  foreach(target ${ARGV})
    target_link_libraries(${target} PRIVATE TCompile::tcrt)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:C,CXX>:-fplugin=$<TARGET_FILE:TCompile::plugin>;${nvrtc}>")
    add_dependencies(${target} TCompile::plugin)
    get_target_property(sources ${target} SOURCES)
    set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY
                 OBJECT_DEPENDS ${plugin_file})
  endforeach()
endfunction()

function(tcompile_options target)
  foreach(option ${ARGN})
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C,CXX>:-fplugin-arg-tc-${option}>")
  endforeach()
endfunction()
