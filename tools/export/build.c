/* build.c - runs tcompile, a C compiler, objcopy and ar. */
#define _GNU_SOURCE /* posix_spawnp and friends under -std=c17 */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/export/export.h"

extern char **environ;

/* ---- processes ------------------------------------------------------------------------------- */

static bool wait_for(const char *program, pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return export_fail("%s: %s", program, strerror(errno));
  return (WIFEXITED(status) && !WEXITSTATUS(status)) || export_fail("%s failed", program);
}

/* What it prints goes where tc-export's does.  The words are freed. */
static bool run(export_words *words) {
  pid_t pid;
  if (!tc_push(words, (const char *)NULL)) return export_fail("out of memory");
  const char *program = words->at[0];
  const int error = posix_spawnp(&pid, program, NULL, NULL, (char **)words->at, environ);
  const bool ok = error ? export_fail("%s cannot be run: %s", program, strerror(error))
                        : wait_for(program, pid);
  free(words->at);
  *words = (export_words){0};
  return ok;
}

static void add(export_words *words, const char *word) {
  if (!tc_push(words, word)) words->n = 0; /* run says so */
}

/* A list of words up to a NULL. */
static void add_all(export_words *words, const char *const *list) {
  for (; *list; ++list) add(words, *list);
}
#define ADD(words, ...) add_all(words, (const char *const[]){__VA_ARGS__, NULL})

/* CC="ccache gcc" is two words. */
static void add_program(const export_request *r, export_words *words, const char *variable,
                        const char *otherwise) {
  const char *value = getenv(variable);
  if (!value || !*value) value = otherwise;
  for (size_t n; *(value += strspn(value, " ")); value += n) {
    n = strcspn(value, " ");
    add(words, export_text(r, "%.*s", (int)n, value));
  }
}

static void add_compiler(const export_request *r, export_words *words) {
  add_program(r, words, r->cplusplus ? "CXX" : "CC", r->cplusplus ? "c++" : "cc");
}

/* ---- where things are ------------------------------------------------------------------------ */

typedef struct places {
  const char *tool, *include, *library;
} places;

/* Of an installation, beside this program; or of the folder that it was built in. */
static bool find_places(const export_request *r, places *p) {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0 || n == sizeof path) return export_fail("/proc/self/exe cannot be read");
  path[n] = 0;
  *strrchr(path, '/') = 0;
  *p = (places){export_text(r, "%s/tcompile", path), export_text(r, "%s/../include", path),
                export_text(r, "%s/../" TC_LIBRARIES, path)};
  if (!export_exists(export_text(r, "%s/tcompile.h", p->include)))
    *p = (places){export_text(r, "%s/../tcompile/tcompile", path),
                  export_text(r, "%s/../../include", path),
                  export_text(r, "%s/../../runtime/libtcrt", path)};
  return export_exists(export_text(r, "%s/tcompile.h", p->include)) ||
         export_fail("there is no include/tcompile.h beside %s", path);
}

/* ---- flags ----------------------------------------------------------------------------------- */

