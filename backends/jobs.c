/* jobs.c - see jobs.h. */
#define _GNU_SOURCE
#include "backends/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_WITHOUT_SERVER = 4 };

/* What make calls the jobserver: the last of such words counts.  NULL: there is none. */
static const char *find_server(void) {
  static const char *const words[] = {"--jobserver-auth=", "--jobserver-fds="};
  const char *flags = getenv("MAKEFLAGS"), *found = NULL;
  for (int w = 0; flags && !found && w < 2; ++w)
    for (const char *at = flags; (at = strstr(at, words[w]));) found = at += strlen(words[w]);
  return found;
}

/* The pipe opened anew: reading must not wait, and flags of the one there are shared with make. */
static int open_pipe(int in) {
  struct stat s;
  char path[32];
  if (in < 0 || fstat(in, &s) != 0 || !S_ISFIFO(s.st_mode)) return -1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", in);
  return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static int open_fifo(const char *path) {
  char *word = strndup(path, strcspn(path, " "));
  const int fd = word ? open(word, O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1;
  free(word);
  return fd;
}

static int open_server(void) {
  const char *server = find_server();
  int in, out;
  if (!server) return -1;
  if (strncmp(server, "fifo:", 5) == 0) return open_fifo(server + 5);
  return sscanf(server, "%d,%d", &in, &out) == 2 ? open_pipe(in) : -1;
}

static uint32_t processors(void) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > TC_MOST_JOBS ? TC_MOST_JOBS : (uint32_t)n;
}

tc_jobs tc_jobs_take(uint32_t wanted) {
  tc_jobs j = {.n = wanted < TC_MOST_JOBS ? wanted : TC_MOST_JOBS, .server = -1};
  if (wanted) return j;
  const uint32_t most = processors();
  j.server = open_server();
  if (j.server < 0) {
    j.n = most < MOST_WITHOUT_SERVER ? most : MOST_WITHOUT_SERVER;
    return j;
  }
  while (j.held + 1 < most && read(j.server, &j.token[j.held], 1) == 1) ++j.held;
  j.n = j.held + 1;
  return j;
}

void tc_jobs_give_back(tc_jobs *j) {
  while (j->held) {
    const ssize_t n = write(j->server, &j->token[j->held - 1], 1);
    if (n == 1) --j->held;
    else if (n < 0 && errno != EINTR && errno != EAGAIN) break;
  }
  if (j->server >= 0) close(j->server);
  j->server = -1;
}
