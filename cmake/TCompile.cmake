# Functions for projects that use TCompile, from an installed package or from its build tree.
#
#   tcompile_enable(target ... [STATIC | SERIAL])   compile the annotated functions of these targets, C
#                                 and C++, with the plugin, and link libtcrt (STATIC: libtcrt.a; SERIAL:
#                                 with one thread in place of OpenMP, for -static).  An error when a
#                                 compiler that they need cannot load the plugin.
#   tcompile_options(target KEY=VALUE ...)   options for every annotated function of the target
#   tcompile_add_backend(name files ...)     a backend out of tree: the target tc_backend_<name> is the
#                                 shared object libtc_backend_<name>.so (see docs/adding-a-backend.md)
#   tcompile_use_backend(target backend)     backend=: a target of tcompile_add_backend, or the path of a
#                                 shared object; objects are made anew when it changes
#
# What backends need on the command line of every object is in files of their own (backends/*.cmake beside
# this file; in the tree backends/*/package.cmake), which append to `options`; `folder` is the plugin's.

# The languages that the target's files are in, of C and C++; all that the project has, where the files
# do not tell (they are added later).
function(_tcompile_languages target out)
  get_property(enabled GLOBAL PROPERTY ENABLED_LANGUAGES)
  get_target_property(files ${target} SOURCES)
  set(project "")
  set(used "")
  foreach(language C CXX)
    if(NOT language IN_LIST enabled)
      continue()
    endif()
    list(APPEND project ${language})
    foreach(file ${files})
      cmake_path(GET file EXTENSION LAST_ONLY extension)
      string(REGEX REPLACE "^\\." "" extension "${extension}")
      if(extension IN_LIST CMAKE_${language}_SOURCE_FILE_EXTENSIONS)
        list(APPEND used ${language})
        break()
      endif()
    endforeach()
  endforeach()
  if(NOT used)
    set(used ${project})
  endif()
  set(${out} "${used}" PARENT_SCOPE)
endfunction()

# One clear sentence in `out` when the compiler of one of the languages cannot load the plugin, and
# another one when that can be changed; else empty.
function(_tcompile_refusal languages out)
  set(version ${TCompile_LLVM_VERSION})
  set(reason "")
  if(NOT TARGET TCompile::plugin)
    set(reason "this TCompile was built without its compiler plugin")
  elseif(NOT languages)
    set(reason "the project enables neither C nor CXX")
  endif()
  set(name_C "C")
  set(name_CXX "C++")
  set(clang_C clang-${version})
  set(clang_CXX clang++-${version})
  foreach(language ${languages})
    set(id "${CMAKE_${language}_COMPILER_ID}")
    set(is "${CMAKE_${language}_COMPILER_VERSION}")
    if(NOT reason AND NOT (id STREQUAL "Clang" AND is MATCHES "^${version}\\."))
      set(reason "the plugin needs clang ${version} as the ${name_${language}} compiler, which is ${id} ${is}. Set CMAKE_${language}_COMPILER=${clang_${language}}")
    endif()
  endforeach()
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

# What backends want on the command line of targets compiled with the plugin in `plugin_file`.
set(TCompile_FOLDER ${CMAKE_CURRENT_LIST_DIR})
function(_tcompile_backend_options plugin_file out)
  get_filename_component(folder ${plugin_file} DIRECTORY)
  set(options "")
  file(GLOB files ${TCompile_FOLDER}/backends/*.cmake ${TCompile_FOLDER}/../backends/*/package.cmake)
  foreach(file ${files})
    include(${file})
  endforeach()
  set(${out} "${options}" PARENT_SCOPE)
endfunction()

function(tcompile_enable)
  cmake_parse_arguments(PARSE_ARGV 0 arg "STATIC;SERIAL" "" "")
  set(runtime TCompile::tcrt)
  if(arg_STATIC)
    set(runtime TCompile::tcrt_static)
  elseif(arg_SERIAL)
    set(runtime TCompile::tcrt_serial)
  endif()
  foreach(target ${arg_UNPARSED_ARGUMENTS})
    _tcompile_languages(${target} languages)
    _tcompile_refusal("${languages}" reason)
    if(reason)
      message(FATAL_ERROR "tcompile_enable(${target}): ${reason}. "
                          "With ${runtime} alone, the same sources run eagerly.")
    endif()
  endforeach()
  # Objects are made anew when the plugin changes; OBJECT_DEPENDS wants a path.
  get_target_property(plugin_file TCompile::plugin IMPORTED_LOCATION)
  if(NOT plugin_file)
    get_target_property(plugin_folder TCompile::plugin BINARY_DIR)
    set(plugin_file ${plugin_folder}/libtcplugin.so)
  endif()
  _tcompile_backend_options(${plugin_file} options)
  foreach(target ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${target} PRIVATE ${runtime})
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:C,CXX>:-fplugin=$<TARGET_FILE:TCompile::plugin>;${options}>")
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

function(tcompile_add_backend name)
  add_library(tc_backend_${name} MODULE ${ARGN})
  set_target_properties(tc_backend_${name} PROPERTIES PREFIX lib C_VISIBILITY_PRESET hidden)
  target_link_libraries(tc_backend_${name} PRIVATE TCompile::backend)
  target_link_options(tc_backend_${name} PRIVATE -Wl,--gc-sections -Wl,-z,defs)
endfunction()

# A compiler cache does not see what a plugin opens, but what the command line loads: the shared object
# stands there as a plugin too, which does nothing as such.
function(tcompile_use_backend target backend)
  set(file ${backend})
  if(TARGET ${backend})
    set(file $<TARGET_FILE:${backend}>)
    add_dependencies(${target} ${backend})
    get_target_property(folder ${backend} BINARY_DIR)
    set(made ${folder}/lib${backend}.so)
  else()
    set(made ${backend})
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C,CXX>:-fplugin=${file}>")
  tcompile_options(${target} backend=${file})
  get_target_property(sources ${target} SOURCES)
  set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY OBJECT_DEPENDS ${made})
endfunction()
