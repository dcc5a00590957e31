/* Dispatch: one row of graph/ops/api.def says what the C arguments of a public function mean, one
 * row of graph/ops/ops.def what the op infers and computes.  Nothing here knows a particular op. */
#include "runtime/libtcrt/src/dispatch.h"
#include "graph/autocast.h"
#include "graph/ops/scalar.h"
#include "runtime/libtcrt/src/autocast.h"
#include "runtime/libtcrt/src/autograd/tape.h"
#include "runtime/libtcrt/src/device.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum {
  MAX_LOCAL = 16, /* operands held on the stack; lists of more take temporary memory */
  MAX_SCALARS = 2,
  MAX_ATTRS = 2 * (TC_MAX_RANK + 1) + 4
};

/* ---- the tables ------------------------------------------------------------------------------ */

typedef struct api_row {
  const char *name;
  tc_op op;
  const char *arguments;
} api_row;

static const api_row api[TC_API_COUNT] = {
#define TC_API(function, op, arguments) {#function, OP_##op, arguments},
#include "graph/ops/api.def"
};

static const api_row in_place[TC_IN_PLACE_COUNT] = {
#define TC_IN_PLACE(function, op, arguments) {#function, OP_##op, arguments},
#include "graph/ops/api.def"
};

#define tc_0 NULL /* the rows without an eager function: leaves of a graph */
static tc_eager_fn *const eager_table[OP_COUNT] = {
#define TC_OP(id, text, lo, hi, cls, cast, attrs, infer, decomp, eager, ...) [OP_##id] = tc_##eager,
#include "graph/ops/ops.def"
};
#undef tc_0

/* ---- running an op --------------------------------------------------------------------------- */

tc_type tc_type_of(const tc_tensor *x) {
  tc_type t = {
      .dtype = x->key.dtype, .rank = x->key.rank, .weak = (x->key.flags & TC_FLAG_WEAK) != 0};
  for (int i = 0; i < t.rank; i++) t.dim[i] = tc_dim_const(x->dim[i]);
  return t;
}

/* "add: ..." of inference becomes "tc_add: ...". */
static void *fail_infer(const tc_eager_call *c, const char *message) {
  const char *text = tc_op_get(c->op)->text;
  size_t n = strlen(text);
  if (!strncmp(message, text, n) && message[n] == ':') message += n + 2;
  return tc_fail("%s: %s", c->name, message);
}

static tc_tensor *new_result(tc_op op, const tc_type *type, tc_device device) {
  int64_t dim[TC_MAX_RANK];
  for (int i = 0; i < type->rank; i++) dim[i] = tc_dim_value(type->dim[i]);
  bool view = tc_op_get(op)->cls == TC_CLASS_VIEW;
  tc_tensor *t = view ? tc_tensor_header((tc_dtype)type->dtype, type->rank, dim, device)
                      : tc_tensor_new((tc_dtype)type->dtype, type->rank, dim, device);
  if (t && type->weak) t->key.flags |= TC_FLAG_WEAK;
  return t;
}

enum { MESSAGE = 512 };

/* Returns how many results there are; 0 with a message. */
static int infer(const tc_eager_call *c, int nattr, tc_type type[TC_MAX_RESULTS],
                 char message[MESSAGE]) {
  tc_infer i = {.op = c->op,
                .nin = c->nin,
                .in = c->type,
                .nattr = nattr,
                .attr = c->attr,
                .string = c->string,
                .message = message,
                .message_size = MESSAGE};
  return tc_infer_type(&i, type) ? i.nresult : 0;
}

/* All results that are wanted, or none. */
static tc_tensor *run_several(tc_eager_call *c, int nresult) {
  if (eager_table[c->op](c)) return c->out;
  tc_free(c->out);
  for (int i = 0; i < nresult - 1; i++) {
    if (!c->further[i]) continue;
    tc_free(*c->further[i]);
    *c->further[i] = NULL;
  }
  return NULL;
}

