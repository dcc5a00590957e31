# Embeds the prelude (backends/openmp/prelude/*.c, concatenated in the order of their names) into a
# library as `const char tc_omp_prelude[]`, NUL-terminated.  The files are ordinary C, so that tests
# compile them directly; here they become data.
set(TC_PRELUDE_DIR ${CMAKE_CURRENT_LIST_DIR}/prelude)
set(TC_PRELUDE_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_file.cmake)

function(tc_embed_prelude target)
  file(GLOB parts CONFIGURE_DEPENDS ${TC_PRELUDE_DIR}/*.c)
  list(SORT parts)
  set(abi ${PROJECT_SOURCE_DIR}/runtime/libtcrt/include/tcompile/abi.h)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/tc_omp_prelude.c)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DPARTS=${TC_PRELUDE_DIR} -DABI=${abi} -DOUT=${out} -P ${TC_PRELUDE_SCRIPT}
    DEPENDS ${parts} ${abi} ${TC_PRELUDE_SCRIPT} COMMENT "Embedding the OpenMP prelude" VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
