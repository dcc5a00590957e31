#define _GNU_SOURCE /* dl_iterate_phdr */
/* Every allocation fails once, and every one from some point on: an operation then still gives the
 * right answer by another way, or NULL with a message; nothing leaks and nothing crashes.
 *
 * This program's malloc and friends stand in front of the C library's, for libtcrt too.  The OpenMP
 * runtime, which ends the program when it gets no memory, is spared. */
#include "check.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <tcompile/dlpack.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);
extern void __libc_free(void *p);

/* Only the main thread allocates while `armed`: the tensors are too small for a team. */
static struct {
  bool armed, once; /* fail number `at` alone, or all from there on */
  long count, at;
  long blocks; /* allocated less freed while armed or after it, by this thread */
} faults;

static _Thread_local bool main_thread;

static struct { uintptr_t lo, hi; } spared;

static int find_openmp(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!strstr(info->dlpi_name, "omp.so")) return 0;
  spared.lo = spared.hi = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD)
      spared.hi = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
  return 1;
}

static bool fails(const void *caller) {
  if (!main_thread || !faults.armed) return false;
  if ((uintptr_t)caller - spared.lo < spared.hi - spared.lo) return false;
  long n = ++faults.count;
  return faults.once ? n == faults.at : n >= faults.at;
}

static void *counted(void *p) {
  if (p && main_thread) faults.blocks++;
  return p;
}

