# The number of the interface between the driver and backends: a hash of the headers FILES, into OUT.
set(hashes "")
foreach(file ${FILES})
  file(SHA256 ${file} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 16 number)
file(WRITE ${OUT} "/* Made from the headers of the interface: see backends/module.h. */\n"
                  "#define TC_BACKEND_ABI 0x${number}u\n")
