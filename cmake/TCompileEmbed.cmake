# tc_embed_text(target symbol files...): the files, one behind the other, as NUL-terminated
# `const char symbol[]` in the target.  They are ordinary sources elsewhere; here they become data.
set(TC_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_text.cmake)

function(tc_embed_text target symbol)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  list(JOIN ARGN "," files) # a list would be split on the command line
  add_custom_command(OUTPUT ${out} VERBATIM DEPENDS ${ARGN} ${TC_EMBED_SCRIPT}
    COMMAND ${CMAKE_COMMAND} -DFILES=${files} -DSYMBOL=${symbol} -DOUT=${out} -P ${TC_EMBED_SCRIPT}
    COMMENT "Embedding ${symbol}")
  target_sources(${target} PRIVATE ${out})
endfunction()
