/* A client of make's jobserver: takes what is there without waiting, and gives back as much. */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/jobs.h"

static uint32_t processors(void) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > TC_MOST_JOBS ? TC_MOST_JOBS : (uint32_t)n;
}

/* Tokens in the pipe. */
static int count_tokens(int fd) {
  char c;
  int n = 0;
  fcntl(fd, F_SETFL, O_NONBLOCK);
  while (read(fd, &c, 1) == 1) ++n;
  return n;
}

/* `tokens` are there; `others` hold the rest. */
static void expect_jobs(const char *flags, int in, int out, uint32_t tokens) {
  const uint32_t most = processors(), want = tokens + 1 < most ? tokens + 1 : most;
  for (uint32_t i = 0; i < tokens; ++i) cr_assert_eq(write(out, "+", 1), 1);
  setenv("MAKEFLAGS", flags, 1);
  tc_jobs j = tc_jobs_take(0);
  cr_expect_eq(j.n, want, "%u jobs of %u", j.n, want);
  tc_jobs second = tc_jobs_take(0);
  cr_expect_eq(second.n, tokens + 2 - want < most ? tokens + 2 - want : most);
  tc_jobs_give_back(&second);
  tc_jobs_give_back(&j);
  cr_expect_eq(count_tokens(in), (int)tokens);
}

Test(jobs, pipe) {
  for (uint32_t tokens = 0; tokens < 4; ++tokens) {
    int fd[2];
    char flags[64];
    cr_assert_eq(pipe(fd), 0);
    snprintf(flags, sizeof flags, " -j4 --jobserver-auth=%d,%d", fd[0], fd[1]);
    expect_jobs(flags, fd[0], fd[1], tokens);
    close(fd[0]);
    close(fd[1]);
  }
}

Test(jobs, fifo) {
  char path[] = "/tmp/tc-test-jobs-XXXXXX", fifo[64], flags[128];
  cr_assert_not_null(mkdtemp(path));
  snprintf(fifo, sizeof fifo, "%s/fifo", path);
  cr_assert_eq(mkfifo(fifo, 0600), 0);
  const int fd = open(fifo, O_RDWR);
  snprintf(flags, sizeof flags, "--jobserver-auth=fifo:%s -j", fifo);
  expect_jobs(flags, fd, fd, 1);
  close(fd);
  unlink(fifo);
  rmdir(path);
}

/* Descriptors that make has closed, that are something else, and no jobserver at all. */
Test(jobs, no_server) {
  static const char *const flags[] = {"",
                                      "--jobserver-auth=-2,-2",
                                      "--jobserver-auth=900,901",
                                      "--jobserver-auth=0,1x",
                                      "--jobserver-auth=fifo:/no/such",
                                      "--jobserver-auth=",
                                      "k"};
  const uint32_t usual = processors() < 4 ? processors() : 4;
  close(0);
  cr_assert_eq(open("/dev/null", O_RDONLY), 0);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i) {
    setenv("MAKEFLAGS", flags[i], 1);
    tc_jobs j = tc_jobs_take(0);
    cr_expect_eq(j.n, usual, "%s", flags[i]);
    tc_jobs_give_back(&j);
  }
}

Test(jobs, asked_for) {
  setenv("MAKEFLAGS", "--jobserver-auth=0,1", 1);
  tc_jobs j = tc_jobs_take(3), most = tc_jobs_take(1000);
  cr_expect(j.n == 3 && j.held == 0 && most.n == TC_MOST_JOBS);
  tc_jobs_give_back(&j);
  tc_jobs_give_back(&most);
}
