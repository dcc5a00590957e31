/* tool.c - see tool.h. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "plugin/client/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- bytes ----------------------------------------------------------------------------------- */

static bool reserve(tc_bytes *b, size_t more) {
  if (b->failed) return false;
  if (b->room - b->size >= more) return true;
  const size_t room = 2 * b->room + more + 4096;
  char *bytes = realloc(b->bytes, room);
  if (!bytes) return !(b->failed = true);
  b->bytes = bytes;
  b->room = room;
  return true;
}

void tc_bytes_put(tc_bytes *b, const void *bytes, size_t size) {
  if (!size || !reserve(b, size)) return;
  memcpy(b->bytes + b->size, bytes, size);
  b->size += size;
}

void tc_bytes_free(tc_bytes *b) {
  free(b->bytes);
  *b = (tc_bytes){0};
}

void tc_request_put(tc_bytes *request, tc_record_kind kind, const char *bytes, size_t size) {
  const tc_record head = {kind, (uint32_t)size};
  if (size > UINT32_MAX) request->failed = true;
  tc_bytes_put(request, &head, sizeof head);
  tc_bytes_put(request, bytes, size);
}

void tc_request_begin(tc_bytes *request) {
  tc_request_put(request, TC_REC_HELLO, TC_PROTOCOL, strlen(TC_PROTOCOL));
}

bool tc_answer_next(const tc_bytes *answer, size_t *at, tc_record *record, const char **bytes) {
  if (answer->size - *at < sizeof *record) return false;
  memcpy(record, answer->bytes + *at, sizeof *record);
  if (answer->size - *at - sizeof *record < record->size) return false;
  *bytes = answer->bytes + *at + sizeof *record;
  *at += sizeof *record + record->size;
  return true;
}

/* ---- the process ----------------------------------------------------------------------------- */

typedef struct {
  pid_t pid;
  int socket;
  int64_t end; /* milliseconds */
} process;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Messages of the tool's own go nowhere but where they were asked for. */
static int spawn(const char *program, int socket, pid_t *pid) {
  char *arguments[] = {(char *)program, "--serve", NULL};
  posix_spawn_file_actions_t files;
  int error = posix_spawn_file_actions_init(&files);
  if (error) return error;
  error = posix_spawn_file_actions_adddup2(&files, socket, 0);
  if (!error) error = posix_spawn_file_actions_adddup2(&files, socket, 1);
  if (!error && !getenv("TC_DUMP"))
    error = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  if (!error) error = posix_spawn(pid, program, &files, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

static int start(const char *program, process *p) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return errno;
  const int error = spawn(program, ends[1], &p->pid);
  close(ends[1]);
  p->socket = ends[0];
  if (error) close(ends[0]);
  return error;
}

/* false: the time is over. */
static bool wait_for(const process *p, short events) {
  for (;;) {
    struct pollfd file = {p->socket, events, 0};
    const int64_t left = p->end - now();
    if (left <= 0) return false;
    const int n = poll(&file, 1, left > 60000 ? 60000 : (int)left);
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return true; /* what is tried next fails */
  }
}

/* What is not read is not missed: the answer tells.  false: the time is over. */
static bool send_all(const process *p, const tc_bytes *request) {
  for (size_t at = 0; at < request->size;) {
    if (!wait_for(p, POLLOUT)) return false;
    const ssize_t n =
        send(p->socket, request->bytes + at, request->size - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) at += (size_t)n;
    else if (errno != EINTR && errno != EAGAIN) break;
  }
  shutdown(p->socket, SHUT_WR);
  return true;
}

static bool receive_all(const process *p, tc_bytes *answer) {
  for (;;) {
    if (!wait_for(p, POLLIN)) return false;
    if (!reserve(answer, 1 << 16)) return true;
    const ssize_t n = recv(p->socket, answer->bytes + answer->size, 1 << 16, MSG_DONTWAIT);
    if (n > 0) answer->size += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN)) return true;
  }
}

/* Its status, or -1: the time was over, and it was ended. */
static int finish(const process *p, bool in_time) {
  int status = 0;
  close(p->socket);
  for (unsigned wait_us = 50; in_time && waitpid(p->pid, &status, WNOHANG) == 0;
       wait_us += wait_us < 10000 ? wait_us : 0) {
    usleep(wait_us);
    in_time = now() < p->end;
    if (!in_time) break;
  }
  if (in_time) return status;
  kill(p->pid, SIGKILL);
  while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) continue;
  return -1;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Whether it begins and ends as it should; other: it is of another version, or no tool. */
static bool is_whole(const tc_bytes *answer, bool *other) {
  tc_record record = {TC_REC_END, 0};
  const char *bytes;
  size_t at = 0;
  const bool hello = tc_answer_next(answer, &at, &record, &bytes) && record.kind == TC_REC_HELLO;
  *other = answer->size && !(hello && record.size == strlen(TC_PROTOCOL) &&
                             !memcmp(bytes, TC_PROTOCOL, record.size));
  if (!hello || *other) return false;
  while (tc_answer_next(answer, &at, &record, &bytes))
    if (record.kind >= TC_REC_COUNT) return false;
  return record.kind == TC_REC_END && at == answer->size;
}

static const char *problem(tc_tool_problem *why, const char *program, const char *what) {
  snprintf(why->text, sizeof why->text, "%s %s", program, what);
  return why->text;
}

const char *tc_tool_ask(const char *program, tc_bytes *request, unsigned seconds, tc_bytes *answer,
                        tc_tool_problem *why) {
  char what[128];
  process p = {0, 0, now() + (int64_t)seconds * 1000};
  tc_request_put(request, TC_REC_END, NULL, 0);
  if (request->failed) return problem(why, program, "was not asked, since memory ran out");
  const int error = start(program, &p);
  if (error) {
    snprintf(what, sizeof what, "could not be started (%s)", strerror(error));
    return problem(why, program, what);
  }
  const bool in_time = send_all(&p, request) && receive_all(&p, answer);
  const int status = finish(&p, in_time);
  bool other;
  if (status == -1) snprintf(what, sizeof what, "took longer than %u seconds", seconds);
  else if (is_whole(answer, &other) && !answer->failed) return NULL;
  else if (WIFSIGNALED(status)) snprintf(what, sizeof what, "died of signal %d", WTERMSIG(status));
  else if (other) snprintf(what, sizeof what, "is of another version than this plugin");
  else snprintf(what, sizeof what, "gave no answer");
  return problem(why, program, what);
}
