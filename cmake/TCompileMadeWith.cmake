# tc_made_with(plugin targets...): the plugin has the hashes of these targets' files in it (tc_made_with), which it opens or runs
# when it is used: a compiler cache, which looks into the file on the command line alone, sees when one of them changes.
set(TC_MADE_WITH_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/made_with.cmake)

function(tc_made_with plugin)
  set(files "")
  foreach(target IN LISTS ARGN)
    list(APPEND files $<TARGET_FILE:${target}>)
  endforeach()
  list(JOIN files "," joined)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${plugin}_made_with.c)
  add_custom_command(OUTPUT ${out} VERBATIM DEPENDS ${ARGN} ${files} ${TC_MADE_WITH_SCRIPT}
    COMMAND ${CMAKE_COMMAND} -DFILES=${joined} -DOUT=${out} -P ${TC_MADE_WITH_SCRIPT}
    COMMENT "What ${plugin} works with")
  target_sources(${plugin} PRIVATE ${out})
endfunction()
