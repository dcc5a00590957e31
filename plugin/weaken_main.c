/* weaken FILE - makes the references of a shared library weak that the program which loads it is to
 * have: undefined symbols that belong to none of the libraries it names (those have a version).
 *
 * libtcplugin.so takes Clang's symbols from the clang that loads it.  In any other program the
 * dynamic linker would give up at the first one that is missing, with its mangled name, before a
 * constructor could say what is wrong.  Weak references that nothing defines are 0; check_host()
 * looks at them. */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct library {
  unsigned char *bytes;
  size_t size;
} library;

static void *part(const library *l, uint64_t offset, uint64_t size) {
  return offset <= l->size && size <= l->size - offset ? l->bytes + offset : NULL;
}

static const Elf64_Shdr *section(const library *l, uint32_t type) {
  const Elf64_Ehdr *file = part(l, 0, sizeof *file);
  const bool elf64 =
      file && !memcmp(file->e_ident, ELFMAG, SELFMAG) && file->e_ident[EI_CLASS] == ELFCLASS64;
  const Elf64_Shdr *at =
      elf64 ? part(l, file->e_shoff, (uint64_t)file->e_shnum * sizeof *at) : NULL;
  for (int i = 0; at && i < file->e_shnum; i++)
    if (at[i].sh_type == type) return &at[i];
  return NULL;
}

static bool weaken(const library *l) {
  const Elf64_Shdr *symbols = section(l, SHT_DYNSYM), *versions = section(l, SHT_GNU_versym);
  if (!symbols) return false;
  const uint64_t n = symbols->sh_size / sizeof(Elf64_Sym);
  Elf64_Sym *symbol = part(l, symbols->sh_offset, symbols->sh_size);
  const Elf64_Half *version = versions ? part(l, versions->sh_offset, n * sizeof *version) : NULL;
  if (!symbol || (versions && !version)) return false;
  for (uint64_t i = 1; i < n; i++) {
    const bool of_the_host =
        symbol[i].st_shndx == SHN_UNDEF && (!version || version[i] <= VER_NDX_GLOBAL);
    if (of_the_host) symbol[i].st_info = ELF64_ST_INFO(STB_WEAK, ELF64_ST_TYPE(symbol[i].st_info));
  }
  return true;
}

static bool read_all(FILE *f, library *l) {
  if (fseek(f, 0, SEEK_END)) return false;
  const long size = ftell(f);
  l->bytes = size > 0 ? malloc((size_t)size) : NULL;
  l->size = l->bytes ? (size_t)size : 0;
  rewind(f);
  return l->bytes && fread(l->bytes, 1, l->size, f) == l->size;
}

int main(int argc, char **argv) {
  FILE *f = argc == 2 ? fopen(argv[1], "r+b") : NULL;
  library l = {0};
  bool ok = f && read_all(f, &l) && weaken(&l);
  if (ok) rewind(f);
  ok = ok && fwrite(l.bytes, 1, l.size, f) == l.size;
  if (f && fclose(f)) ok = false;
  free(l.bytes);
  if (!ok)
    fprintf(stderr, "weaken: %s: no shared library that can be changed\n",
            argc == 2 ? argv[1] : "");
  return ok ? 0 : 1;
}
