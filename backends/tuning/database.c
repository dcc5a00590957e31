/* database.c - the file of results: read line by line, added to under a lock. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "backends/tuning/tuning.h"

struct tc_tuning {
  tc_arena *arena;
  tc_tuning_entry *entry;
  uint32_t n, room;
};

typedef struct reader {
  tc_tuning *t;
  const char *name;
  tc_buf *why;
  uint32_t line;
  tc_tuning_entry e; /* the one that is open; key NULL: none is */
  tc_buf schedule;
} reader;

static bool wrong(reader *r, const char *what) {
  tc_putf(r->why, "%s: line %u: %s", r->name, r->line, what);
  return false;
}

static const char *keep(reader *r, const char *text, size_t n) {
  char *own = tc_arena_alloc(r->t->arena, n + 1);
  if (own) memcpy(own, text, n);
  else wrong(r, "out of memory");
  return own;
}

/* Does the line begin with the word and a space?  *at moves behind both. */
static bool takes(const char **at, const char *word) {
  const size_t n = strlen(word);
  if (strncmp(*at, word, n) != 0 || (*at)[n] != ' ') return false;
  *at += n + 1;
  return true;
}

static bool is_key(const char *text, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (!strchr("0123456789abcdef", text[i])) return false;
  return n == TC_TUNING_KEY;
}

static bool open_entry(reader *r, const char *at) {
  const size_t n = strcspn(at, " "), name = strlen(at + n);
  if (r->e.key) return wrong(r, "the entry in front of this line has no 'end'");
  if (!is_key(at, n) || name < 2)
    return wrong(r, "expected 'kernel', 64 hexadecimal digits and a name");
  r->e = (tc_tuning_entry){.key = keep(r, at, n), .kernel = keep(r, at + n + 1, name - 1)};
  return r->e.key && r->e.kernel;
}

/* Microseconds; *end: behind them. */
static bool read_time(reader *r, const char *at, double *time, const char **end) {
  char *behind;
  *time = strtod(at, &behind);
  *end = behind;
  return (behind > at && isfinite(*time) && *time > 0) || wrong(r, "expected microseconds");
}

static bool read_planned(reader *r, const char *at) {
  const char *end;
  if (!read_time(r, at, &r->e.planned, &end)) return false;
  return !*end || wrong(r, "nothing stands behind the time");
}

static bool read_taken(reader *r, const char *at) {
  const char *end;
  if (!read_time(r, at, &r->e.taken, &end)) return false;
  if (strncmp(end, " by ", 4) != 0 || !end[4])
    return wrong(r, "expected 'by' and what is done otherwise");
  r->e.line = r->line + 1;
  r->e.change = keep(r, end + 4, strlen(end + 4));
  return r->e.change;
}

static bool add(tc_tuning *t, const tc_tuning_entry *e) {
  if (t->n == t->room) {
    const uint32_t room = 2 * t->room + 16;
    tc_tuning_entry *more = realloc(t->entry, room * sizeof *more);
    if (!more) return false;
    t->entry = more;
    t->room = room;
  }
  t->entry[t->n++] = *e;
  return true;
}

static bool close_entry(reader *r) {
  tc_tuning_entry *e = &r->e;
  if (!e->key) return wrong(r, "'end' of no entry");
  if (!e->machine || !e->version || e->planned <= 0)
    return wrong(r, "the entry does not say machine, version and planned");
  if (e->taken > 0 && !r->schedule.len) return wrong(r, "the entry has no schedule");
  e->schedule = keep(r, r->schedule.text ? r->schedule.text : "", r->schedule.len);
  if (!e->schedule || r->schedule.failed || !add(r->t, e)) return wrong(r, "out of memory");
  tc_buf_free(&r->schedule);
  r->e = (tc_tuning_entry){0};
  return true;
}

/* Behind the two spaces. */
static bool read_field(reader *r, const char *at) {
  tc_tuning_entry *e = &r->e;
  if (e->taken > 0) return tc_putf(&r->schedule, "  %s\n", at), true;
  if (!e->machine && takes(&at, "machine")) return (e->machine = keep(r, at, strlen(at))) != NULL;
  if (!e->version && takes(&at, "version")) return (e->version = keep(r, at, strlen(at))) != NULL;
  if (e->planned <= 0 && takes(&at, "planned")) return read_planned(r, at);
  if (takes(&at, "taken")) return read_taken(r, at);
  return wrong(r, "expected machine, version, planned, taken, or 'end'");
}

static bool read_line(reader *r, const char *at) {
  if (takes(&at, "kernel")) return open_entry(r, at);
  if (!strcmp(at, "end")) return close_entry(r);
  if (!strncmp(at, "  ", 2) && r->e.key) return read_field(r, at + 2);
  return wrong(r, "expected an entry");
}

