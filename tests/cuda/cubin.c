/* cubin.c - see cubin.h.  An ELF file whose section .nv.info lists, per function symbol, attributes
 * of the form (format, attribute, size, symbol, value). */
#include "tests/cuda/cubin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_SIZED = 4, FRAME_SIZE = 0x11, REGISTERS = 0x2f };

static const Elf64_Shdr *section(const unsigned char *image, const char *name) {
  const Elf64_Ehdr *e = (const Elf64_Ehdr *)image;
  const Elf64_Shdr *s = (const Elf64_Shdr *)(image + e->e_shoff);
  const char *names = (const char *)image + s[e->e_shstrndx].sh_offset;
  for (int i = 0; i < e->e_shnum; i++)
    if (strcmp(names + s[i].sh_name, name) == 0) return &s[i];
  return NULL;
}

static cubin_function *of_symbol(const char *name, cubin_function *list, int *n) {
  for (int i = 0; i < *n; i++)
    if (strcmp(list[i].name, name) == 0) return &list[i];
  list[*n] = (cubin_function){.name = name};
  return &list[(*n)++];
}

int cubin_functions(const unsigned char *image, size_t size, cubin_function **list) {
  if (size < sizeof(Elf64_Ehdr) || memcmp(image, ELFMAG, SELFMAG) != 0) return -1;
  const Elf64_Shdr *info = section(image, ".nv.info"), *table = section(image, ".symtab"),
                   *names = section(image, ".strtab");
  if (!info || !table || !names) return -1;
  const Elf64_Sym *symbol = (const Elf64_Sym *)(image + table->sh_offset);
  const unsigned char *at = image + info->sh_offset, *end = at + info->sh_size;
  int n = 0;
  *list = calloc(info->sh_size / 4 + 1, sizeof **list);
  while (*list && at + 4 <= end) {
    uint16_t bytes = 0;
    uint32_t index, value;
    const bool sized = at[0] == FORMAT_SIZED;
    if (sized) memcpy(&bytes, at + 2, 2);
    if (sized && bytes == 8 && (at[1] == FRAME_SIZE || at[1] == REGISTERS)) {
      memcpy(&index, at + 4, 4);
      memcpy(&value, at + 8, 4);
      cubin_function *f =
          of_symbol((const char *)image + names->sh_offset + symbol[index].st_name, *list, &n);
      *(at[1] == FRAME_SIZE ? &f->frame : &f->registers) = value;
    }
    at += 4 + bytes;
  }
  return n;
}
