/* module.c - functions that tc-export made files of, opened and called by name. */
#define _DEFAULT_SOURCE /* MAP_PRIVATE and friends under -std=c17 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tcompile/module.h>

#include "graph/support/support.h"
#include "runtime/libtcrt/src/internal.h"

struct tc_module {
  void *library;
  const tcrt_module *table;
};

/* ---- the file -------------------------------------------------------------------------------- */

static const char other_abi[] = "it was made for another version of libtcrt; export it again";
static const char foreign[] = "it is no module that tc-export made";

/* What is wrong with the n bytes of a file, or NULL. */
static const char *check(const char *file, size_t n) {
  tcrt_module_end end;
  Elf64_Ehdr head;
  if (n < sizeof head + sizeof end) return foreign;
  memcpy(&head, file, sizeof head);
  memcpy(&end, file + n - sizeof end, sizeof end);
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return foreign;
  if (memcmp(end.magic, TCRT_MODULE_MAGIC, sizeof end.magic) != 0)
    return head.e_shoff > n ? "it is truncated" : foreign;
  if (end.abi != TC_ABI_VERSION) return other_abi;
  const size_t checked = n - sizeof end.checksum;
  return end.bytes != n || end.checksum != tc_hash(file, checked, end.abi) ? "it was altered"
                                                                           : NULL;
}

static const char *check_file(const char *path) {
  struct stat st;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const char *why = NULL;
  if (fd < 0 || fstat(fd, &st)) why = strerror(errno);
  else if (!S_ISREG(st.st_mode) || !st.st_size) why = foreign;
  else {
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    why = map == MAP_FAILED ? strerror(errno) : check(map, (size_t)st.st_size);
    if (map != MAP_FAILED) munmap(map, (size_t)st.st_size);
  }
  if (fd >= 0) close(fd);
  return why;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* dlopen looks for names without a slash elsewhere. */
static const char *load(const char *path, tc_module *m) {
  char *here = strchr(path, '/') ? NULL : malloc(strlen(path) + 3);
  if (here) strcat(strcpy(here, "./"), path);
  m->library = dlopen(here ? here : path, RTLD_NOW | RTLD_LOCAL);
  free(here);
  m->table = m->library ? dlsym(m->library, TCRT_MODULE_TABLE) : NULL;
  if (!m->table) return dlerror();
  if (m->table->abi != TC_ABI_VERSION) return other_abi;
  return m->table->runtime == tcrt_register
             ? NULL
             : "it has a libtcrt of its own (--static), whose tc_module_open opens it";
}

tc_module *tc_module_open(const char *path) {
  if (!path) return tc_fail("tc_module_open: path is NULL");
  tc_module *m = calloc(1, sizeof *m);
  const char *why = m ? check_file(path) : "out of memory";
  if (!why) why = load(path, m);
  if (!why) return m;
  tc_fail_as(TC_ERROR_FILE, "tc_module_open: %s: %s", path, why);
  tc_module_close(m);
  return NULL;
}

void tc_module_close(tc_module *m) {
  if (m && m->library) dlclose(m->library);
  free(m);
}

/* ---- its functions --------------------------------------------------------------------------- */

const char *tc_module_name(const tc_module *m, int i) {
  return m && i >= 0 && i < (int)m->table->count ? m->table->function[i].name : NULL;
}

static const tcrt_export *find(const tc_module *m, const char *function) {
  const char *name;
  for (int i = 0; function && (name = tc_module_name(m, i)); i++)
    if (!strcmp(name, function)) return &m->table->function[i];
  return NULL;
}

static int count(const char *const *list) {
  int n = 0;
  while (list[n]) n++;
  return n;
}

const char *tc_module_operand(const tc_module *m, const char *function, int i) {
  const tcrt_export *f = find(m, function);
  return f && i >= 0 && i < count(f->operand) ? f->operand[i] : NULL;
}

const char *tc_module_result(const tc_module *m, const char *function, int i) {
  const tcrt_export *f = find(m, function);
  return f && i >= 0 && i < count(f->result) ? f->result[i] : NULL;
}

/* With as many operands and results as it has. */
static bool call(const tcrt_export *f, int n, const tc_tensor *const *in, int nresult,
                 tc_tensor **out) {
  const int takes = count(f->operand), gives = count(f->result);
  if (f->obstacle) return tc_fail("tc_module_call: %s: %s", f->name, f->obstacle);
  if (n == takes && nresult == gives && (in || !n) && (out || !nresult)) return f->call(in, out);
  return tc_fail("tc_module_call: %s takes %d operands and has %d results, not %d and %d", f->name,
                 takes, gives, n, nresult);
}

bool tc_module_call(tc_module *m, const char *function, int n, tc_tensor_list in, int nresult,
                    tc_tensor **out) {
  const tcrt_export *f = find(m, function);
  for (int i = 0; out && i < nresult; i++) out[i] = NULL;
  if (f && call(f, n, in.at, nresult, out)) return true;
  for (int i = 0; out && i < nresult; i++) out[i] = NULL;
  if (!f)
    tc_fail("tc_module_call: there is no function '%.80s', but '%s'", function ? function : "",
            m ? tc_module_name(m, 0) : "");
  return false;
}