static void *refuse(void) {
  errno = ENOMEM;
  return NULL;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t n) { return fails(CALLER) ? refuse() : counted(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) {
  return fails(CALLER) ? refuse() : counted(__libc_calloc(n, size));
}
void *aligned_alloc(size_t align, size_t n) {
  return fails(CALLER) ? refuse() : counted(__libc_memalign(align, n));
}

int posix_memalign(void **out, size_t align, size_t n) {
  void *p = fails(CALLER) ? NULL : counted(__libc_memalign(align, n));
  if (p) *out = p;
  return p ? 0 : ENOMEM;
}

void *realloc(void *p, size_t n) {
  if (fails(CALLER)) return refuse();
  void *q = __libc_realloc(p, n);
  if (!p) counted(q);
  return q;
}

void free(void *p) {
  if (p && main_thread) faults.blocks--;
  __libc_free(p);
}

/* ---- what is tried --------------------------------------------------------------------------- */

typedef struct operands {
  tc_tensor *a, *b, *v, *index, *square; /* f32[4,6], f32[4,6], f32[6], i64[3], f32[4,4] */
  char path[64];                         /* an .npy of a */
  char tensors[64];                      /* a safetensors file */
} operands;

TC_COMPILE static tc_tensor *compiled(const tc_tensor *a TC_SHAPE("f32[M,N]"),
                                      const tc_tensor *b TC_SHAPE("f32[M,N]")) {
  tc_tensor *p = tc_matmul(a, tc_transpose(b, 0, 1));
  return tc_add(tc_softmax(p, -1), tc_sum(tc_exp(p), TC_AXES(0), true));
}

static tc_tensor *elementwise(const operands *o) { return tc_add(tc_exp(o->a), tc_mul_s(o->v, 2)); }
static tc_tensor *scoped(const operands *o) {
  tc_tensor *y = NULL;
  TC_SCOPE y = tc_keep(tc_silu(tc_sub(o->a, o->b)));
  return y;
}
static tc_tensor *reductions(const operands *o) {
  return tc_add(tc_var(o->a, TC_AXES(1), 1, true), tc_logsumexp(o->a, TC_AXES(0), true));
}
static tc_tensor *scans(const operands *o) { return tc_cumsum(tc_cumprod(o->a, 0), 1); }
static tc_tensor *products(const operands *o) {
  return tc_linear(tc_matmul(o->square, o->a), tc_matmul(o->a, tc_transpose(o->b, 0, 1)) ? o->a : NULL, NULL);
}
static tc_tensor *einsum(const operands *o) {
  return tc_einsum("ij,kj->ik", (const tc_tensor *[]){o->a, o->b}, 2);
}
static tc_tensor *norms(const operands *o) {
  return tc_layer_norm(tc_rms_norm(o->a, 1, o->v, 1e-5), 1, o->v, o->v, 1e-5);
}
static tc_tensor *views(const operands *o) {
  return tc_reshape(tc_permute(tc_slice(tc_flip(o->a, TC_ALL), 1, 0, 6, 2), TC_AXES(1, 0)), TC_DIMS(-1));
}
static tc_tensor *long_list(const operands *o) { /* more operands than fit on the stack */
  const tc_tensor *list[40];
  for (int i = 0; i < 40; i++) list[i] = i % 2 ? o->a : o->b;
  return tc_stack(list, 40, 1);
}
static tc_tensor *pieces(const operands *o) {
  tc_tensor *part[3];
  int n = tc_split(o->a, 3, 1, part);
  if (n < 0) return NULL;
  return tc_concat((const tc_tensor *[]){part[2], part[0], part[1]}, 3, 1);
}
static tc_tensor *moved(const operands *o) {
  return tc_roll(tc_repeat(tc_pad(o->a, TC_INTS(1, 0), TC_INTS(0, 1), 2), TC_INTS(1, 2)), 3, 1);
}
static tc_tensor *indexed(const operands *o) {
  tc_tensor *rows = tc_index_select(o->a, 0, o->index);
  return tc_add(rows, tc_sum(tc_one_hot(o->index, 6), TC_AXES(0), false));
}
static tc_tensor *losses(const operands *o) {
  return tc_add(tc_mse(o->a, o->b, TC_MEAN), tc_cross_entropy(tc_slice(o->a, 0, 0, 3, 1), o->index, TC_SUM));
}
static tc_tensor *random_numbers(const operands *o) {
  (void)o;
  return tc_add(tc_randn(TC_DIMS(3, 5), 7, TC_F32), tc_arange(5, 0, 2, TC_F32));
}
static tc_tensor *in_place(const operands *o) {
  tc_tensor *y = tc_clone(o->a);
  tc_add_(y, tc_cast(o->b, TC_F64));
  return tc_mul_(tc_copy_(tc_slice(y, 0, 0, 2, 1), tc_slice(y, 0, 2, 4, 1)), o->v) ? y : NULL;
}
static int released;
static void release(void *context) { released += *(int *)context; }
static tc_tensor *wrapped(const operands *o) {
  static float memory[4];
  static int one = 1;
  (void)o;
  int before = released;
  tc_tensor *t = tc_wrap(TC_DIMS(4), NULL, memory, TC_F32, release, &one), *y = tc_exp(t);
  tc_free(t);
  CHECK(released - before == (t != NULL)); /* a wrap that failed does not own the memory */
  return y;
}
static tc_tensor *exchanged(const operands *o) {
  struct DLManagedTensor *m = tc_to_dlpack(o->a);
  tc_tensor *t = m ? tc_from_dlpack(m) : NULL;
  if (m && !t) m->deleter(m);
  return tc_neg(t);
}
static tc_tensor *loaded(const operands *o) { return tc_load_npy(o->path); }
static tc_tensor *saved(const operands *o) {
  char path[80];
  snprintf(path, sizeof path, "%s.again", o->path);
  bool ok = tc_save_npy(path, tc_transpose(o->a, 0, 1));
  tc_tensor *y = ok ? tc_load_npy(path) : NULL;
  unlink(path);
  return y;
}
static tc_tensor *mapped(const operands *o) {
  tc_safetensors *s = tc_safetensors_open(o->tensors);
  tc_tensor *y = s ? tc_neg(tc_safetensors_get(s, "w")) : NULL;
  tc_safetensors_close(s);
  return y;
}
static tc_tensor *gradients(const operands *o) {
  TC_FUNCTION_SCOPE;
  tc_tensor *x = tc_requires_grad_(tc_clone(o->a), true), *g = NULL;
  tc_tensor *y = tc_mul(tc_softmax(x, -1), tc_matmul(tc_exp(x), tc_transpose(o->b, 0, 1)) ? o->v : NULL);
  tc_add_(y, tc_slice(tc_mul(x, x), 0, 0, 4, 1)); /* in place */
  tc_tensor *rows = tc_zeros(TC_DIMS(2, 6), TC_F32); /* and through views */
  for (int k = 0; k < 2; k++) tc_copy_(tc_select(rows, 0, k), tc_select(x, 0, k + 1));
  y = tc_mul(y, tc_sum(rows, TC_AXES(0), true));
  if (!tc_grad_with(tc_norm(y, 2, TC_ALL, false), NULL, 1, &x, TC_CREATE_GRAPH, &g)) return NULL;
  return tc_backward(tc_sum(tc_square(g), TC_ALL, false)) ? tc_keep(tc_mul_s(tc_grad_of(x), 1)) : NULL;
}
static void look(const tc_tensor *g, void *context) { *(bool *)context |= g != NULL; }
static tc_tensor *hooked(const operands *o) {
  bool seen = false;
  tc_tensor *x = tc_requires_grad_(tc_clone(o->v), true), *part[2], *h = tc_tanh(x), *mean;
  if (!tc_register_hook(h, look, &seen) || !tc_retain_grad(h) || tc_split(h, 2, 0, part) < 0) return NULL;
  tc_tensor *variance = tc_var_mean(tc_stack((const tc_tensor *[]){part[0], part[1]}, 2, 1), TC_ALL, 1, false, &mean);
  tc_tensor *loss = tc_add(variance, mean);
  for (int k = 0; k < 2; k++)
    if (!tc_backward_with(loss, NULL, TC_RETAIN_GRAPH)) return NULL;
  return seen ? tc_add(tc_grad_of(x), tc_grad_of(h)) : NULL;
}
static tc_tensor *kernels(const operands *o) { return compiled(o->a, o->b); }

static const struct {
  const char *name;
  tc_tensor *(*run)(const operands *o);
} tries[] = {{"elementwise", elementwise}, {"scope", scoped},        {"reductions", reductions}, {"scans", scans},
             {"products", products},       {"einsum", einsum},       {"norms", norms},           {"views", views},
             {"long list", long_list},     {"pieces", pieces},       {"moved", moved},           {"indexed", indexed},
             {"losses", losses},           {"random", random_numbers}, {"in place", in_place},   {"wrap", wrapped},
             {"dlpack", exchanged},        {"load .npy", loaded},    {"save .npy", saved},       {"safetensors", mapped},
             {"gradients", gradients},     {"hooks", hooked},        {"kernels", kernels}};

/* ---- trying ---------------------------------------------------------------------------------- */

static void *armed(tc_tensor *(*run)(const operands *), const operands *o, bool once, long at) {
  faults.once = once;
  faults.count = 0;
  faults.at = at;
  faults.armed = true;
  tc_tensor *y = run(o);
  faults.armed = false;
  return y;
}

/* Returns the number of allocations; at 0: none fails. */
static long attempt(size_t t, const operands *o, const tc_tensor *want, bool once, long at) {
  tc_trim();
  const long before = faults.blocks;
  const size_t live = tc_memory().live;
  long count = 0;
  TC_SCOPE {
    tc_tensor *y = armed(tries[t].run, o, once, at ? at : __LONG_MAX__);
    count = faults.count;
    const char *why = tc_error();
    bool right = why ? *why : y && tc_allclose(y, want, 1e-6, 1e-6);
    if (!right) {
      fprintf(stderr, "%s, allocation %ld fails%s: %s\n", tries[t].name, at, once ? "" : " and all after it",
              y ? "another answer" : "NULL without a message");
      exit(1);
    }
    tc_clear_error();
  }
  tc_trim();
  if (faults.blocks != before || tc_memory().live != live) {
    fprintf(stderr, "%s, allocation %ld fails: %ld blocks leak\n", tries[t].name, at, faults.blocks - before);
    exit(1);
  }
  return count;
}

static long try_all(size_t t, const operands *o) {
  tc_tensor *want = tries[t].run(o);
  CHECK(want);
  attempt(t, o, want, true, 0); /* what is made once per program is made */
  long n = attempt(t, o, want, true, 0), injected = 0;
  for (long at = 1; at <= n; at++)
    for (int once = 0; once < 2; once++, injected++) attempt(t, o, want, once, at);
  attempt(t, o, want, true, 0); /* nothing is left behind */
  tc_free(want);
  return injected;
}

static void write_files(operands *o) {
  snprintf(o->path, sizeof o->path, "/tmp/tc_allocation_%d.npy", (int)getpid());
  snprintf(o->tensors, sizeof o->tensors, "/tmp/tc_allocation_%d.safetensors", (int)getpid());
  CHECK(tc_save_npy(o->path, o->a));
  static const char header[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}     ";
  const float data[2] = {1, 2};
  const uint64_t n = (sizeof header - 1) / 8 * 8;
  FILE *f = fopen(o->tensors, "wb");
  CHECK(f && fwrite(&n, 8, 1, f) == 1 && fwrite(header, n, 1, f) == 1 && fwrite(data, 8, 1, f) == 1);
  CHECK(fclose(f) == 0);
}

int main(void) {
  setenv("TC_CACHE", "0", 1);
  dl_iterate_phdr(find_openmp, NULL);
  main_thread = true;
  operands o = {.a = tc_randn(TC_DIMS(4, 6), 1, TC_F32), .b = tc_randn(TC_DIMS(4, 6), 2, TC_F32),
                .v = tc_randn(TC_DIMS(6), 3, TC_F32), .square = tc_randn(TC_DIMS(4, 4), 4, TC_F32)};
  o.index = tc_from(TC_DIMS(3), (int64_t[]){2, 0, 3}, TC_I64);
  write_files(&o);
  long injected = 0;
  const size_t n = sizeof tries / sizeof *tries;
  for (size_t t = 0; t < n; t++) injected += try_all(t, &o);
  unlink(o.path);
  unlink(o.tensors);
  printf("allocation: %zu operations, %ld failures injected\n", n, injected);
  return injected > 200 ? 0 : 1;
}
