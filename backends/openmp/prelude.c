/* prelude.c - what texts of the OpenMP backend begin with: the chunks of the prelude that they name,
 * and abi.h. */
#include <string.h>

#include "backends/openmp/emit.h"
#include "backends/openmp/unit.h"

extern const char tc_omp_prelude[], tc_omp_abi[]; /* made by embed.cmake */

bool tc_omp_put_prelude(const char *text, tc_buf *out) {
  return tc_print_prelude(tc_omp_prelude, text, out);
}

void tc_omp_put_abi(tc_buf *out) {
  tc_put(out, "#if __STDC_VERSION__ < 202311L\ntypedef _Bool bool;\n#endif\ntypedef __SIZE_TYPE__ "
              "size_t;\ntypedef __UINTPTR_TYPE__ uintptr_t;\n"
              "typedef __UINT8_TYPE__ uint8_t;\ntypedef __INT32_TYPE__ int32_t;\n"
              "typedef __UINT32_TYPE__ uint32_t;\ntypedef __INT64_TYPE__ int64_t;\n"
              "typedef __UINT64_TYPE__ uint64_t;\n");
  for (const char *line = tc_omp_abi; *line;) {
    const char *end = strchr(line, '\n');
    const size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
    if (strncmp(line, "#include", 8) != 0) tc_putn(out, line, n);
    line += n;
  }
}
