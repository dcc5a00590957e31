# Functions for projects that use TCompile, from an installed package or from its build tree.
#
#   tcompile_enable(target ...)   compile the annotated functions of these targets with the plugin,
#                                 and link libtcrt.  An error when the C compiler cannot load it.
#   tcompile_options(target KEY=VALUE ...)   options for every annotated function of the target

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
  foreach(target ${ARGV})
    target_link_libraries(${target} PRIVATE TCompile::tcrt)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:C,CXX>:-fplugin=$<TARGET_FILE:TCompile::plugin>>")
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
