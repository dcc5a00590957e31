/* Dispatch: one row of graph/api.def says what the C arguments of a public function mean, one row
 * of graph/ops.def what the op infers and computes.  Nothing here knows a particular op. */
#include "runtime/libtcrt/src/dispatch.h"
#include "runtime/libtcrt/src/device.h"

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
#include "graph/api.def"
};

#define tc_0 NULL /* the rows without an eager function: leaves of a graph */
static tc_eager_fn *const eager_table[OP_COUNT] = {
#define TC_OP(id, text, lo, hi, cls, attrs, infer, decomp, eager, expr) [OP_##id] = tc_##eager,
#include "graph/ops.def"
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

static bool infer(const tc_eager_call *c, int nattr, tc_type *type, char message[MESSAGE]) {
  tc_infer i = {.op = c->op,
                .nin = c->nin,
                .in = c->type,
                .nattr = nattr,
                .attr = c->attr,
                .string = c->string,
                .message = message,
                .message_size = MESSAGE};
  return tc_infer_type(&i, type);
}

tc_tensor *tc_eager_run(tc_eager_call *c, int nattr) {
  char message[MESSAGE] = "";
  tc_type type;
  if (!infer(c, nattr, &type, message)) return fail_infer(c, message);
  if (c->device != TC_CPU && !tc_device_native(c->op)) return tc_device_run(c, nattr);
  c->out = new_result(c->op, &type, c->device);
  if (c->out && eager_table[c->op](c)) return c->out;
  tc_free(c->out);
  return NULL;
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Operands, and what holds their scalars and types. */
typedef struct arguments {
  const char *name;
  int nin, nscalar, nattr;
  bool placed; /* a tensor said which device */
  tc_device device;
  const tc_tensor **in;
  const tc_type **type_at;
  tc_type *type;
  const tc_tensor *local_in[MAX_LOCAL];
  const tc_type *local_type_at[MAX_LOCAL];
  tc_type local_type[MAX_LOCAL];
  tc_tensor scalar[MAX_SCALARS];
  union {
    double f;
    int64_t i;
    uint8_t bytes[8];
  } value[MAX_SCALARS];
  tc_dim attr[MAX_ATTRS];
  const char *string;
  tc_storage *memory; /* of long lists */
} arguments;

static void begin(arguments *a, const char *name) {
  a->name = name;
  a->nin = a->nscalar = a->nattr = 0;
  a->placed = false;
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
  if (x) return place(a, x);
  tc_fail("%s: operand %d is NULL", a->name, a->nin + 1); /* keeps the error that made it NULL */
  return false;
}

static bool push(arguments *a, const tc_tensor *x) {
  if (!check_operand(a, x)) return false;
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

/* A C scalar as an operand of the dtype, behind the others or (first) in front of them. */
static void push_scalar(arguments *a, tc_dtype dtype, double v, bool first) {
  void *data = a->value[a->nscalar].bytes;
  tc_store_f(data, dtype, 1, &v, 1);
  a->scalar[a->nscalar] = scalar_tensor(dtype, data, true);
  if (first) memmove(a->in + 1, a->in, (size_t)a->nin * sizeof *a->in);
  a->in[first ? 0 : a->nin] = &a->scalar[a->nscalar++];
  a->nin++;
}

static void push_seed(arguments *a, uint64_t v) {
  memcpy(&a->value[a->nscalar].i, &v, sizeof v);
  a->scalar[a->nscalar] = scalar_tensor(TC_I64, &a->value[a->nscalar].i, true);
  a->in[a->nin++] = &a->scalar[a->nscalar++];
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* Past what a size can be, every value means the same ("to the end"). */
static void push_int(arguments *a, int64_t v) {
  int64_t limit = INT64_MAX / 4;
  a->attr[a->nattr++] = tc_dim_const(v > limit ? limit : v < -limit ? -limit : v);
}

static bool push_ints(arguments *a, const tc_ints *list) {
  if (!tc_check_list(a->name, list)) return false;
  push_int(a, list->n);
  for (int i = 0; i < list->n; i++) push_int(a, list->v[i]);
  return true;
}

/* ---- a call ---------------------------------------------------------------------------------- */

typedef struct marks {
  bool like, first; /* "~", "x" */
} marks;

/* The next C argument, of kind `kind`. */
static bool take(arguments *a, char kind, marks m, va_list *ap) {
  const tc_tensor *const *list;
  switch (kind) {
  case 't':
    return push(a, va_arg(*ap, const tc_tensor *));
  case 'o':
    return push_optional(a, va_arg(*ap, const tc_tensor *));
  case 'T':
    list = va_arg(*ap, const tc_tensor *const *);
    return push_list(a, list, va_arg(*ap, int64_t));
  case 's':
    push_scalar(a, m.like ? (tc_dtype)a->in[0]->key.dtype : TC_F64, va_arg(*ap, double), m.first);
    return true;
  case 'u':
    push_seed(a, va_arg(*ap, uint64_t));
    return true;
  case 'I':
    return push_ints(a, va_arg(*ap, const tc_ints *));
  case 'S':
    a->string = va_arg(*ap, const char *);
    push_int(a, 0);
    return true;
  default:
    push_int(a, va_arg(*ap, int64_t));
    return true; /* i, b, D */
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
                         .string = a->string,
                         .device = a->device};
}

static tc_tensor *run(arguments *a, tc_op op) {
  tc_eager_call c = call_of(a, op);
  return tc_eager_run(&c, a->nattr);
}

tc_tensor *tc_call(tc_api function, ...) {
  const api_row *row = &api[function];
  arguments a;
  va_list ap;
  begin(&a, row->name);
  va_start(ap, function);
  bool taken = take_all(&a, row->arguments, &ap);
  va_end(ap);
  if (a.nin == a.nscalar) a.device = tc_default_device(); /* creation */
  tc_tensor *result = taken ? run(&a, row->op) : NULL;
  tc_storage_unref(a.memory);
  return result;
}

/* Operands of an op that another function runs. */
static bool take_operands(arguments *a, const char *name, int nin, const tc_tensor *const *in) {
  begin(a, name);
  for (int i = 0; i < nin; i++)
    if (!push(a, in[i])) return false;
  return true;
}

tc_tensor *tc_eager_op(const char *name, tc_op op, int nin, const tc_tensor *const *in) {
  arguments a;
  return take_operands(&a, name, nin, in) ? run(&a, op) : NULL;
}

bool tc_eager_into(const char *name, tc_op op, int nin, const tc_tensor *const *in, tc_tensor *x) {
  arguments a;
  char message[MESSAGE] = "";
  tc_type type, want = tc_type_of(x);
  if (!take_operands(&a, name, nin, in)) return false;
  tc_eager_call c = call_of(&a, op);
  if (!infer(&c, 0, &type, message)) return fail_infer(&c, message);
  type.weak = want.weak;
  if (!tc_type_same(&type, &want))
    return tc_fail("%s: the result does not have the type of operand 1", name);
  c.out = x;
  return eager_table[op](&c);
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
