/* ask.c - runs the tool for one kernel. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/folder.h"
#include "backends/schedule/words.h"
#include "backends/tuning/tuning.h"

extern char **environ;

enum { GRACE = 600 /* seconds that it may take longer than it was given: to compile, and while others measure */ };

bool tc_tuning_find_tool(tc_buf *path) {
  static const char *const place[] = {"tc-tune", "../bin/tc-tune", "../../bin/tc-tune",
                                      "../tools/tune/tc-tune", "../tune/tc-tune"};
  for (size_t i = 0; i < sizeof place / sizeof *place; ++i) {
    tc_buf_free(path);
    *path = (tc_buf){0};
    tc_own_folder(path);
    tc_putf(path, "/%s", place[i]);
    if (!path->failed && !access(path->text, X_OK)) return true;
  }
  return false;
}

/* A file without a name that children see as /dev/fd/N. */
static int hold(const tc_buf *text) {
  char path[] = "/tmp/tc-tune-XXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0) return -1;
  unlink(path);
  if (write(fd, text->text, text->len) == (ssize_t)text->len && lseek(fd, 0, SEEK_SET) == 0)
    return fd;
  close(fd);
  return -1;
}

typedef TC_VEC(char *) arguments;

static bool add(arguments *a, const char *key, const char *value) {
  tc_buf text = {0};
  tc_putf(&text, "%s%s", key, value);
  return !text.failed && tc_push(a, text.text);
}

static bool make_arguments(const tc_function *f, double seconds, const char *kernel,
                           const char *key, arguments *a) {
  char number[32];
  const tc_tuner *t = f->tuner;
  bool ok = add(a, t->tool, "") && add(a, "--quiet", "") && add(a, "--program=", "/dev/fd/3") &&
            add(a, "--schedule=", "/dev/fd/4") && add(a, "--compiler=", t->compiler) &&
            add(a, "--database=", t->database) && add(a, "--name=", kernel) &&
            add(a, "--key=", key);
  tc_buf text = {0};
  tc_putf(&text, "%.3f", seconds);
  ok = ok && text.text && add(a, "--seconds=", text.text);
  tc_buf_free(&text);
  number[0] = 0;
  for (int i = 0; i < TC_ISA_COUNT; ++i)
    if (f->levels >> i & 1) strcat(strcat(number, *number ? "," : ""), tc_isa_name[i]);
  if (*number) ok = ok && add(a, "--isa=", number);
  for (uint32_t i = 0; i < t->nmacro; ++i) ok = ok && add(a, "-D", t->macros[i]);
  return ok && tc_push(a, (char *)NULL);
}

static int start(char **argument, int program, int schedule, int out, pid_t *pid) {
  posix_spawn_file_actions_t files;
  int error = posix_spawn_file_actions_init(&files);
  if (error) return error;
  /* by way of numbers that none of them has */
  error = posix_spawn_file_actions_adddup2(&files, program, 13);
  if (!error) error = posix_spawn_file_actions_adddup2(&files, schedule, 14);
  if (!error) error = posix_spawn_file_actions_adddup2(&files, out, 2);
  if (!error) error = posix_spawn_file_actions_adddup2(&files, 2, 1);
  if (!error) error = posix_spawn_file_actions_adddup2(&files, 13, 3);
  if (!error) error = posix_spawn_file_actions_adddup2(&files, 14, 4);
  if (!error) error = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  if (!error) error = posix_spawn(pid, argument[0], &files, NULL, argument, environ);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

double tc_tuning_now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* What it says, until it ends.  false: the time was over, and it was ended. */
static bool listen_to(pid_t pid, int from, double end, tc_buf *said, int *status) {
  bool in_time = true;
  for (char bytes[512];;) {
    struct pollfd file = {from, POLLIN, 0};
    in_time = tc_tuning_now() < end;
    if (!in_time) break;
    if (poll(&file, 1, 200) <= 0) continue;
    const ssize_t n = read(from, bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EINTR)) break;
    if (n > 0) tc_putn(said, bytes, (size_t)n);
  }
  if (!in_time) kill(pid, SIGKILL);
  while (waitpid(pid, status, 0) < 0 && errno == EINTR) continue;
  return in_time;
}

static bool run(char **argument, int program, int schedule, double seconds, tc_buf *why) {
  int ends[2], status = 0;
  pid_t pid;
  tc_buf said = {0};
  if (pipe2(ends, O_CLOEXEC)) return tc_putf(why, "not measured: %s", strerror(errno)), false;
  const int error = start(argument, program, schedule, ends[1], &pid);
  close(ends[1]);
  bool ok = !error;
  if (error) tc_putf(why, "not measured: %s: %s", argument[0], strerror(error));
  else {
    const bool in_time = listen_to(pid, ends[0], tc_tuning_now() + seconds + GRACE, &said, &status);
    ok = in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const size_t first = said.text ? strcspn(said.text, "\n") : 0;
    if (!in_time) tc_put(why, "not measured: it takes too long");
    else if (!ok && first) tc_putf(why, "not measured: %.*s", (int)first, said.text);
    else if (!ok) tc_put(why, "not measured: tc-tune failed");
  }
  close(ends[0]);
  tc_buf_free(&said);
  return ok;
}

bool tc_tuning_ask(const tc_backend *b, const tc_program *p, uint32_t kernel, const char *key,
                   const tc_function *f, double seconds, tc_buf *why) {
  tc_program alone;
  tc_buf loops = {0}, schedule = {0};
  arguments a = {0};
  bool ok = tc_kernel_alone(p, kernel, tc_tuning_nests(p, kernel), &alone);
  if (ok) {
    tc_program_print(&alone, &loops);
    tc_schedule_print(b->schedule, &alone, TC_TUNING_NAME, &schedule);
    ok = !loops.failed && !schedule.failed &&
         make_arguments(f, seconds, p->kernel[kernel].name, key, &a);
  }
  const int program = ok ? hold(&loops) : -1, plan = ok ? hold(&schedule) : -1;
  if (ok && (program < 0 || plan < 0))
    tc_put(why, "not measured: no temporary file can be written"), ok = false;
  ok = ok && run(a.at, program, plan, seconds, why);
  if (program >= 0) close(program);
  if (plan >= 0) close(plan);
  for (size_t i = 0; i < a.n; ++i) free(a.at[i]);
  free(a.at);
  tc_buf_free(&loops);
  tc_buf_free(&schedule);
  return ok;
}
