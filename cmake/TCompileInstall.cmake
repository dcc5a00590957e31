# Installation, the CMake package (install prefix and build tree) and tcrt.pc.
include(CMakePackageConfigHelpers)

set(TCompile_LLVM_VERSION ${TC_LLVM})
add_library(TCompile::tcrt ALIAS tcrt)
add_library(TCompile::tcrt_static ALIAS tcrt_static)
add_library(TCompile::tcrt_serial ALIAS tcrt_serial)
add_library(TCompile::tcrt_profile ALIAS tcrt_profile)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/TCompile)
set(TCompile_PLUGIN_FILE "")
if(TARGET tcplugin)
  set(TCompile_PLUGIN_FILE ${CMAKE_INSTALL_LIBDIR}/libtcplugin.so)
  install(TARGETS tcplugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

set(TCompile_GCC_PLUGIN_FILE "")
set(TCompile_GCC_MAJORS "")
if(TARGET tcgcc)
  set(TCompile_GCC_PLUGIN_FILE ${CMAKE_INSTALL_LIBDIR}/libtcgcc.so)
  set(TCompile_GCC_MAJORS ${TC_GCC_MAJORS})
  list(TRANSFORM TC_GCC_MAJORS PREPEND tcgcc- OUTPUT_VARIABLE plugins)
  install(TARGETS tcgcc ${plugins} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

set(TCompile_CLANG_MAJORS "")
set(TCompile_CLANG_PLUGIN_FOLDER ${CMAKE_INSTALL_LIBDIR})
if(TARGET tcplugin)
  set(TCompile_CLANG_MAJORS ${TC_CLANG_MAJORS})
  list(TRANSFORM TC_CLANG_MAJORS PREPEND tcclang- OUTPUT_VARIABLE plugins)
  if(plugins)
    install(TARGETS ${plugins} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endif()

install(TARGETS tcrt tcrt_archive tcserial tcrt_static tcrt_serial tcrt_profile tcbackend_kit EXPORT TCompileTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ${TC_PROGRAMS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The same lists as TCompileConfig.cmake has.
set(clangs "")
if(TARGET tcplugin)
  set(clangs ${TCompile_CLANG_MAJORS} ${TC_LLVM})
  list(REMOVE_DUPLICATES clangs)
  list(SORT clangs COMPARE NATURAL)
endif()
list(JOIN clangs " " clangs)
list(JOIN TCompile_GCC_MAJORS " " gccs)
configure_file(tools/flags/tc-flags.in ${CMAKE_CURRENT_BINARY_DIR}/install/tc-flags @ONLY)
install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/install/tc-flags DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES cmake/tsan.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/tcompile)
get_target_property(interface tcbackend_kit TC_INTERFACE)
foreach(header ${interface})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tcompile-backend/${folder})
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/interface/backends/backend_abi.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tcompile-backend/backends)
install(EXPORT TCompileTargets NAMESPACE TCompile:: DESTINATION ${package_dir})
install(FILES cmake/TCompile.cmake DESTINATION ${package_dir})

file(GLOB parts CONFIGURE_DEPENDS backends/*/package.cmake)
foreach(part ${parts})
  cmake_path(GET part PARENT_PATH backend)
  cmake_path(GET backend FILENAME backend)
  install(FILES ${part} DESTINATION ${package_dir}/backends RENAME ${backend}.cmake)
endforeach()

configure_package_config_file(cmake/TCompileConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/install/TCompileConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS TCompile_PLUGIN_FILE TCompile_GCC_PLUGIN_FILE TCompile_CLANG_PLUGIN_FOLDER)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/TCompileConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/install/TCompileConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/TCompileConfigVersion.cmake DESTINATION ${package_dir})

# The build tree is a package too: find_package(TCompile PATHS <build>).
export(EXPORT TCompileTargets NAMESPACE TCompile:: FILE ${CMAKE_CURRENT_BINARY_DIR}/TCompileTargets.cmake)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/TCompileConfig.cmake @ONLY CONTENT [[
set(TCompile_LLVM_VERSION @TCompile_LLVM_VERSION@)
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/TCompileTargets.cmake)
if(NOT TARGET TCompile::plugin AND EXISTS "${CMAKE_CURRENT_LIST_DIR}/plugin/libtcplugin.so")
  add_library(TCompile::plugin MODULE IMPORTED GLOBAL)
  set_target_properties(TCompile::plugin PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/plugin/libtcplugin.so")
endif()
set(TCompile_GCC_MAJORS "@TCompile_GCC_MAJORS@")
if(NOT TARGET TCompile::gcc_plugin AND EXISTS "${CMAKE_CURRENT_LIST_DIR}/plugin/gcc/libtcgcc.so")
  add_library(TCompile::gcc_plugin MODULE IMPORTED GLOBAL)
  set_target_properties(TCompile::gcc_plugin PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/plugin/gcc/libtcgcc.so")
endif()
set(TCompile_CLANG_MAJORS "@TCompile_CLANG_MAJORS@")
foreach(major ${TCompile_CLANG_MAJORS})
  set(file "${CMAKE_CURRENT_LIST_DIR}/plugin/clang/libtcclang-${major}.so")
  if(NOT TARGET TCompile::clang_plugin_${major} AND EXISTS "${file}")
    add_library(TCompile::clang_plugin_${major} MODULE IMPORTED GLOBAL)
    set_target_properties(TCompile::clang_plugin_${major} PROPERTIES IMPORTED_LOCATION "${file}")
  endif()
endforeach()
include("@CMAKE_CURRENT_SOURCE_DIR@/cmake/TCompile.cmake")
]])

include(TCompileInstallRuntime)