tc_tensor *tc_eager_run(tc_eager_call *c, int nattr) {
  char message[MESSAGE] = "";
  tc_type type[TC_MAX_RESULTS];
  const int nresult = infer(c, nattr, type, message);
  if (!nresult) return fail_infer(c, message);
  if (nresult > 1) return run_several(c, nresult);
  if (c->device != TC_CPU && !tc_device_native(c->op)) return tc_device_run(c, nattr);
  c->out = new_result(c->op, type, c->device);
  if (c->out && eager_table[c->op](c)) return c->out;
  tc_free(c->out);
  return NULL;
}

tc_tensor *tc_eager_part(const tc_eager_call *c, tc_op op, int nattr, const tc_dim *attr) {
  tc_eager_call part = *c;
  part.op = op;
  part.attr = attr;
  part.out = NULL;
  return tc_eager_run(&part, nattr);
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Operands, and what holds their scalars and types. */
typedef struct arguments {
  const char *name;
  int nin, nscalar, nattr;
  bool placed; /* a tensor said which device */
  bool tracked; /* a tensor has a link to the tape */
  tc_device device;
  const tc_tensor **in;
  const tc_type **type_at;
  tc_type *type;
  const tc_tensor *local_in[MAX_LOCAL];
  const tc_type *local_type_at[MAX_LOCAL];
  tc_type local_type[MAX_LOCAL];
  tc_tensor scalar[MAX_SCALARS];
  bool like[MAX_SCALARS]; /* takes the dtype of the first tensor, or else that of the result */
  union {
    double f;
    int64_t i;
    uint8_t bytes[8];
  } value[MAX_SCALARS];
  tc_dim attr[MAX_ATTRS];
  int nfurther;
  tc_tensor **further[TC_MAX_RESULTS];
  const char *string;
  tc_storage *memory; /* of long lists */
} arguments;

static void begin(arguments *a, const char *name) {
  a->name = name;
  a->nin = a->nscalar = a->nattr = a->nfurther = 0;
  a->placed = a->tracked = false;
  a->device = TC_CPU;
  a->in = a->local_in;
  a->type_at = a->local_type_at;
  a->type = a->local_type;
  a->string = NULL;
  a->memory = NULL;
}

/* Room for n operands. */
static bool reserve(arguments *a, int n) {
  if (n <= MAX_LOCAL) return true;
  size_t each = sizeof *a->in + sizeof *a->type_at + sizeof *a->type;
  a->memory = tc_storage_new((size_t)n * each);
  if (!a->memory) return false;
  const tc_tensor **in = a->memory->data;
  memcpy(in, a->in, (size_t)a->nin * sizeof *in);
  a->in = in;
  a->type_at = (const tc_type **)(in + n);
  a->type = (tc_type *)(a->type_at + n);
  return true;
}

/* A C scalar goes along to any device; all other operands must be on one. */
static bool place(arguments *a, const tc_tensor *x) {
  tc_device at = tc_place(x);
  if (a->placed && at == a->device) return true;
  if (x->key.flags & TC_FLAG_WEAK && at == TC_CPU && x->key.rank == 0) return true;
  if (a->placed) {
    tc_fail("%s: operand %d is on %s and others on %s; move one of them with tc_to", a->name,
            a->nin + 1, tc_describe_place(at).text, tc_describe_place(a->device).text);
    return false;
  }
  a->placed = true;
  a->device = at;
  return true;
}

static bool check_operand(arguments *a, const tc_tensor *x) {
  return tc_given(a->name, a->nin + 1, x) && place(a, x);
}

static bool push(arguments *a, const tc_tensor *x) {
  if (!check_operand(a, x)) return false;
  a->tracked |= x->autograd != NULL;
  a->in[a->nin++] = x;
  return true;
}

/* NULL means "not given", unless an op failed to make it. */
static bool push_optional(arguments *a, const tc_tensor *x) {
  if (x) return push(a, x);
  if (tc_error()) return false;
  a->in[a->nin++] = NULL;
  return true;
}

static bool push_list(arguments *a, const tc_tensor *const *x, int64_t n) {
  if (n < 0 || n > INT32_MAX / 1024 || (n > 0 && !x)) {
    tc_fail("%s: a list of %lld tensors%s", a->name, (long long)n, x ? "" : " that is NULL");
    return false;
  }
  if (!reserve(a, a->nin + (int)n + MAX_LOCAL)) return false;
  for (int64_t i = 0; i < n; i++)
    if (!push(a, x[i])) return false;
  return true;
}

static tc_tensor scalar_tensor(tc_dtype dtype, void *data, bool weak) {
  uint8_t flags = (uint8_t)(TC_FLAG_CONTIGUOUS | (weak ? TC_FLAG_WEAK : 0));
  tc_tensor t = {.key = {(uint8_t)dtype, TC_CPU, 0, flags}, .data = data};
  for (int i = 0; i < TC_MAX_RANK; i++) t.dim[i] = 1;
  return t;
}

/* A C scalar as an operand, behind the others or (first) in front of them. */
static void push_scalar(arguments *a, double v, bool like, bool first) {
  a->value[a->nscalar].f = v;
  a->like[a->nscalar] = like;
  a->scalar[a->nscalar] = scalar_tensor(TC_F64, a->value[a->nscalar].bytes, true);
  if (first) memmove(a->in + 1, a->in, (size_t)a->nin * sizeof *a->in);
  a->in[first ? 0 : a->nin] = &a->scalar[a->nscalar++];
  a->nin++;
}

static void push_seed(arguments *a, uint64_t v) {
  a->like[a->nscalar] = false;
  memcpy(&a->value[a->nscalar].i, &v, sizeof v);
  a->scalar[a->nscalar] = scalar_tensor(TC_I64, &a->value[a->nscalar].i, true);
  a->in[a->nin++] = &a->scalar[a->nscalar++];
}

/* The dtype that C scalars take: that of the first tensor; where there is none, the last
 * attribute. */
static tc_dtype dtype_of_scalars(const arguments *a) {
  for (int i = 0; i < a->nin; i++)
    if (a->in[i] && (a->in[i] < a->scalar || a->in[i] >= a->scalar + MAX_SCALARS))
      return (tc_dtype)a->in[i]->key.dtype;
  int64_t last = tc_dim_value(a->attr[a->nattr - 1]);
  return last >= 0 && last < TC_DTYPE_COUNT ? (tc_dtype)last : TC_F64; /* inference reports it */
}

/* Converts C scalars; the op may become another comparison. */
static bool settle_scalars(arguments *a, tc_op *op) {
  char why[TC_SCALAR_TEXT];
  for (int i = 0; i < a->nscalar; i++) {
    tc_scalar_value v;
    if (!a->like[i]) continue;
    if (!tc_scalar_fit(op, dtype_of_scalars(a), a->value[i].f, &v, why))
      return tc_fail("%s: %s", a->name, why);
    a->scalar[i].key.dtype = (uint8_t)v.dtype;
    if (tc_is_float(v.dtype)) tc_store_f(a->value[i].bytes, v.dtype, 1, &v.f, 1);
    else tc_store_i(a->value[i].bytes, v.dtype, 1, &v.i, 1);
  }
  return true;
}

/* ---- attributes ------------------------------------------------------------------------------ */

enum { LARGEST_BITS = 61 }; /* of a number that a dimension can be */

static bool push_int(arguments *a, int64_t v) {
  const int64_t limit = ((int64_t)1 << LARGEST_BITS) - 1;
  if (v > limit || v < -limit) {
    tc_fail("%s: %" PRId64 " is more than any size or position can be", a->name, v);
    return false;
  }
  a->attr[a->nattr++] = tc_dim_const(v);
  return true;
}

/* An end of a range: past every position all values mean the same. */
static bool push_end(arguments *a, int64_t v) {
  const int64_t limit = ((int64_t)1 << LARGEST_BITS) - 1;
  return push_int(a, v > limit ? limit : v < -limit ? -limit : v);
}

static bool push_ints(arguments *a, const tc_ints *list) {
  bool taken = tc_check_list(a->name, list) && push_int(a, list->n);
  for (int i = 0; taken && i < list->n; i++) taken = push_int(a, list->v[i]);
  return taken;
}

/* The sizes of x, and where it is. */
static bool push_shape(arguments *a, const tc_tensor *x) {
  bool taken = check_operand(a, x) && push_int(a, x->key.rank);
  for (int i = 0; taken && i < x->key.rank; i++) taken = push_int(a, x->dim[i]);
  return taken;
}

/* ---- a call ---------------------------------------------------------------------------------- */

typedef struct marks {
  bool like, first; /* "~", "x" */
} marks;

/* The next C argument, of kind `kind`.  One switch is enough: inlined there are several. */
__attribute__((noinline)) static bool take(arguments *a, char kind, marks m, va_list *ap) {
  const tc_tensor *const *list;
  switch (kind) {
  case 't':
    return push(a, va_arg(*ap, const tc_tensor *));
  case 'l':
    return push_shape(a, va_arg(*ap, const tc_tensor *));
  case 'o':
    return push_optional(a, va_arg(*ap, const tc_tensor *));
  case 'T':
    list = va_arg(*ap, const tc_tensor *const *);
    return push_list(a, list, va_arg(*ap, int64_t));
  case 's':
    push_scalar(a, va_arg(*ap, double), m.like, m.first);
    return true;
  case 'u':
    push_seed(a, va_arg(*ap, uint64_t));
    return true;
  case 'I':
    return push_ints(a, va_arg(*ap, const tc_ints *));
  case 'S':
    a->string = va_arg(*ap, const char *);
    return push_int(a, 0);
  case 'r':
    a->further[a->nfurther++] = va_arg(*ap, tc_tensor **);
    return true;
  case 'e':
    return push_end(a, va_arg(*ap, int64_t));
  default:
    return push_int(a, va_arg(*ap, int64_t)); /* i, b, D */
  }
}

static bool take_all(arguments *a, const char *schema, va_list *ap) {
  for (marks m = {0}; *schema; schema++) {
    if (*schema == '~') m.like = true;
    else if (*schema == 'x') m.first = true;
    else {
      if (!take(a, *schema, m, ap)) return false;
      m = (marks){0};
    }
  }
  return true;
}

static tc_eager_call call_of(arguments *a, tc_op op) {
  for (int i = 0; i < a->nin; i++) {
    a->type_at[i] = a->in[i] ? &a->type[i] : NULL;
    if (a->in[i]) a->type[i] = tc_type_of(a->in[i]);
  }
  return (tc_eager_call){.op = op,
                         .name = a->name,
                         .nin = a->nin,
                         .in = a->in,
                         .type = a->type_at,
                         .attr = a->attr,
                         .further = a->further,
                         .string = a->string,
                         .device = a->device};
}

/* C integers are values of the dtype that an elementwise op computes in. */
static bool check_integers(const tc_eager_call *c) {
  char why[TC_SCALAR_TEXT];
  if (tc_op_get(c->op)->cls != TC_CLASS_EW) return true;
  tc_dtype d = tc_promote_all(c->type, c->nin);
  for (int i = 0; i < c->nin; i++)
    if (c->type[i] && c->type[i]->weak && tc_dtype_is_int((tc_dtype)c->type[i]->dtype) &&
        !tc_scalar_int_fits(tc_scalar_i(c->in[i]), d, why))
      return tc_fail("%s: %s", c->name, why);
  return true;
}

static tc_tensor *run(arguments *a, tc_op op) {
  tc_eager_call c = call_of(a, op);
  if (!check_integers(&c)) return NULL;
  return a->tracked ? tc_tape_run(&c, a->nattr, a->nfurther) : tc_eager_run(&c, a->nattr);
}

/* Behind the operands: C scalars are of the dtype that the first of them has by now. */
static tc_tensor *settle_and_run(arguments *a, tc_op op) {
  return settle_scalars(a, &op) ? run(a, op) : NULL;
}

/* Converts operands as the scope of TC_AUTOCAST wants them; the copies belong to the scope that is
 * open. */
static bool autocast(arguments *a, tc_op op, tc_dtype scope) {
  const tc_eager_call c = call_of(a, op); /* has the types from before, which decide */
  for (int i = 0; i < a->nin; i++) {
    const tc_dtype to = tc_autocast_operand(op, scope, c.nin, c.type, i);
    if (!a->in[i] || a->in[i]->key.dtype == to) continue;
    a->in[i] = tc_cast(a->in[i], to);
    if (!a->in[i]) return false;
  }
  return true;
}

/* The same inside of TC_AUTOCAST.  What the op runs inside is no op of the program. */
static tc_tensor *run_in_autocast(arguments *a, tc_op op) {
  const tc_dtype scope = tc_set_autocast(TC_DTYPE_COUNT);
  tc_tensor *result = NULL;
  TC_SCOPE {
    if (autocast(a, op, scope)) result = tc_keep(settle_and_run(a, op));
    for (int k = 0; k < a->nfurther && result; k++)
      if (a->further[k]) tc_keep(*a->further[k]);
  }
  tc_set_autocast(scope);
  return result;
}

static tc_tensor *call(const char *name, const api_row *row, va_list *ap) {
  arguments a;
  begin(&a, name);
  bool taken = take_all(&a, row->arguments, ap);
  if (a.nin == a.nscalar && !a.placed) a.device = tc_default_device(); /* creation */
  const bool casts = tc_autocast_now && tc_op_get(row->op)->autocast != TC_AUTOCAST_KEEP;
  tc_tensor *result = NULL;
  if (taken) result = casts ? run_in_autocast(&a, row->op) : settle_and_run(&a, row->op);
  tc_storage_unref(a.memory);
  return result;
}

tc_tensor *tc_call(tc_api function, ...) {
  va_list ap;
  va_start(ap, function);
  tc_tensor *result = call(api[function].name, &api[function], &ap);
  va_end(ap);
  return result;
}

tc_tensor *tc_call_as(const char *name, tc_api function, ...) {
  va_list ap;
  va_start(ap, function);
  tc_tensor *result = call(name, &api[function], &ap);
  va_end(ap);
  return result;
}

/* Operands of an op that another function runs. */
static bool take_operands(arguments *a, const char *name, int nin, const tc_tensor *const *in) {
  begin(a, name);
  for (int i = 0; i < nin; i++)
    if (!push(a, in[i])) return false;
  return true;
}

/* The op runs straight into x on the CPU where it gives x's dtype; else its result is converted. */
bool tc_eager_update(const char *name, tc_op op, int nin, const tc_tensor *const *in,
                     tc_tensor *x) {
  arguments a;
  char message[MESSAGE] = "";
  tc_type type[TC_MAX_RESULTS], want = tc_type_of(x);
  if (!take_operands(&a, name, nin, in)) return false;
  tc_eager_call c = call_of(&a, op);
  if (!infer(&c, 0, type, message)) return fail_infer(&c, message);
  type->weak = want.weak;
  c.out = x;
  const bool direct = tc_type_same(type, &want) && x->key.device == TC_CPU;
  if (direct && (!a.tracked || tc_tape_off)) {
    tc_written(x);
    return eager_table[op](&c);
  }
  tc_tensor *result = run(&a, op);
  bool done = result && tc_tape_assign(name, x, result, true);
  tc_free(result);
  return done;
}

tc_tensor *tc_call_in_place(tc_in_place function, tc_tensor *x, ...) {
  const api_row *row = &in_place[function];
  arguments a;
  va_list ap;
  begin(&a, row->name);
  if (!push(&a, x)) return NULL;
  va_start(ap, x);
  bool taken = take_all(&a, row->arguments + 1, &ap);
  va_end(ap);
  tc_op op = row->op;
  if (!taken || !settle_scalars(&a, &op)) return NULL;
  return tc_update(row->name, op, a.nin, a.in, x) ? x : NULL;
}

double tc_scalar_f(const tc_tensor *x) {
  double v;
  tc_load_f(&v, (tc_dtype)x->key.dtype, x->data, 1, 1);
  return v;
}

int64_t tc_scalar_i(const tc_tensor *x) {
  int64_t v;
  tc_load_i(&v, (tc_dtype)x->key.dtype, x->data, 1, 1);
  return v;
}
