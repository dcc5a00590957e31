/* tc-export - one compiled function as a library of its own. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/export/export.h"

bool export_fail(const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  fputs("tc-export: ", stderr);
  vfprintf(stderr, format, ap);
  fputc('\n', stderr);
  va_end(ap);
  return false;
}

const char *export_text(const export_request *r, const char *format, ...) {
  tc_buf b = {0};
  va_list ap;
  va_start(ap, format);
  tc_vputf(&b, format, ap);
  va_end(ap);
  const char *kept = b.failed ? NULL : tc_arena_str(r->arena, b.text ? b.text : "");
  tc_buf_free(&b);
  if (!kept) export_fail("out of memory");
  return kept ? kept : "";
}

const char *export_base(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static const char usage[] =
    "usage: tc-export SOURCE|OBJECT FUNCTION [-o NAME] [--static] [--archive]\n"
    "                 [--weights FILE.safetensors PARAMETER=TENSOR...] [-- FLAGS]\n"
    "       tc-export --check NAME.json\n"
    "  makes a library of one function that is marked TC_COMPILE, and of what it calls: NAME.so, "
    "with\n"
    "  NAME.h, NAME.json (what it takes, gives and needs) and, from a source, NAME.tcg (for "
    "tc-opt)\n"
    "  SOURCE     a file of C or C++, which tcompile compiles\n"
    "  OBJECT     FILE.o, which a compiler with a plugin made, with -fPIC\n"
    "  -o NAME    where to, with or without .so or .a (FUNCTION)\n"
    "  --static   with libtcrt in it, on one thread: needs libc, libm and threads alone\n"
    "  --archive  NAME.a in place of NAME.so\n"
    "  --weights  these parameters become constants of the library\n"
    "  --check    whether the files are as they were made\n"
    "  FLAGS      what the source is compiled with; libraries and objects that it needs besides\n"
    "  CC, CXX, OBJCOPY and AR name the programs that are used\n";

static bool misuse(const char *what, const char *why) {
  fprintf(stderr, "tc-export: '%s' %s\n%s", what, why, usage);
  return false;
}

static bool ends(const char *s, const char *with) {
  const size_t n = strlen(s), m = strlen(with);
  return n > m && !strcmp(s + n - m, with);
}

static bool push(export_words *words, const char *word) {
  return tc_push(words, word) || export_fail("out of memory");
}

static bool take_option(export_request *r, int argc, char **argv, int *i) {
  const char *option = argv[*i], *value = *i + 1 < argc ? argv[*i + 1] : NULL;
  if (!strcmp(option, "--static")) r->is_static = true;
  else if (!strcmp(option, "--archive")) r->archive = true;
  else if (strcmp(option, "-o") != 0 && strcmp(option, "--weights") != 0)
    return misuse(option, "is not understood");
  else if (!value || !strcmp(value, "--")) return misuse(option, "is without a file");
  else *(option[1] == 'o' ? &r->name : &r->weights) = argv[++*i];
  return true;
}

static bool take(export_request *r, int argc, char **argv, int *i) {
  const char *argument = argv[*i];
  if (*argument == '-') return take_option(r, argc, argv, i);
  if (strchr(argument, '=')) return push(&r->bindings, argument);
  if (!r->input) r->input = argument;
  else if (!r->function) r->function = argument;
  else return misuse(argument, "is one too many: tc-export takes a file and a function");
  return true;
}

static bool complete(export_request *r) {
  if (!r->input || !r->function) return misuse(r->input ? "FUNCTION" : "SOURCE", "is missing");
  if (r->bindings.n && !r->weights) return misuse(r->bindings.at[0], "is without --weights");
  if (r->weights && !r->bindings.n) return misuse("--weights", "is without PARAMETER=TENSOR");
  for (size_t i = 0; i < r->bindings.n; ++i)
    if (*r->bindings.at[i] == '=' || ends(r->bindings.at[i], "="))
      return misuse(r->bindings.at[i], "is no PARAMETER=TENSOR");
  if (!r->name) r->name = r->function;
  const char *extension = ends(r->name, r->archive ? ".a" : ".so") ? strrchr(r->name, '.') : NULL;
  if (extension) r->name = export_text(r, "%.*s", (int)(extension - r->name), r->name);
  if (!*export_base(r->name)) return misuse(r->name, "is no name of a file");
  r->from_object = ends(r->input, ".o");
  const char *const of_cplusplus[] = {".cpp", ".cc", ".cxx", ".C", ".c++"};
  for (size_t i = 0; i < sizeof of_cplusplus / sizeof *of_cplusplus; ++i)
    r->cplusplus |= ends(r->input, of_cplusplus[i]);
  return true;
}

static bool parse(export_request *r, int argc, char **argv) {
  int i = 1;
  for (; i < argc && strcmp(argv[i], "--") != 0; ++i)
    if (!take(r, argc, argv, &i)) return false;
  for (++i; i < argc; ++i)
    if (!push(&r->flags, argv[i])) return false;
  return complete(r);
}

/* ---- from the object on ---------------------------------------------------------------------- */

static bool export_object(const export_request *r, const char *object) {
  explain_rows rows = {0};
  tc_buf text = {0};
  export_function f = {0};
  export_weights w = {0};
  const char *glue = export_text(r, "%s/glue.c", r->folder), *made;
  const bool ok = export_find(r, object, &rows, &text, &f) && export_bind(r, &f, &w) &&
                  export_texts(r, &f, &w, glue) && export_link(r, &f, object, glue, &made) &&
                  (r->archive || export_seal(made)) && export_files_of(r, &f, &w, made);
  free(w.at.at);
  free(f.parameter.at);
  free(rows.at);
  tc_buf_free(&text);
  return ok;
}

static bool run(export_request *r) {
  const char *object = r->input;
  bool ok = (export_exists(r->input) || export_fail("%s is not there", r->input)) &&
            export_may_place(r) && export_begin_folder(r);
  ok = ok && (r->from_object || export_compile(r, &object)) && export_object(r, object);
  export_end_folder(r);
  return ok;
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--help")) return fputs(usage, stdout) < 0;
  if (argc == 3 && !strcmp(argv[1], "--check")) return !export_check(argv[2]);
  export_request r = {.arena = tc_arena_new()};
  int status = 2;
  if (!r.arena) export_fail("out of memory");
  else if (parse(&r, argc, argv)) status = !run(&r);
  free(r.bindings.at);
  free(r.flags.at);
  if (r.arena) tc_arena_free(r.arena);
  return status;
}
