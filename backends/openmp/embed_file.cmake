# cmake -DPARTS=folder -DABI=abi.h -DOUT=out.c -P embed_file.cmake
# tc_omp_prelude: the parts.  tc_omp_abi: abi.h without its includes, for host text.
function(tc_bytes file name result)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(${result} "${hex}" PARENT_SCOPE)
endfunction()

file(GLOB parts ${PARTS}/*.c)
list(SORT parts)
set(all "")
foreach(part IN LISTS parts)
  tc_bytes(${part} prelude bytes)
  string(APPEND all "${bytes}\n")
endforeach()
tc_bytes(${ABI} abi abi_bytes)
file(WRITE ${OUT} "/* Generated from the prelude and abi.h. */\n"
  "extern const char tc_omp_prelude[], tc_omp_abi[];\n"
  "const char tc_omp_prelude[] = {\n${all}0};\n"
  "const char tc_omp_abi[] = {\n${abi_bytes}0};\n")
