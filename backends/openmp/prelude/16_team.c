/* A kernel whose outer points are shared by a team of threads (tcrt_team). */
/* @ tc_run_team */
typedef int tc_thread(void *const *buf, const int64_t *sym, const tc_value *scalar, int64_t part,
                      int64_t parts);
typedef struct tc_team {
  tc_thread *thread;
  void *const *buf;
  const int64_t *sym;
  const tc_value *scalar;
  int bad;
} tc_team;
static __attribute__((unused)) void tc_run_share(void *arg, int part, int parts) {
  tc_team *const t = (tc_team *)arg;
  if (t->thread(t->buf, t->sym, t->scalar, part, parts))
    __atomic_store_n(&t->bad, 1, __ATOMIC_RELAXED);
}
/* At the end of a team (of one thread, in LLVM 19) an OpenMP runtime clears the flags of the thread that started it. */
static __attribute__((noinline, unused)) int tc_run_team(tc_thread *thread, void *const *buf,
                                                         const int64_t *sym,
                                                         const tc_value *scalar) {
  tc_team t = {thread, buf, sym, scalar, 0};
  const tc_fe env = tc_fe_hold();
  tcrt_team(tc_run_share, &t, 0);
  tc_fe_restore(env);
  return t.bad;
}
