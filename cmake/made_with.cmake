# cmake -DFILES=a,b -DOUT=out.c -P made_with.cmake (see TCompileMadeWith.cmake)
string(REPLACE "," ";" files "${FILES}")
set(text "")
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  cmake_path(GET file FILENAME name)
  string(APPEND text " ${name} ${hash}")
endforeach()
file(WRITE ${OUT} "/* Generated: see TCompileMadeWith.cmake. */\n"
  "extern __attribute__((visibility(\"default\"))) const char tc_made_with[];\n"
  "const char tc_made_with[] = \"made with${text}\";\n")
