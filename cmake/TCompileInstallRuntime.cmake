# Installation of what programs of any compiler need: headers, and pkg-config files; libraries as well, where nothing else is built.
install(DIRECTORY runtime/libtcrt/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/tcompile/elementwise.h ${PROJECT_BINARY_DIR}/include/tcompile/locations.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tcompile)
if(TC_RUNTIME_ONLY)
  install(TARGETS tcrt tcrt_archive tcserial tcrt_profile LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# Paths in tcrt.pc are relative to the file: an installation can be moved.
file(RELATIVE_PATH TCompile_PC_INCLUDE /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
set(TCompile_PC_CLANG "")
foreach(major ${TCompile_CLANG_MAJORS})
  string(APPEND TCompile_PC_CLANG "clang${major}_plugin=\${libdir}/libtcclang-${major}.so\n")
endforeach()
configure_file(cmake/tcrt.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tcrt.pc @ONLY)
configure_file(cmake/tcrt-serial.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tcrt-serial.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tcrt.pc ${CMAKE_CURRENT_BINARY_DIR}/tcrt-serial.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
