# Functions for projects that use TCompile, from an installed package or from its build tree.
#
#   tcompile_enable(target ... [STATIC | SERIAL])   compile the annotated functions of these targets, C
#                                 and C++, with the plugin, and link libtcrt (STATIC: libtcrt.a; SERIAL:
#                                 with one thread in place of OpenMP, for -static).  An error when there is
#                                 no plugin for a compiler that they need.
#   tcompile_options(target KEY=VALUE ...)   options for every annotated function of the target
#   tcompile_add_backend(name files ...)     a backend out of tree: the target tc_backend_<name> is the
#                                 shared object libtc_backend_<name>.so (see docs/adding-a-backend.md)
#   tcompile_use_backend(target backend)     backend=: a target of tcompile_add_backend, or the path of a
#                                 shared object; objects are made anew when it changes
#
# What backends need on the command line of every object is in files of their own (backends/*.cmake beside
# this file; in the tree backends/*/package.cmake), which append KEY=VALUE to `options`; `folder` is the
# plugin's.

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
  if(NOT TARGET TCompile::gcc_plugin)
    set(TCompile_GCC_MAJORS "")
  endif()
  list(JOIN TCompile_GCC_MAJORS ", " majors)
  set(clangs ${TCompile_CLANG_MAJORS} ${version})
  list(REMOVE_DUPLICATES clangs)
  list(SORT clangs COMPARE NATURAL)
  list(JOIN clangs ", " clangs)
  set(name_C "C")
  set(name_CXX "C++")
  set(clang_C clang-${version})
  set(clang_CXX clang++-${version})
  foreach(language ${languages})
    set(id "${CMAKE_${language}_COMPILER_ID}")
    set(is "${CMAKE_${language}_COMPILER_VERSION}")
    string(REGEX MATCH "^[0-9]+" major "${is}")
    if(reason OR (id STREQUAL "Clang" AND (major STREQUAL version OR major IN_LIST TCompile_CLANG_MAJORS)) OR
       (id STREQUAL "GNU" AND major IN_LIST TCompile_GCC_MAJORS))
      continue()
    endif()
    set(others "")
    if(majors)
      set(others " or GCC ${majors}")
    endif()
    set(reason "the plugin needs clang ${clangs}${others} as the ${name_${language}} compiler, which is ${id} ${is}. Set CMAKE_${language}_COMPILER=${clang_${language}}")
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

# The options KEY=VALUE, as the plugin of each language's compiler is told them.
function(_tcompile_add_options target)
  foreach(language C CXX)
    set(prefix -fplugin-arg-tc-)
    if("${CMAKE_${language}_COMPILER_ID}" STREQUAL "GNU")
      set(prefix -fplugin-arg-libtcgcc-)
    endif()
    foreach(option ${ARGN})
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:${language}>:${prefix}${option}>")
    endforeach()
  endforeach()
endfunction()

# The thin plugin of a Clang that the full one is not for: its target, or "".
function(_tcompile_thin_plugin language out)
  set(${out} "" PARENT_SCOPE)
  string(REGEX MATCH "^[0-9]+" major "${CMAKE_${language}_COMPILER_VERSION}")
  if("${CMAKE_${language}_COMPILER_ID}" STREQUAL "Clang" AND NOT major STREQUAL TCompile_LLVM_VERSION AND
     TARGET TCompile::clang_plugin_${major})
    set(${out} TCompile::clang_plugin_${major} PARENT_SCOPE)
  endif()
endfunction()

# What objects that are compiled with the target's plugin are made of besides the sources, as paths.
function(_tcompile_plugin_file plugin name out)
  get_target_property(file ${plugin} IMPORTED_LOCATION)
  if(NOT file)
    get_target_property(folder ${plugin} BINARY_DIR)
    set(file ${folder}/${name})
  endif()
  set(${out} ${file} PARENT_SCOPE)
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
                          "With ${runtime} alone, the same sources run eagerly; "
                          "the program tcompile turns them into C for any compiler.")
    endif()
  endforeach()
  # Objects are made anew when a plugin changes, which it does with the tool that it runs; OBJECT_DEPENDS wants a path.
  _tcompile_plugin_file(TCompile::plugin libtcplugin.so plugin_file)
  _tcompile_backend_options(${plugin_file} options)
  foreach(target ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${target} PRIVATE ${runtime})
    set(files "")
    foreach(language C CXX)
      set(plugin TCompile::plugin)
      set(file ${plugin_file})
      _tcompile_thin_plugin(${language} thin)
      if("${CMAKE_${language}_COMPILER_ID}" STREQUAL "GNU")
        set(plugin TCompile::gcc_plugin)
        _tcompile_plugin_file(TCompile::gcc_plugin libtcgcc.so file)
      elseif(thin)
        set(plugin ${thin})
        string(REGEX MATCH "[0-9]+$" major ${thin})
        _tcompile_plugin_file(${thin} libtcclang-${major}.so file)
      endif()
      if(NOT CMAKE_${language}_COMPILER_ID OR NOT TARGET ${plugin})
        continue()
      endif()
      target_compile_options(${target} PRIVATE
        "$<$<COMPILE_LANGUAGE:${language}>:-fplugin=$<TARGET_FILE:${plugin}>>")
      add_dependencies(${target} ${plugin})
      list(APPEND files ${file})
    endforeach()
    _tcompile_add_options(${target} ${options})
    get_target_property(sources ${target} SOURCES)
    set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY OBJECT_DEPENDS ${files})
  endforeach()
endfunction()

function(tcompile_options target)
  _tcompile_add_options(${target} ${ARGN})
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
  foreach(language C CXX) # GCC would ask it for more
    if(NOT "${CMAKE_${language}_COMPILER_ID}" STREQUAL "GNU")
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:${language}>:-fplugin=${file}>")
    endif()
  endforeach()
  tcompile_options(${target} backend=${file})
  get_target_property(sources ${target} SOURCES)
  set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY OBJECT_DEPENDS ${made})
endfunction()
