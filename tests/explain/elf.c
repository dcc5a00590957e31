#include "tests/explain/elf.h"

#include <elf.h>
#include <string.h>

/* Header, section headers, names, contents. */
void make_elf(const char *name, const char *const *contents, int n, tc_buf *out) {
  const size_t names = 1 + strlen(name) + 1;
  Elf64_Ehdr h = {.e_type = ET_REL, .e_shoff = sizeof h, .e_shentsize = sizeof(Elf64_Shdr)};
  memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = ELFCLASS64;
  h.e_ident[EI_DATA] = ELFDATA2LSB;
  h.e_shnum = (Elf64_Half)(n + 2);
  h.e_shstrndx = 1;
  uint64_t at = sizeof h + (uint64_t)(n + 2) * sizeof(Elf64_Shdr);
  const Elf64_Shdr none = {0}, strings = {.sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = names};
  tc_putn(out, (const char *)&h, sizeof h);
  tc_putn(out, (const char *)&none, sizeof none);
  tc_putn(out, (const char *)&strings, sizeof strings);
  at += names;
  for (int i = 0; i < n; ++i) {
    const Elf64_Shdr s = {
        .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = at, .sh_size = strlen(contents[i])};
    tc_putn(out, (const char *)&s, sizeof s);
    at += s.sh_size;
  }
  tc_putn(out, "", 1);
  tc_putn(out, name, names - 1);
  for (int i = 0; i < n; ++i) tc_put(out, contents[i]);
}

void add_member(const tc_buf *file, tc_buf *out) {
  if (!out->len) tc_put(out, "!<arch>\n");
  tc_putf(out, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", "member.o/", 0, 0, 0, 644, file->len);
  tc_putn(out, file->text, file->len);
  if (file->len % 2) tc_put(out, "\n");
}
