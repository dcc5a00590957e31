/* Random eager programs with views and writes in place: their gradients are those of central differences over what the
 * program does to memory, or something is refused; never anything else. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tcompile.h>

enum { PROGRAMS = 6000, STEPS = 10, POOL = 24, LEAVES = 2, ELEMENTS = 12 };

typedef struct machine {
  uint64_t state;  /* of the random numbers, which are those of the program */
  uint32_t writes; /* of ten steps */
  tc_tensor *pool[POOL];
  int n;
} machine;

static uint32_t draw(machine *m, uint32_t below) {
  m->state = m->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(m->state >> 33) % below;
}

static tc_tensor *pick(machine *m) { return m->pool[draw(m, (uint32_t)m->n)]; }

/* A tensor that broadcasts to the shape of x, or x. */
static const tc_tensor *beside(machine *m, tc_tensor *x) {
  for (int k = 0; k < 4; k++) {
    const tc_tensor *y = pick(m);
    bool fits = tc_rank(y) <= tc_rank(x);
    for (int i = 1; fits && i <= tc_rank(y); i++)
      fits = tc_size(y, -i) == 1 || tc_size(y, -i) == tc_size(x, -i);
    if (fits) return y;
  }
  return x;
}

static tc_tensor *fresh(machine *m, tc_tensor *x) {
  switch (draw(m, 8)) {
  case 0:
    return tc_sin(x);
  case 1:
    return tc_mul(x, beside(m, x));
  case 2:
    return tc_add(x, beside(m, x));
  case 3:
    return tc_mul_s(x, 0.75);
  case 4:
    return tc_tanh(x);
  case 5:
    return tc_sub(beside(m, x), x);
  case 6:
    return tc_clone(x);
  default:
    return tc_zeros(tc_shape(x), TC_F64);
  }
}

static tc_tensor *view(machine *m, tc_tensor *x) {
  const int rank = tc_rank(x);
  if (!rank) return tc_unsqueeze(x, 0);
  const int axis = (int)draw(m, (uint32_t)rank);
  const int64_t size = tc_size(x, axis);
  switch (draw(m, 5)) {
  case 0:
    return size ? tc_select(x, axis, draw(m, (uint32_t)size)) : tc_flip(x, TC_ALL);
  case 1:
    return tc_slice(x, axis, draw(m, 2), size, 1 + draw(m, 2));
  case 2:
    return tc_transpose(x, 0, -1);
  case 3:
    return tc_reshape(x, TC_DIMS(-1));
  default:
    return tc_flip(x, TC_AXES(axis));
  }
}

static tc_tensor *write(machine *m, tc_tensor *x) {
  switch (draw(m, 8)) {
  case 0:
    return tc_add_(x, beside(m, x));
  case 1:
    return tc_mul_(x, beside(m, x));
  case 2:
    return tc_copy_(x, beside(m, x));
  case 3:
    return tc_sin_(x);
  case 4:
    return tc_mul_s_(x, 0.75);
  case 5:
    return tc_fill_(x, 0.5);
  case 6:
    return tc_sub_(x, beside(m, x));
  default:
    return tc_tanh_(x);
  }
}

/* Leaves are the first of the pool; a write to one is refused, so that there are few. */
static bool step(machine *m) {
  const uint32_t what = draw(m, 11);
  if (what == 10 && m->n > LEAVES + 1) {
    tc_tensor **gone = &m->pool[LEAVES + draw(m, (uint32_t)(m->n - LEAVES))];
    tc_free(*gone);
    *gone = m->pool[--m->n];
    return true;
  }
  tc_tensor *x = pick(m), *y;
  if (what < m->writes && draw(m, 8)) x = m->pool[LEAVES + draw(m, (uint32_t)(m->n - LEAVES))];
  if (what < m->writes) return write(m, x) != NULL;
  y = what < m->writes + 3 ? view(m, x) : fresh(m, x);
  if (!y) return false;
  if (m->n < POOL) m->pool[m->n++] = y;
  return true;
}