static bool begins(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

static bool ends(const char *s, const char *with) {
  const size_t n = strlen(s), m = strlen(with);
  return n >= m && !strcmp(s + n - m, with);
}

/* Of the linker alone: libraries and objects, and where they are.  (A folder may be the word behind
 * -L.) */
static bool links(const export_request *r, size_t i) {
  const char *flag = r->flags.at[i], *before = i ? r->flags.at[i - 1] : "";
  return begins(flag, "-l") || begins(flag, "-L") || begins(flag, "-Wl,") || ends(flag, ".o") ||
         ends(flag, ".a") || ends(flag, ".so") || !strcmp(before, "-L") || !strcmp(before, "-l");
}

/* Of the compiler and the linker. */
static bool is_of_both(const char *flag) {
  return begins(flag, "-fopenmp") || begins(flag, "-pthread") || begins(flag, "-fsanitize");
}

/* Of plugins, or what would leave no machine code to work with. */
static bool is_of_plugin(const char *flag) {
  return begins(flag, "-fplugin") || begins(flag, "-Rpass");
}
static bool is_lto(const char *flag) { return begins(flag, "-flto"); }

static bool is_warning(const char *flag) {
  return begins(flag, "-W") && !begins(flag, "-Wp,") && !begins(flag, "-Wa,");
}

static void add_flags(const export_request *r, export_words *words, bool (*but)(const char *)) {
  for (size_t i = 0; i < r->flags.n; ++i) {
    const char *flag = r->flags.at[i];
    if (!links(r, i) && !is_lto(flag) && !(but && but(flag))) add(words, flag);
  }
}

static bool has_level(const export_request *r) {
  bool has = false;
  for (size_t i = 0; i < r->flags.n; ++i) has |= begins(r->flags.at[i], "-O");
  return has;
}

static const char *folder_of(const export_request *r, const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? export_text(r, "%.*s", (int)(slash - path + (slash == path)), path) : ".";
}

/* ---- the source ------------------------------------------------------------------------------ */

/* C in which the kernels stand as assembly. */
static bool translate(const export_request *r, const places *p, const char *to) {
  export_words words = {0};
  if (!export_exists(p->tool))
    return export_fail("%s is not there, which compiles sources", p->tool);
  ADD(&words, p->tool, r->input, "-o", to, "--");
  if (!has_level(r)) add(&words, "-O2");
  add_flags(r, &words, NULL);
  ADD(&words, "-fPIC", "-I", p->include,
      export_text(r, "-fplugin-arg-tc-save-graphs=%s/graphs", r->folder));
  return run(&words);
}

bool export_compile(const export_request *r, const char **object) {
  places p;
  if (!find_places(r, &p)) return false;
  const char *text = export_text(r, "%s/unit.%s", r->folder, r->cplusplus ? "cpp" : "c");
  *object = export_text(r, "%s/unit.o", r->folder);
  if (!translate(r, &p, text)) return false;
  export_words words = {0};
  add_compiler(r, &words);
  if (!has_level(r)) add(&words, "-O2");
  add_flags(r, &words, is_of_plugin);
  ADD(&words, "-fPIC", "-ffunction-sections", "-fdata-sections", "-iquote", folder_of(r, r->input),
      "-I", p.include, "-c", text, "-o", *object);
  return run(&words);
}

/* ---- the module ------------------------------------------------------------------------------ */

static bool is_not_for_glue(const char *flag) {
  return is_of_plugin(flag) || is_warning(flag) || begins(flag, "-std=c++") ||
         begins(flag, "-std=gnu++");
}

static bool compile_glue(const export_request *r, const places *p, const char *glue,
                         const char *to) {
  export_words words = {0};
  add_program(r, &words, "CC", "cc");
  add(&words, "-O2");
  add_flags(r, &words, is_not_for_glue);
  ADD(&words, "-fPIC", "-ffunction-sections", "-iquote", folder_of(r, r->input), "-I", r->folder,
      "-I", p->include, "-w", "-c", glue, "-o", to);
  return run(&words);
}

/* The function's name is the exported one's from now on. */
static bool rename_body(const export_request *r, const export_function *f, const char *object,
                        const char *to) {
  export_words words = {0};
  add_program(r, &words, "OBJCOPY", "objcopy");
  ADD(&words, "--redefine-sym", export_text(r, "%s=" EXPORT_BODY, f->symbol), object, to);
  return run(&words);
}

/* One object of which others see the function, and the module's table. */
static bool join(const export_request *r, const export_function *f, const char *body,
                 const char *glue, const char *to) {
  export_words words = {0};
  const char *whole = export_text(r, "%s/whole.o", r->folder);
  add_program(r, &words, "CC", "cc");
  ADD(&words, "-r", "-nostdlib", "-Wl,--force-group-allocation,--gc-sections",
      export_text(r, "-Wl,-u,%s", f->name), "-o", whole, glue, body);
  if (!r->archive) add(&words, "-Wl,-u,tcrt_module_table");
  if (!run(&words)) return false;
  add_program(r, &words, "OBJCOPY", "objcopy");
  ADD(&words, export_text(r, "--keep-global-symbol=%s", f->name),
      "--keep-global-symbol=tcrt_module_table", "-R", TC_EXPLAIN_SECTION, whole, to);
  return run(&words);
}

static void add_link_flags(const export_request *r, export_words *words) {
  for (size_t i = 0; i < r->flags.n; ++i)
    if (links(r, i) || is_of_both(r->flags.at[i])) add(words, r->flags.at[i]);
}

static const char *archive_of(const export_request *r, const places *p, const char *name) {
  return export_text(r, "%s/%s", p->library, name);
}

/* What the linker's message is likely to mean. */
static bool hint(const export_request *r) {
  return export_fail(
      r->from_object ? "is %s compiled with -fPIC? What it needs of other files stands behind --"
                     : "what %s needs of other files stands behind --: objects, libraries",
      r->input);
}

static bool link_shared(const export_request *r, const export_function *f, const places *p,
                        const char *whole, const char *to) {
  const char *script = export_text(r, "%s/exports", r->folder);
  const char *text = export_text(r, "{ global: %s; tcrt_module_table;%s local: *; };\n", f->name,
                                 r->is_static ? " tc_*;" : "");
  if (!export_write(script, text, strlen(text))) return false;
  export_words words = {0};
  add_compiler(r, &words);
  ADD(&words, "-shared", "-s", "-o", to, export_text(r, "-Wl,-soname,%s.so", export_base(r->name)),
      export_text(r, "-Wl,--version-script=%s", script), "-Wl,--gc-sections,-z,defs,--as-needed",
      whole);
  add_link_flags(r, &words);
  if (r->is_static)
    ADD(&words, "-Wl,-Bsymbolic,-z,muldefs,-z,nodelete", archive_of(r, p, "libtcrt-serial.a"),
        "-Wl,--whole-archive", archive_of(r, p, "libtcrt.a"), "-Wl,--no-whole-archive",
        "-pthread"); /* the first of two teams */
  else ADD(&words, export_text(r, "-L%s", p->library), "-ltcrt");
  ADD(&words, "-lm");
  return run(&words) || hint(r);
}

/* With libtcrt's members beside it: ar takes that as a script on its standard input. */
static bool put_archive(const export_request *r, const places *p, const char *whole,
                        const char *to) {
  export_words words = {0};
  if (!r->is_static) {
    add_program(r, &words, "AR", "ar");
    ADD(&words, "rcs", to, whole);
    return run(&words);
  }
  const char *script = export_text(r, "%s/archive", r->folder);
  const char *text =
      export_text(r, "create %s\naddmod %s\naddlib %s\naddlib %s\nsave\nend\n", to, whole,
                  archive_of(r, p, "libtcrt-serial.a"), archive_of(r, p, "libtcrt.a"));
  if (!export_write(script, text, strlen(text))) return false;
  ADD(&words, "/bin/sh", "-c", "exec ${AR:-ar} -M < \"$0\"", script);
  return run(&words);
}

bool export_link(const export_request *r, const export_function *f, const char *object,
                 const char *glue, const char **made) {
  places p;
  const char *body = export_text(r, "%s/body.o", r->folder),
             *around = export_text(r, "%s/glue.o", r->folder);
  const char *whole = export_text(r, "%s/%s.o", r->folder, export_base(r->name));
  *made = export_text(r, "%s/made.%s", r->folder, r->archive ? "a" : "so");
  return find_places(r, &p) && rename_body(r, f, object, body) &&
         compile_glue(r, &p, glue, around) && join(r, f, body, around, whole) &&
         (r->archive ? put_archive(r, &p, whole, *made) : link_shared(r, f, &p, whole, *made));
}
