# tc_made_with(plugin targets...): the plugin has the hashes of these targets' files in it (tc_made_with), which it opens or runs
# when it is used: a compiler cache, which looks into the file on the command line alone, sees when one of them changes.
set(TC_MADE_WITH_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/made_with.cmake)

function(tc_made_with plugin)
  set(files "")
  foreach(target IN LISTS ARGN)
    list(APPEND files $<TARGET_FILE:${target}>)
  endforeach()
  tc_hashes(${plugin} tc_made_with DEPENDS ${ARGN} FILES ${files})
endfunction()

# tc_hashes(target symbol DEPENDS targets... FILES files...): the hashes of the files as `const char symbol[]` in the target.
function(tc_hashes target symbol)
  cmake_parse_arguments(arg "" "" "DEPENDS;FILES" ${ARGN})
  list(JOIN arg_FILES "," joined)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_${symbol}.c)
  add_custom_command(OUTPUT ${out} VERBATIM DEPENDS ${arg_DEPENDS} ${arg_FILES} ${TC_MADE_WITH_SCRIPT}
    COMMAND ${CMAKE_COMMAND} -DFILES=${joined} -DSYMBOL=${symbol} -DOUT=${out} -P ${TC_MADE_WITH_SCRIPT}
    COMMENT "What ${target} is made with")
  target_sources(${target} PRIVATE ${out})
endfunction()
