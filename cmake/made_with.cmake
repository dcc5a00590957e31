# cmake -DFILES=a,b -DSYMBOL=name -DOUT=out.c -P made_with.cmake (see TCompileMadeWith.cmake)
string(REPLACE "," ";" files "${FILES}")
set(text "")
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  cmake_path(GET file FILENAME name)
  string(APPEND text " ${name} ${hash}")
endforeach()
file(WRITE ${OUT} "/* Generated: see TCompileMadeWith.cmake. */\n"
  "extern __attribute__((visibility(\"default\"))) const char ${SYMBOL}[];\n"
  "const char ${SYMBOL}[] = \"made with${text}\";\n")