/* The loss, of all that is there in the end; NULL with an error. */
static tc_tensor *run(uint64_t seed, tc_tensor **leaf) {
  machine m = {.state = seed * 77 + 5, .writes = 1 + (uint32_t)(seed % 4)};
  m.pool[m.n++] = leaf[0];
  m.pool[m.n++] = leaf[1];
  m.pool[m.n++] = tc_add_s(leaf[0], 0.5);
  m.pool[m.n++] = tc_mul_s(leaf[1], 2);
  m.pool[m.n++] = tc_zeros(TC_DIMS(4, 3), TC_F64);
  m.pool[m.n++] = tc_randn(TC_DIMS(4, 3), seed, TC_F64);
  for (int k = 0; k < STEPS; k++)
    if (!step(&m)) return NULL;
  tc_tensor *loss = tc_zeros(TC_SCALAR_SHAPE, TC_F64);
  for (int k = 0; k < m.n; k++) {
    if (draw(&m, 3) == 0) continue;
    tc_tensor *weight = tc_randn(tc_shape(m.pool[k]), (uint64_t)k, TC_F64);
    loss = tc_add(loss, tc_sum(tc_mul(m.pool[k], weight), TC_ALL, false));
  }
  return loss;
}

static void make(tc_tensor **leaf) {
  leaf[0] = tc_randn(TC_DIMS(4, 3), 1, TC_F64);
  leaf[1] = tc_randn(TC_DIMS(3), 2, TC_F64);
}

/* With one element of a leaf moved. */
static double value(uint64_t seed, int which, int64_t k, double by) {
  tc_tensor *leaf[LEAVES];
  double v = 0;
  TC_NO_GRAD TC_SCOPE {
    make(leaf);
    ((double *)tc_data(leaf[which]))[k] += by;
    v = tc_item(run(seed, leaf));
  }
  return v;
}

static void compare(uint64_t seed, tc_tensor **leaf, tc_tensor **grad) {
  const double eps = 1e-6;
  for (int i = 0; i < LEAVES; i++)
    for (int64_t k = 0; k < tc_numel(leaf[i]); k++) {
      const double want = (value(seed, i, k, eps) - value(seed, i, k, -eps)) / (2 * eps);
      const double got = ((const double *)tc_cdata(grad[i]))[k];
      cr_expect(fabs(got - want) <= 1e-5 + 1e-3 * fabs(want),
                "program %d: leaf %d, element %d: %.9g, differences %.9g", (int)seed, i, (int)k,
                got, want);
    }
}

static bool is_refusal(const char *error) {
  static const char *const known[] = {"is a leaf that requires gradients",
                                      "shares its memory with a leaf",
                                      "shares its memory with tensors outside",
                                      "shares its memory with a tensor that was written",
                                      "was written in place since",
                                      "share memory; clone it first"};
  for (size_t k = 0; error && k < sizeof known / sizeof *known; k++)
    if (strstr(error, known[k])) return true;
  return false;
}

Test(tape, random_programs) {
  int right = 0, constant = 0;
  for (uint64_t seed = 0; seed < PROGRAMS; seed++) TC_SCOPE {
      tc_tensor *leaf[LEAVES], *grad[LEAVES];
      make(leaf);
      for (int i = 0; i < LEAVES; i++) tc_requires_grad_(leaf[i], true);
      tc_tensor *loss = run(seed, leaf);
      if (loss && !tc_requires_grad(loss)) constant++;
      else if (loss && tc_grad_with(loss, NULL, LEAVES, leaf, TC_ALLOW_UNUSED, grad)) {
        compare(seed, leaf, grad);
        right++;
      } else cr_expect(is_refusal(tc_error()), "program %d: %s", (int)seed, tc_error());
      tc_clear_error();
    }
  cr_expect(right > PROGRAMS / 2, "%d of %d programs are differentiated", right, PROGRAMS);
  cr_log_info("%d programs: %d right, %d constant, the others refused", PROGRAMS, right, constant);
}
