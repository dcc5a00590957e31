/* identity.c - which build of a program or library this is, from its notes in memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "backends/cache/cache.h"

typedef struct search {
  uintptr_t address;
  const unsigned char *id; /* NULL: none */
  size_t size;
} search;

static size_t padded(size_t n) { return (n + 3) / 4 * 4; }

/* The build ID among the notes. */
static void find_id(const unsigned char *notes, size_t size, search *s) {
  for (ElfW(Nhdr) n; size >= sizeof n;) {
    memcpy(&n, notes, sizeof n);
    const size_t name = padded(n.n_namesz), whole = sizeof n + name + padded(n.n_descsz);
    if (whole > size) return;
    if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(notes + sizeof n, "GNU", 4)) {
      s->id = notes + sizeof n + name;
      s->size = n.n_descsz;
    }
    notes += whole;
    size -= whole;
  }
}

static bool holds(const struct dl_phdr_info *object, uintptr_t address) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) *p = &object->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && address - object->dlpi_addr - p->p_vaddr < p->p_memsz) return true;
  }
  return false;
}

static int look(struct dl_phdr_info *object, size_t size, void *data) {
  search *s = data;
  (void)size;
  if (!holds(object, s->address)) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) *p = &object->dlpi_phdr[i];
    if (p->p_type == PT_NOTE)
      find_id((const unsigned char *)(object->dlpi_addr + p->p_vaddr), p->p_memsz, s);
  }
  return 1;
}

void tc_add_identity(tc_sha256 *h, const void *address) {
  search s = {.address = (uintptr_t)address};
  Dl_info file;
  struct stat state;
  dl_iterate_phdr(look, &s);
  if (s.id) tc_sha256_add_field(h, s.id, s.size);
  else if (dladdr(address, &file) && file.dli_fname && stat(file.dli_fname, &state) == 0) {
    const int64_t data[] = {state.st_size, state.st_mtim.tv_sec, state.st_mtim.tv_nsec};
    tc_sha256_add_field(h, data, sizeof data);
  }
}
