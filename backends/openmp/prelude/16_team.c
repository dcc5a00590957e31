/* A kernel whose outer points are shared by a team of threads (tcrt_team). */
/* @ tc_run_team tc_thread */
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
/* A kernel of siblings: arguments of all of them, one behind the other (backends/entry/launch.c).  Each is cut into
 * parts of about one size, whatever the siblings' own, which are shared out in order; what a part computes does not
 * depend on how many there are. */
/* @ tc_run_siblings */
typedef struct tc_siblings {
  tc_thread *thread;
  void *const *buf;
  int64_t nbuf;
  const int64_t *sym; /* siblings, symbols and scalars of each; then of each: its work, its symbols */
  const tc_value *scalar;
  int64_t work; /* of all, in units of 2^shift, of which each sibling has at least one */
  int shift, bad;
} tc_siblings;
static __attribute__((unused)) int64_t tc_work_of(const tc_siblings *s, int64_t i) {
  return s->sym[3 + i * (1 + s->sym[1])];
}
/* Part `part` of `parts` of sibling i. */
static __attribute__((unused)) int tc_run_sibling(const tc_siblings *s, int64_t i, int64_t part, int64_t parts) {
  return s->thread(s->buf + i * s->nbuf, s->sym + 4 + i * (1 + s->sym[1]), s->scalar + i * s->sym[2], part, parts);
}
/* Of all work, laid end to end, a thread has what begins in its equal share. */
static __attribute__((unused)) void tc_run_siblings_share(void *arg, int thread, int threads) {
  enum { PARTS = 16 }; /* of a share */
  tc_siblings *const s = (tc_siblings *)arg;
  const int64_t from = s->work * thread / threads, to = s->work * (thread + 1) / threads;
  int64_t begin = 0;
  int bad = 0;
  for (int64_t i = 0; i < s->sym[0]; ++i) {
    const int64_t work = 1 + (tc_work_of(s, i) >> s->shift), most = work * threads * PARTS;
    const int64_t parts = most < s->work ? 1 : 1 + most / s->work;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t at = begin + (part ? work * part / parts : 0);
      if (at >= from && at < to) bad |= tc_run_sibling(s, i, part, parts);
    }
    begin += work;
  }
  if (bad) __atomic_store_n(&s->bad, 1, __ATOMIC_RELAXED);
}
static __attribute__((noinline, unused)) int tc_run_siblings(tc_thread *thread, void *const *buf, int64_t nbuf,
                                                             const int64_t *sym, const tc_value *scalar,
                                                             int64_t least) {
  enum { BITS = 32 }; /* of the work of one, in units */
  tc_siblings s = {thread, buf, nbuf, sym, scalar, 0, 0, 0};
  int64_t work = 0, largest = 0;
  for (int64_t i = 0; i < sym[0]; ++i) {
    const int64_t own = tc_work_of(&s, i);
    largest = TC_MAX(largest, own);
    if (__builtin_add_overflow(work, own, &work)) work = __INT64_MAX__;
  }
  if (!TC_PAYS(work, least)) {
    for (int64_t i = 0; i < sym[0]; ++i) s.bad |= tc_run_sibling(&s, i, 0, 1);
    return s.bad;
  }
  while (largest >> s.shift >> BITS) ++s.shift;
  for (int64_t i = 0; i < sym[0]; ++i) s.work += 1 + (tc_work_of(&s, i) >> s.shift);
  const tc_fe env = tc_fe_hold();
  tcrt_team(tc_run_siblings_share, &s, 0);
  tc_fe_restore(env);
  return s.bad;
}