/* A line without its comment, and without spaces at its end. */
static bool read_text(reader *r, const char *text) {
  for (const char *at = text; *at;) {
    const size_t len = strcspn(at, "\n");
    size_t code = strcspn(at, ";\n");
    while (code && (at[code - 1] == ' ' || at[code - 1] == '\r')) --code;
    ++r->line;
    char *line = strndup(at, code);
    const bool ok = !line ? wrong(r, "out of memory") : !code ? true : read_line(r, line);
    /* a schedule keeps the numbers of its lines */
    if (ok && !code && r->e.taken > 0) tc_put(&r->schedule, "\n");
    free(line);
    if (!ok) return false;
    at += len + (at[len] == '\n');
  }
  ++r->line;
  return !r->e.key || wrong(r, "the file ends within an entry");
}

tc_tuning *tc_tuning_parse(const char *text, const char *name, tc_buf *why) {
  tc_tuning *t = calloc(1, sizeof *t);
  reader r = {.t = t, .name = name, .why = why};
  if (t) t->arena = tc_arena_new();
  const bool ok = t && t->arena ? read_text(&r, text) : wrong(&r, "out of memory");
  tc_buf_free(&r.schedule);
  if (ok) return t;
  tc_tuning_free(t);
  return NULL;
}

void tc_tuning_free(tc_tuning *t) {
  if (!t) return;
  if (t->arena) tc_arena_free(t->arena);
  free(t->entry);
  free(t);
}

uint32_t tc_tuning_count(const tc_tuning *t) { return t->n; }
const tc_tuning_entry *tc_tuning_at(const tc_tuning *t, uint32_t i) { return &t->entry[i]; }

const tc_tuning_entry *tc_tuning_find(const tc_tuning *t, const char *key, const char *machine) {
  for (uint32_t i = 0; i < t->n; ++i)
    if (!strcmp(t->entry[i].key, key) && !strcmp(t->entry[i].machine, machine) &&
        !strcmp(t->entry[i].version, TC_VERSION))
      return &t->entry[i];
  return NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool failed(const char *path, tc_buf *why) {
  tc_putf(why, "%s: %s", path, strerror(errno));
  return false;
}

/* All of an open file. */
static tc_tuning *read_open(int fd, const char *path, tc_buf *why) {
  tc_buf text = {0};
  FILE *f = fdopen(dup(fd), "r");
  bool ok = f && !fseek(f, 0, SEEK_SET) && tc_put_rest(&text, f) && !text.failed;
  if (f) fclose(f);
  if (!ok) failed(path, why);
  if (ok && text.len && memchr(text.text, 0, text.len))
    tc_putf(why, "%s: line 1: it is no text", path), ok = false;
  tc_tuning *t = ok ? tc_tuning_parse(text.text ? text.text : "", path, why) : NULL;
  tc_buf_free(&text);
  return t;
}

tc_tuning *tc_tuning_read(const char *path, tc_buf *why) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return tc_tuning_parse("", path, why);
  if (fd < 0) return failed(path, why), NULL;
  flock(fd, LOCK_SH); /* where there are no locks, a single write is whole, too */
  tc_tuning *t = read_open(fd, path, why);
  close(fd);
  return t;
}

static void put_entry(const tc_tuning_entry *e, tc_buf *out) {
  tc_putf(out, "kernel %s %s\n  machine %s\n  version %s\n  planned %.3f\n", e->key, e->kernel,
          e->machine, TC_VERSION, e->planned);
  if (e->taken > 0) tc_putf(out, "  taken %.3f by %s\n%s", e->taken, e->change, e->schedule);
  tc_put(out, "end\n");
}

/* With the lock.  What could not be written whole is taken back. */
static bool append(int fd, const char *path, const tc_buf *text, tc_buf *why) {
  const off_t end = lseek(fd, 0, SEEK_END);
  const ssize_t n = write(fd, text->text, text->len);
  if (n == (ssize_t)text->len) return true;
  failed(path, why);
  if (n > 0 && end >= 0 && ftruncate(fd, end)) return false;
  return false;
}

bool tc_tuning_add(const char *path, const tc_tuning_entry *e, tc_buf *why) {
  tc_buf text = {0};
  const int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return failed(path, why);
  flock(fd, LOCK_EX);
  tc_tuning *t = read_open(fd, path, why);
  bool ok = t != NULL;
  if (ok && !tc_tuning_find(t, e->key, e->machine)) {
    if (!t->n) tc_put(&text, "; Schedules that were measured by tc-tune: docs/tuning.md\n");
    put_entry(e, &text);
    ok = !text.failed && append(fd, path, &text, why);
  }
  tc_tuning_free(t);
  tc_buf_free(&text);
  close(fd);
  return ok;
}
