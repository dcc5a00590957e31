/* tcompile.h - tensors for C, and the attribute that compiles functions written with them.
 *
 *   TC_COMPILE tc_tensor *scores(const tc_tensor *x TC_SHAPE("f32[B,784]"),
 *                                const tc_tensor *w TC_SHAPE("f32[784,10]"),
 *                                const tc_tensor *b TC_SHAPE("f32[10]"))
 *   {
 *     return tc_softmax(tc_add(tc_matmul(x, w), b), -1);
 *   }
 *
 * Built by any C17 compiler this runs eagerly, one op after the other.  Built with
 * `clang -fplugin=libtcplugin.so` the body is replaced by fused kernels behind guards.
 *
 * Rules that hold for every function below, unless its comment says otherwise:
 *  - Operands are borrowed; a result is a new tensor owned by the innermost open TC_SCOPE, or by the
 *    caller (tc_free) when none is open.
 *  - Errors are values: a failed op returns NULL and records a message for tc_error() with the op,
 *    the shapes and the C location.  An op given NULL returns NULL and keeps the first message, so a
 *    chain is checked once, at its end.
 *  - An axis may be negative: -1 is the last.  Sizes are in elements.  What goes along an axis
 *    (reductions, scans, softmax, tc_flip) takes a scalar as a row of one: axis 0 or -1.
 *  - Operands broadcast as in NumPy: shapes are aligned at the right and size 1 repeats.
 *  - Mixed dtypes promote as in PyTorch: bool < integer < floating; within a category the wider wins
 *    (f16 with bf16 gives f32; u8 with i8 gives i16); a tensor of rank 0 does not widen tensors of
 *    rank >= 1 of its own category, and a C scalar (the *_s forms) takes the dtype of its tensor.
 *    Functions that are real-valued (exp, div, mean, ...) turn integers and bool into f32.
 *  - Thread-safe: tensors may be shared by threads that only read them.  Scopes, errors and the
 *    workspace belong to one thread. */
#ifndef TCOMPILE_H
#define TCOMPILE_H

#if (defined(__STRICT_ANSI__) || !defined(__clang__)) && !defined(__cplusplus) &&             \
    (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "tcompile.h needs C99 or later, such as -std=c17"
#endif

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tcompile/abi.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct tc_tensor tc_tensor; /* opaque: its layout is the ABI of tcompile/abi.h, not of programs */

/* ---- the attributes; nothing without the plugin ---------------------------------------------- */

/* Defined where a plugin compiles the file. */
#if defined(__has_attribute)
#if __has_attribute(tc_compile)
#define TC_HAS_PLUGIN 1
#elif defined(__clang__) && __clang_major__ < 19
/* These do not tell of a plugin's attributes; where text is only preprocessed, the plugin itself answers. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-pragmas"
#pragma tcompile_keeps_attributes
#pragma clang diagnostic pop
#ifdef TC_KEEPS_ATTRIBUTES
#define TC_HAS_PLUGIN 1
#endif
#endif
#endif

#ifdef TC_HAS_PLUGIN
/* Compile this function: its body is captured, and kernels run in its place where their guards hold.
 * TC_COMPILE_WITH("fullgraph", "backend=openmp"): with options, which docs/programming-model.md lists. */
#define TC_COMPILE __attribute__((tc_compile))
#define TC_COMPILE_WITH(...) __attribute__((tc_compile(__VA_ARGS__)))
/* On a parameter, a member of a struct or a variable that is a tensor, or that tc_wrap_layout makes
 * one of: "f32[B,784]", ranges and multiples "bf16[B<=64,T%8,768]"; equal names are equal sizes. */
#define TC_SHAPE(spec) __attribute__((tc_shape(spec)))
/* On a function, after TC_COMPILE: "B=1,T=128" adds code for these sizes (names of TC_SHAPE, or
 * integer parameters), tried before the code for any sizes.  May be given several times. */
#define TC_SPECIALIZE(sizes) __attribute__((tc_specialize(sizes)))
/* On a function: never inlined into compiled code; its calls stay calls. */
#define TC_DISABLE __attribute__((tc_disable))
/* On a function of the type of `function`, which is declared before it: compiled code inlines this
 * one where `function` is called.  Both must compute the same. */
#define TC_REPLACES(function) __attribute__((tc_replaces(#function)))
/* On a function of tensors and numbers that returns a new tensor and does nothing else: a custom op.
 * `result` is its dtype and shape over the names in TC_SHAPE of the parameters.  Compiled code calls
 * `kernel` between its own kernels,
 *   bool kernel(tc_tensor *result, ...the parameters of the function...)
 * which is declared before the function, writes the elements of result, and returns whether it could;
 * if not, the body runs.  Its tensors are row-major, live for the call, and have no views. */
#define TC_CUSTOM_OP(result, kernel) __attribute__((tc_op(result, #kernel)))
/* On a function of tensors and numbers that returns nothing and is called for its side effect: it prints, logs,
 * sends.  Compiled code calls it once, between its kernels; effects keep the order of the program among each
 * other, and all else may be reordered around them.  It may read its arguments and must change no tensor; state
 * that the compiled function itself changes may be older or newer when it is called.  Tensors are as above. */
#define TC_EFFECT __attribute__((tc_effect))
/* On a pure function: it returns a number that depends on its arguments alone, and does nothing else.
 * Compiled code may call it, earlier than written.  TC_CONST_IS(12): code is specialised to the value 12,
 * and the body runs where the call gives another. */
#define TC_CONST __attribute__((tc_const))
#define TC_CONST_IS(value) __attribute__((tc_const(#value)))
#else
#define TC_COMPILE
#define TC_COMPILE_WITH(...)
#define TC_SHAPE(spec)
#define TC_SPECIALIZE(sizes)
#define TC_DISABLE
#define TC_REPLACES(function)
#define TC_CUSTOM_OP(result, kernel)
#define TC_EFFECT
#define TC_CONST
#define TC_CONST_IS(value)
#endif

/* True in code that is being captured, false where a body runs: code for one of the two. */
static inline bool tc_is_compiling(void) { return false; }

/* ---- lists of sizes, axes, indices ----------------------------------------------------------- */

/* n numbers v[0], ..., v[n - 1], n <= TC_MAX_RANK, passed by value: TC_DIMS(2, 3), TC_AXES(0, -1), TC_INTS(1, 1). */
typedef struct tc_ints {
  int n;
  int64_t v[TC_MAX_RANK];
} tc_ints;

/* Flags that lay out structs and enumerations anew, such as -fpack-struct and -fshort-enums, make another library's of them. */
typedef char tcompile_needs_structs_and_enums_as_the_ABI_has_them[offsetof(tc_ints, v) == 8 && sizeof(tc_dtype) == 4 ? 1 : -1];

#ifdef __cplusplus
extern "C++" {
template <class... T> constexpr tc_ints tcompile_ints(T... v) {
  return {static_cast<int>(sizeof...(v)), {static_cast<int64_t>(v)...}};
}
}
#define TC_INTS(...) tcompile_ints(__VA_ARGS__)
#else
#define TC_INTS(...)                                                            \
  (tc_ints) { (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), { __VA_ARGS__ } }
#endif
#define TC_DIMS(...) TC_INTS(__VA_ARGS__) /* TC_DIMS(2, 3): a 2x3 shape */
#define TC_AXES(...) TC_INTS(__VA_ARGS__) /* TC_AXES(0, -1) */
#ifdef __cplusplus
#define TC_EMPTY_LIST tc_ints{0, {0}}
#else
#define TC_EMPTY_LIST ((tc_ints){0, {0}})
#endif
#define TC_ALL TC_EMPTY_LIST          /* as axes: every axis */
#define TC_SCALAR_SHAPE TC_EMPTY_LIST /* as dims: rank 0, one element */

/* ---- scopes and errors ----------------------------------------------------------------------- */

/* An open scope, on the stack of whoever opened it: use TC_SCOPE or TC_FUNCTION_SCOPE. */
typedef struct tc_scope {
  struct tc_scope *outer;
  tc_tensor *first; /* of a list of the tensors that it owns */
  bool open;
  bool body, unseen; /* set for scopes of bodies of compiled functions: memory/scope.c */
} tc_scope;

/* Opens *s, which need not be initialised, in this thread; scopes end in the reverse order. */
void tc_scope_begin(tc_scope *s);
void tc_scope_end(tc_scope *s); /* frees what was made inside and not kept */

static inline tc_scope *tc_scope_enter(tc_scope *s) { tc_scope_begin(s); s->open = true; return s; }

/* TC_SCOPE { ... }: tensors made inside are freed at the end, also on return, break and goto. */
#define TC_SCOPE                                                                              \
  for (tc_scope tc_scope_here __attribute__((cleanup(tc_scope_end))) = {0, 0, false, false, false}, \
                *tc_scope_in = tc_scope_enter(&tc_scope_here);                                \
       tc_scope_in->open; tc_scope_in->open = false)

/* TC_FUNCTION_SCOPE; as the first line of a function: a scope up to the end of the braces around it.
 * Results are handed out: return tc_keep(y); */
#define TC_FUNCTION_SCOPE                                                                     \
  tc_scope tc_scope_rest __attribute__((cleanup(tc_scope_end))) = {0, 0, false, false, false}, \
           *tc_scope_of_rest __attribute__((unused)) = tc_scope_enter(&tc_scope_rest)

/* Moves t from the innermost scope to the one around it, or to the caller where there is none; a tensor of another
 * scope stays where it is.  Returns t; NULL of NULL. */
tc_tensor *tc_keep(tc_tensor *t);
/* Frees t, in a scope or not; NULL is fine.  A tensor that was freed is refused by every function,
 * this one too, with an error value, as long as its handle was not used for another.  TC_CHECK=1 finds
 * all such uses and what was never freed: docs/debugging.md. */
void tc_free(tc_tensor *t);

/* What an error is about, as far as a program can do something about it. */
typedef enum tc_error_kind {
  TC_ERROR_NONE = 0, /* no error */
  TC_ERROR_ARGUMENT, /* a shape, dtype, axis or number that the function does not take */
  TC_ERROR_NULL,     /* an operand is NULL, though no function had failed */
  TC_ERROR_FREED,    /* an operand was freed already */
  TC_ERROR_INDEX,    /* an index among the elements of an operand is out of range */
  TC_ERROR_MEMORY,   /* there is not enough memory */
  TC_ERROR_FILE,     /* a file is missing, damaged, or cannot be written */
  TC_ERROR_DEVICE,   /* a device, or the library for it, is missing or failed */
  TC_ERROR_FALLBACK  /* a body ran where TC_FALLBACK or tc_set_stance forbids it */
} tc_error_kind;

/* The message of the first error of this thread since tc_clear_error, or NULL.  The text belongs to the library and is
 * valid until tc_clear_error and a further error. */
const char *tc_error(void);
tc_error_kind tc_error_code(void); /* what that error is about, or TC_ERROR_NONE */
/* How many errors there were since tc_clear_error; ops that only pass on the NULL of a failed one are not counted.
 * TC_ERRORS=print prints each on stderr as it happens, TC_ERRORS=abort calls abort() at the first, so that a
 * debugger or core dump shows where. */
int tc_error_count(void);
void tc_clear_error(void);
/* Records an error of this thread, as a failed op does, for functions of the program's own; the message is that of
 * printf(format, ...) and begins with the function's name ("shuffle: ...").  Always NULL. */
void *tc_fail_as(tc_error_kind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the location that messages of this thread name from here on; the macros of tcompile/locations.h call it.  `file`
 * must live as long as the thread may report errors. */
void tc_here(const char *file, int line);

/* ---- tensors from and to memory --------------------------------------------------------------
 *
 * Functions that make a tensor take its sizes first, then what fills it, then the dtype.  Those of this section make
 * it on the CPU.  Errors: a negative size, more than TC_MAX_RANK sizes, no dtype, no memory. */

__attribute__((const)) size_t tc_dtype_size(tc_dtype dtype); /* bytes of an element; 0 for what is no dtype */
tc_tensor *tc_empty(tc_ints dims, tc_dtype dtype);           /* row-major; the elements are undefined */
/* Copies numel(dims) elements of the dtype from data, which are row-major. */
tc_tensor *tc_from(tc_ints dims, const void *data, tc_dtype dtype);
/* Wraps memory of the caller, which must outlive the tensor and its views; data is aligned for the dtype.  strides: one
 * for each size, in elements, which may be 0 or negative; NULL: row-major.  release(context) is called once, when the
 * last view is freed, and not where an error is returned; NULL: nothing is called. */
tc_tensor *tc_wrap(tc_ints dims, const int64_t *strides, void *data, tc_dtype dtype,
                   void (*release)(void *context), void *context);
/* Likewise, read-only: writing the tensor in place, and tc_data of it, are errors. */
tc_tensor *tc_wrap_const(tc_ints dims, const int64_t *strides, const void *data, tc_dtype dtype);

/* A tensor type of the program's own: a function says where the elements of one lie, and tc_wrap_layout makes a tensor
 * that shares its memory, as tc_wrap does.  NULL with an error where the layout is not that of a tensor: data that is
 * NULL or not aligned, a stride that is not a multiple of the element's bytes, a size, rank or dtype out of range.
 *
 *   static inline tc_layout layout_of(const struct matrix *m) {
 *     return tc_row_major(TC_DIMS(m->rows, m->cols), m->data, TC_F32);
 *   }
 *   static inline tc_tensor *view(const struct matrix *m) { return tc_wrap_layout(layout_of(m)); }
 *
 * In compiled code no tensor is made: the layout is an operand (docs/programming-model.md). */
static inline tc_layout tc_row_major(tc_ints dims, void *data, tc_dtype dtype) {
  tc_layout l = {data, dtype, dims.n, {0}, {0}, false};
  int64_t stride = (int64_t)tc_dtype_size(dtype);
  for (int i = dims.n < 0 || dims.n > TC_MAX_RANK ? 0 : dims.n; i-- > 0;) {
    l.dim[i] = dims.v[i];
    l.stride[i] = stride;
    /* Too large: tc_wrap_layout says so. */
    stride = (int64_t)((uint64_t)stride * (uint64_t)dims.v[i]);
  }
  return l;
}
tc_tensor *tc_wrap_layout(tc_layout layout);
tc_tensor *tc_clone(const tc_tensor *x); /* a row-major copy, on the device of x */

/* What x is.  Of NULL: TC_DTYPE_COUNT, -1, -1, n = -1, 0, -1, NULL, NULL, each with an error, and false without one. */
tc_dtype tc_dtype_of(const tc_tensor *x);
int tc_rank(const tc_tensor *x);                 /* how many axes it has, 0 to TC_MAX_RANK */
int64_t tc_size(const tc_tensor *x, int axis);   /* elements along an axis; -1 with an error for a bad axis */
tc_ints tc_shape(const tc_tensor *x);            /* all sizes, as dims: tc_zeros(tc_shape(x), TC_F32) */
int64_t tc_stride(const tc_tensor *x, int axis); /* elements from one index to the next; 0 with an error */
int64_t tc_numel(const tc_tensor *x);            /* how many elements it has, the product of its sizes */
/* The address of element (0, ..., 0), valid while x or a view of it lives.  NULL with an error for a tensor of a GPU
 * (tc_device_data) and, of tc_data, for a read-only one. */
void *tc_data(tc_tensor *x);
const void *tc_cdata(const tc_tensor *x);
bool tc_is_contiguous(const tc_tensor *x); /* row-major and without gaps */
const char *tc_dtype_name(tc_dtype dtype); /* "f32", a constant; "?" for what is no dtype */

/* Elements as C numbers, from any device: they wait for its work. */
double tc_item(const tc_tensor *x);              /* of a tensor of one element; NaN with an error */
int64_t tc_item_int(const tc_tensor *x);         /* likewise, of integers and bool alone; 0 with an error */
double tc_at(const tc_tensor *x, tc_ints index); /* an index, which may be negative, for each axis; NaN with an error */
/* Prints dtype, shape and elements on stdout, of more than 1000 elements the first and last three along each axis;
 * of NULL, the message of tc_error. */
void tc_print(const tc_tensor *x);

/* Of a and b of one shape and any dtypes: the largest |a - b|, and whether |a - b| <= atol + rtol |b| everywhere.  Equal
 * infinities, and NaN on both sides, differ by 0; NaN on one side differs by infinity.  NaN, or false, with an error. */
double tc_max_abs_diff(const tc_tensor *a, const tc_tensor *b);
bool tc_allclose(const tc_tensor *a, const tc_tensor *b, double rtol, double atol);

/* NumPy's .npy, versions 1 to 3, little endian, C order.  Every field is checked: what is truncated or too long, or of
 * another dtype or order, is an error that names it.  bf16 cannot be saved, as NumPy does not have it. */
tc_tensor *tc_load_npy(const char *path);
bool tc_save_npy(const char *path, const tc_tensor *x); /* false with an error */

/* safetensors, a file of named tensors, which is mapped into memory.  Opening checks the whole header; NULL with an
 * error.  Tensors are read-only views of the mapping and keep it alive, also when the file is closed; they are copies
 * where the file does not align their elements. */
typedef struct tc_safetensors tc_safetensors;
tc_safetensors *tc_safetensors_open(const char *path);
int tc_safetensors_count(const tc_safetensors *s);               /* how many tensors it has; 0 of NULL */
const char *tc_safetensors_name(const tc_safetensors *s, int i); /* of tensor i, until s is closed; NULL: there is none */
tc_tensor *tc_safetensors_get(const tc_safetensors *s, const char *name); /* an error if it has none of that name */
void tc_safetensors_close(tc_safetensors *s);                    /* NULL is fine */

/* DLPack 0.x (tcompile/dlpack.h has the structs, and 1.x).  tc_to_dlpack shares the memory of x and holds a reference to
 * it until the consumer calls the deleter, once; a read-only x is an error.  tc_from_dlpack takes ownership: the deleter
 * is called when the last view of the result is freed.  With an error, m still belongs to the caller. */
struct DLManagedTensor;
struct DLManagedTensor *tc_to_dlpack(const tc_tensor *x);
tc_tensor *tc_from_dlpack(struct DLManagedTensor *m);

/* ---- devices --------------------------------------------------------------------------------- */

/* TC_CPU, TC_CUDA (the first GPU), tc_gpu(1), ...  Ops run where their operands are; a C scalar is an operand on any
 * device, tensors on two devices are an error.  Work on a GPU is queued: an error that a kernel meets (an index out of
 * range, for which it reads element 0) is reported by the next call that waits: tc_synchronize, tc_item and others
 * that read elements, tc_to to the CPU.  On a machine without a GPU the first call that asks for one fails with an
 * error (TC_ERROR_DEVICE).  docs/devices.md tells the rest. */
static inline tc_device tc_gpu(int index) { return (tc_device)(TC_CUDA | index << 8); }

int tc_device_count(tc_device kind);        /* of TC_CPU 1, of TC_CUDA the number of GPUs, 0 without a driver */
tc_device tc_device_of(const tc_tensor *x); /* TC_CPU with an error for NULL */
/* The device on which the functions under "creation" make tensors, for the whole program: at first TC_CPU, or what the
 * variable TC_DEVICE=cpu|cuda|cuda:1 says.  Setting it gives false with an error where there is no such device. */
tc_device tc_default_device(void);
bool tc_set_default_device(tc_device device);

/* x on the device: a view if it is there already, else a row-major copy.  From page-locked memory to a GPU the copy is
 * queued: do not write x before tc_synchronize. */
tc_tensor *tc_to(const tc_tensor *x, tc_device device);
/* The address on its GPU of element (0, ..., 0), for kernels and libraries of the program; an error for the CPU. */
void *tc_device_data(const tc_tensor *x);
bool tc_synchronize(void); /* waits for all devices; false with an error if a kernel failed */

/* A tensor in page-locked memory of the CPU, undefined or a copy of x.  tc_copy_ from a GPU into it is queued, too. */
tc_tensor *tc_empty_pinned(tc_ints dims, tc_dtype dtype);
tc_tensor *tc_pin(const tc_tensor *x);

/* Streams: queues of a GPU that may run at the same time.  Each thread queues on its current one, at first the default
 * stream, which all threads share and which is in order with the default stream of other libraries.  A tensor made on
 * one stream and used on another needs tc_stream_after at both ends of that use. */
typedef struct tc_stream tc_stream;
tc_stream *tc_stream_new(tc_device device); /* of a GPU; NULL with an error */
void tc_stream_free(tc_stream *s);          /* what is queued on it still runs; NULL is fine */
tc_stream *tc_stream_use(tc_stream *s);     /* makes s current in this thread, NULL: the default; returns the one before */
bool tc_stream_synchronize(tc_stream *s);   /* waits for s (NULL: all devices); false with an error if a kernel failed */
/* What is queued on s from here on waits for all that is queued on `other` now; NULL: the default stream. */
bool tc_stream_after(tc_stream *s, tc_stream *other);

/* ---- creation: on the default device (tc_set_default_device), *_like on the device of x ------ */

/* All elements 0, 1 or value, which integers truncate; it is an error where the dtype does not hold it. */
tc_tensor *tc_zeros(tc_ints dims, tc_dtype dtype);
tc_tensor *tc_ones(tc_ints dims, tc_dtype dtype);
tc_tensor *tc_full(tc_ints dims, double value, tc_dtype dtype);
tc_tensor *tc_zeros_like(const tc_tensor *x); /* of the shape and dtype of x */
tc_tensor *tc_ones_like(const tc_tensor *x);
tc_tensor *tc_full_like(const tc_tensor *x, double value);
/* Of rank 0, on the CPU, an operand on any device; promotes like a C scalar: it does not widen tensors of its category.
 * tc_scalar goes by the type of its argument: tc_scalar(7) is the integer tc_scalar_int(7), tc_scalar(7.0) the floating
 * number, beside which integers become floating.  One outside of the dtype that the op computes in is an error. */
tc_tensor *tc_scalar(double value);      /* f64 */
tc_tensor *tc_scalar_int(int64_t value); /* i64 */
#ifdef __cplusplus
extern "C++" {
template <class T> auto tc_scalar(T value) -> decltype(value % 1, tc_scalar_int(0)) {
  return tc_scalar_int(static_cast<int64_t>(value));
}
}
#else
#define TC_SCALAR_OF(value)                                                                   \
  _Generic((value), float: tc_scalar((double)(value)), double: tc_scalar((double)(value)),    \
           long double: tc_scalar((double)(value)), default: tc_scalar_int((int64_t)(value)))
#endif
tc_tensor *tc_arange(int64_t n, double start, double step, tc_dtype dtype); /* [n]: start + i*step; integers wrap */
tc_tensor *tc_eye(int64_t n, int64_t m, tc_dtype dtype);                    /* [n,m]: 1 on the diagonal, else 0 */
/* Random numbers of a floating dtype, functions of the seed and the index of the element alone, equal on all devices:
 * Philox4x32-10 (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, 2011).  Distributions,
 * dropout, and generators of seeds are in <tcompile/random.h>. */
tc_tensor *tc_rand(tc_ints dims, uint64_t seed, tc_dtype dtype);  /* uniform in [0,1) */
tc_tensor *tc_randn(tc_ints dims, uint64_t seed, tc_dtype dtype); /* standard normal, by Box and Muller, 1958 */
tc_tensor *tc_rand_like(const tc_tensor *x, uint64_t seed, tc_dtype dtype);  /* of x's shape, on its device */
tc_tensor *tc_randn_like(const tc_tensor *x, uint64_t seed, tc_dtype dtype); /* likewise */
tc_tensor *tc_randperm(int64_t n, uint64_t seed); /* i64[n], on the CPU: a random permutation of 0, ..., n - 1 */
/* x in another dtype.  Floating numbers become integers towards zero; NaN becomes 0, and what the dtype cannot hold its
 * nearest value.  Integers keep their low bits.  bool is x != 0, so that NaN is true.  To f16, bf16, f32: to nearest even. */
tc_tensor *tc_cast(const tc_tensor *x, tc_dtype dtype);

/* ---- elementwise -----------------------------------------------------------------------------
 *
 * Functions of one tensor and of two, activations among them: tc_exp(x), tc_add(a, b), tc_gelu(x), and the same in
 * place, tc_exp_(x), tc_add_(x, y). */
#include <tcompile/elementwise.h>

/* Those of two operands with a C scalar s in place of one, which takes the dtype of x: for integers it is truncated; if
 * it is then outside of the dtype, or NaN, that is an error.  But bounds (maximum, minimum, clamp) become the nearest
 * value of the dtype, comparisons are with the number as it is (every u8 is < 300, none == 0.5), and what gives
 * floating numbers (div, and leaky_relu, elu, lerp below) computes with it as one. */
tc_tensor *tc_add_s(const tc_tensor *x, double s);
tc_tensor *tc_sub_s(const tc_tensor *x, double s);
tc_tensor *tc_rsub_s(const tc_tensor *x, double s); /* s - x */
tc_tensor *tc_mul_s(const tc_tensor *x, double s);
tc_tensor *tc_div_s(const tc_tensor *x, double s);
tc_tensor *tc_rdiv_s(const tc_tensor *x, double s); /* s / x */
tc_tensor *tc_pow_s(const tc_tensor *x, double s);
tc_tensor *tc_remainder_s(const tc_tensor *x, double s);
tc_tensor *tc_maximum_s(const tc_tensor *x, double s);
tc_tensor *tc_minimum_s(const tc_tensor *x, double s);
tc_tensor *tc_eq_s(const tc_tensor *x, double s);
tc_tensor *tc_ne_s(const tc_tensor *x, double s);
tc_tensor *tc_lt_s(const tc_tensor *x, double s);
tc_tensor *tc_le_s(const tc_tensor *x, double s);
tc_tensor *tc_gt_s(const tc_tensor *x, double s);
tc_tensor *tc_ge_s(const tc_tensor *x, double s);

/* a where condition, bool, is true, else b. */
tc_tensor *tc_where(const tc_tensor *condition, const tc_tensor *a, const tc_tensor *b);
tc_tensor *tc_fma(const tc_tensor *a, const tc_tensor *b, const tc_tensor *c); /* a*b + c */
tc_tensor *tc_clamp(const tc_tensor *x, double lo, double hi); /* min(max(x, lo), hi), NaN stays */
tc_tensor *tc_clamp_min(const tc_tensor *x, double lo); /* one side; a NaN bound gives NaN */
tc_tensor *tc_clamp_max(const tc_tensor *x, double hi);
tc_tensor *tc_lerp(const tc_tensor *a, const tc_tensor *b, double weight); /* a + weight*(b-a) */
/* value where mask, bool, is true, else x; of the dtype of x. */
tc_tensor *tc_masked_fill(const tc_tensor *x, const tc_tensor *mask, double value);

/* ---- activations ----------------------------------------------------------------------------- */

tc_tensor *tc_leaky_relu(const tc_tensor *x, double slope); /* x where x > 0, else slope x */
tc_tensor *tc_elu(const tc_tensor *x, double alpha);        /* x where x > 0, else alpha (exp(x) - 1) */

/* ---- reductions ------------------------------------------------------------------------------
 *
 * Over TC_AXES(...), each once, or TC_ALL.  The axes are dropped, or left with size 1 where keepdim is true.  Floating
 * numbers keep their dtype; 16-bit ones are accumulated in f32 at least.  The order of additions is fixed: results do not
 * depend on the number of threads. */

tc_tensor *tc_sum(const tc_tensor *x, tc_ints axes, bool keepdim);  /* integers and bool to i64, which wraps; empty: 0 */
tc_tensor *tc_prod(const tc_tensor *x, tc_ints axes, bool keepdim); /* likewise; empty: 1 */
tc_tensor *tc_mean(const tc_tensor *x, tc_ints axes, bool keepdim); /* integers and bool to f32; empty: NaN */
tc_tensor *tc_max(const tc_tensor *x, tc_ints axes, bool keepdim);  /* NaN wins; an error for an empty axis */
tc_tensor *tc_min(const tc_tensor *x, tc_ints axes, bool keepdim);  /* likewise */
/* Where the largest or smallest element is, i64, the first of equals; along one axis, or of TC_ALL in row-major order. */
tc_tensor *tc_argmax(const tc_tensor *x, tc_ints axes, bool keepdim);
tc_tensor *tc_argmin(const tc_tensor *x, tc_ints axes, bool keepdim);
tc_tensor *tc_any(const tc_tensor *x, tc_ints axes, bool keepdim); /* bool: one of x != 0, which NaN is; empty: false */
tc_tensor *tc_all(const tc_tensor *x, tc_ints axes, bool keepdim); /* bool: all of x != 0; empty: true */
/* The variance, sum (x - mean)^2 / (n - correction), and its root; correction 1 is the unbiased estimate. */
tc_tensor *tc_var(const tc_tensor *x, tc_ints axes, int correction, bool keepdim);
tc_tensor *tc_std(const tc_tensor *x, tc_ints axes, int correction, bool keepdim);
tc_tensor *tc_logsumexp(const tc_tensor *x, tc_ints axes, bool keepdim); /* log(sum exp(x)), without overflow */
/* Functions with several results return the first.  The others are written to addresses, as C's frexp does: where one is
 * NULL, that result is not wanted and costs nothing; with an error, NULL is written.  All are owned as results are. */
tc_tensor *tc_var_mean(const tc_tensor *x, tc_ints axes, int correction, bool keepdim, tc_tensor **mean);
tc_tensor *tc_max_with_index(const tc_tensor *x, tc_ints axes, bool keepdim, tc_tensor **index); /* as tc_argmax */
tc_tensor *tc_min_with_index(const tc_tensor *x, tc_ints axes, bool keepdim, tc_tensor **index);
/* x = mantissa 2^exponent, 0.5 <= |mantissa| < 1; exponent i32; 0, infinity and NaN: themselves, and 0. */
tc_tensor *tc_frexp(const tc_tensor *x, tc_tensor **exponent);
tc_tensor *tc_norm(const tc_tensor *x, double p, tc_ints axes, bool keepdim); /* (sum |x|^p)^(1/p); inf: max |x| */

/* ---- scans along an axis: of x's shape; an element is the reduction of those up to it ------------ */

tc_tensor *tc_cumsum(const tc_tensor *x, int axis);  /* integers and bool to i64 */
tc_tensor *tc_cumprod(const tc_tensor *x, int axis); /* likewise */
/* The extremum so far, and where it is: i64, the last of equals; NaN wins. */
tc_tensor *tc_cummax(const tc_tensor *x, int axis, tc_tensor **index);
tc_tensor *tc_cummin(const tc_tensor *x, int axis, tc_tensor **index);

/* ---- order along an axis ---------------------------------------------------------------------
 *
 * Stable, descending too: equal elements keep their order.  -0 equals 0; NaN is above all others, so that it is last in
 * ascending order and first in descending.  *index is where each element was, i64. */

tc_tensor *tc_sort(const tc_tensor *x, int axis, bool descending, tc_tensor **index);
tc_tensor *tc_argsort(const tc_tensor *x, int axis, bool descending); /* the index alone */
/* The first k elements of tc_sort, descending where `largest` is true; k is 0 to the size of the axis. */
tc_tensor *tc_topk(const tc_tensor *x, int64_t k, int axis, bool largest, tc_tensor **index);

/* ---- views: results share storage with x ----------------------------------------------------- */

/* Of as many elements, in row-major order; one size may be -1, the rest.  A copy where no strides describe it. */
tc_tensor *tc_reshape(const tc_tensor *x, tc_ints dims);
tc_tensor *tc_permute(const tc_tensor *x, tc_ints axes);   /* axis i of the result is axis axes[i] of x; each once */
tc_tensor *tc_transpose(const tc_tensor *x, int a, int b); /* exchanges two axes */
/* Axes of size 1 to any size, and new ones in front; aligned at the right; -1 keeps a size. */
tc_tensor *tc_expand(const tc_tensor *x, tc_ints dims);
/* x[start:stop:step] along an axis, as in Python: negative positions count from the end, and are then clamped; a
 * negative step goes down.  step is not 0.  INT64_MAX and INT64_MIN are beyond the ends. */
tc_tensor *tc_slice(const tc_tensor *x, int axis, int64_t start, int64_t stop, int64_t step);
tc_tensor *tc_select(const tc_tensor *x, int axis, int64_t index); /* one index, -1 the last; the axis is dropped */
/* Windows of `size` elements along an axis, `step` apart (torch.Tensor.unfold): the axis counts the windows, and a new
 * last axis the elements of one.  x[L]: [(L - size) / step + 1, size]; windows may overlap.  0 <= size <= L, step > 0. */
tc_tensor *tc_unfold(const tc_tensor *x, int axis, int64_t size, int64_t step);
tc_tensor *tc_flip(const tc_tensor *x, tc_ints axes);           /* reversed; TC_ALL: every axis, as NumPy's axis=None */
tc_tensor *tc_squeeze(const tc_tensor *x, int axis);            /* without an axis, which has size 1 */
tc_tensor *tc_unsqueeze(const tc_tensor *x, int axis);          /* with a new axis of size 1 there; -1: the last */
tc_tensor *tc_flatten(const tc_tensor *x, int first, int last); /* axes first to last as one; as tc_reshape */
tc_tensor *tc_contiguous(const tc_tensor *x);                   /* row-major: a view where x is, else a copy */

/* ---- joining and moving ---------------------------------------------------------------------- */

/* x[0], ..., x[n - 1], n >= 1, one after the other along an axis; all other sizes are equal.  Dtypes promote. */
tc_tensor *tc_concat(const tc_tensor *const *x, int n, int axis);
tc_tensor *tc_stack(const tc_tensor *const *x, int n, int axis); /* of one shape, along a new axis of size n */
/* n views of size/n elements along an axis (n divides the size) to out[0], ..., out[n - 1]; returns n, or -1 and NULLs. */
int tc_split(const tc_tensor *x, int n, int axis, tc_tensor **out);
/* With before[i] elements `value` in front of axis i and after[i] behind it, not negative; lists for all axes. */
tc_tensor *tc_pad(const tc_tensor *x, tc_ints before, tc_ints after, double value);
tc_tensor *tc_tril(const tc_tensor *x, int64_t k); /* x[..,i,j] where j - i <= k, else 0 */
tc_tensor *tc_triu(const tc_tensor *x, int64_t k); /* x[..,i,j] where j - i >= k, else 0 */
/* times[i] copies along axis i, aligned at the right, as torch.Tensor.repeat and NumPy's tile do. */
tc_tensor *tc_repeat(const tc_tensor *x, tc_ints times);
tc_tensor *tc_roll(const tc_tensor *x, int64_t shift, int axis); /* element i moves to i + shift, around the end */

/* ---- indexing by data: indices are i32 or i64; one that is negative or out of range is an error ------ */

/* out[i][j] = x[index[i][j]][j] for axis 0: of the shape of index, which is at most x's along the other axes. */
tc_tensor *tc_gather(const tc_tensor *x, int axis, const tc_tensor *index);
/* index[I]: elements index[0], index[1], ... of an axis, which gets size I. */
tc_tensor *tc_index_select(const tc_tensor *x, int axis, const tc_tensor *index);
tc_tensor *tc_embedding(const tc_tensor *weight, const tc_tensor *index); /* rows of weight[V,D]: index[...] to [...,D] */
tc_tensor *tc_one_hot(const tc_tensor *index, int64_t classes);           /* index[...] to i64[...,classes] of 0 and 1 */
/* A copy of x with y[index[i][j]][j] = src[i][j], or += src[i][j], for axis 0; src has the dtype of x, and index is at
 * most as large as src and, along other axes, as x.  Equal indices: the last one wins, or they are added in order. */
tc_tensor *tc_scatter(const tc_tensor *x, int axis, const tc_tensor *index, const tc_tensor *src);
tc_tensor *tc_scatter_add(const tc_tensor *x, int axis, const tc_tensor *index, const tc_tensor *src);

/* ---- linear algebra: dtypes promote; sums of 16-bit products are f32 at least; integers wrap; bool is an error ------ */

/* a[..,M,K] b[..,K,N] to [..,M,N], leading axes broadcast; an operand of rank 1 is a row (left) or a column (right),
 * whose axis is dropped. */
tc_tensor *tc_matmul(const tc_tensor *a, const tc_tensor *b);
/* x w^T + bias: x[..,I], w[O,I] and bias[O], or NULL, to [..,O]. */
tc_tensor *tc_linear(const tc_tensor *x, const tc_tensor *w, const tc_tensor *bias);
tc_tensor *tc_outer(const tc_tensor *a, const tc_tensor *b); /* a[M], b[N] to [M,N] */
/* Einstein summation of the operands x[0], ..., x[n - 1], n >= 1, as numpy.einsum has it: "bik,bkj->bij", "...ij->...ji";
 * a letter twice in one operand is a diagonal, of equal sizes.  In compiled code spec is a string literal. */
tc_tensor *tc_einsum(const char *spec, const tc_tensor *const *x, int n);

/* ---- neural networks: 16-bit operands are computed in f32 and rounded at the end ------------------- */

/* What a loss returns: the loss of each example, their mean, or their sum, of rank 0. */
typedef enum tc_reduction { TC_NONE = 0, TC_MEAN = 1, TC_SUM = 2 } tc_reduction;

tc_tensor *tc_softmax(const tc_tensor *x, int axis);     /* exp(x) / sum exp(x) along an axis, without overflow */
tc_tensor *tc_log_softmax(const tc_tensor *x, int axis); /* its logarithm */
/* (x - mean) / sqrt(var + eps) weight + bias, with the mean and variance (/ n) over the last naxes axes; weight and bias
 * have the shape of these axes, or are NULL.  Ba, Kiros and Hinton, Layer normalization, 2016. */
tc_tensor *tc_layer_norm(const tc_tensor *x, int naxes, const tc_tensor *weight, const tc_tensor *bias, double eps);
/* x / sqrt(mean(x^2) + eps) weight, likewise.  Zhang and Sennrich, Root mean square layer normalization, 2019. */
tc_tensor *tc_rms_norm(const tc_tensor *x, int naxes, const tc_tensor *weight, double eps);
/* (x - mean) / sqrt(var + eps) weight + bias of x[N,C,...], with statistics [C] that were kept in training, as inference
 * does it; weight[C] and bias[C] may be NULL.  tc_batch_norm_train (tcompile/nn/norm.h) takes those of the batch. */
tc_tensor *tc_batch_norm(const tc_tensor *x, const tc_tensor *mean, const tc_tensor *var,
                         const tc_tensor *weight, const tc_tensor *bias, double eps);
/* -log softmax(logits)[target], and -log_probability[target], of [N,C] with targets i32|i64[N] in 0 .. C - 1, or of [C]
 * with one.  Weights of classes, targets that are ignored, smoothing, [N,C,...]: tcompile/nn/loss.h. */
tc_tensor *tc_cross_entropy(const tc_tensor *logits, const tc_tensor *target, tc_reduction r);
tc_tensor *tc_nll(const tc_tensor *log_probability, const tc_tensor *target, tc_reduction r);
tc_tensor *tc_mse(const tc_tensor *a, const tc_tensor *b, tc_reduction r); /* (a - b)^2; operands broadcast */
/* -(t log p + (1 - t) log(1 - p)) with p = sigmoid(logits) and t = target in [0,1]; operands broadcast.  An infinite
 * logit costs 0 where it is right (target 1 for inf, 0 for -inf), else infinity. */
tc_tensor *tc_bce_with_logits(const tc_tensor *logits, const tc_tensor *target, tc_reduction r);

/* ---- in place --------------------------------------------------------------------------------
 *
 * x is written, and returned, owned as before: it is not read-only, and no two of its elements share memory.  Other
 * operands broadcast to its shape and are converted to its dtype, as is the result; they may overlap x.  NULL with an
 * error: x is as it was. */

tc_tensor *tc_copy_(tc_tensor *x, const tc_tensor *src); /* the elements of src, of any dtype and device */
tc_tensor *tc_fill_(tc_tensor *x, double value);         /* as tc_full */
tc_tensor *tc_zero_(tc_tensor *x);
tc_tensor *tc_add_s_(tc_tensor *x, double s);
tc_tensor *tc_sub_s_(tc_tensor *x, double s);
tc_tensor *tc_mul_s_(tc_tensor *x, double s);
tc_tensor *tc_div_s_(tc_tensor *x, double s);
tc_tensor *tc_pow_s_(tc_tensor *x, double s);
tc_tensor *tc_remainder_s_(tc_tensor *x, double s);
tc_tensor *tc_maximum_s_(tc_tensor *x, double s);
tc_tensor *tc_minimum_s_(tc_tensor *x, double s);
tc_tensor *tc_leaky_relu_(tc_tensor *x, double slope);
tc_tensor *tc_elu_(tc_tensor *x, double alpha);
tc_tensor *tc_rsub_s_(tc_tensor *x, double s);
tc_tensor *tc_rdiv_s_(tc_tensor *x, double s);
tc_tensor *tc_fma_(tc_tensor *x, const tc_tensor *b, const tc_tensor *c); /* x*b + c */
tc_tensor *tc_clamp_(tc_tensor *x, double lo, double hi);
tc_tensor *tc_lerp_(tc_tensor *x, const tc_tensor *b, double weight);
tc_tensor *tc_masked_fill_(tc_tensor *x, const tc_tensor *mask, double value);

/* ---- gradients ----------------------------------------------------------------------------------
 *
 * What is computed from tensors that require gradients is tracked: each op is kept on a tape, from which gradients
 * are made by the rules of autodiff/rules.def.  docs/gradients.md tells the rest.  A gradient has the shape, dtype
 * and device of its tensor.  Integers and bool have none. */

/* An array of tensors: tc_tensor *p[N] as well as const tc_tensor *p[N]. */
#ifdef __cplusplus
typedef const tc_tensor *const *tc_tensor_list;
#elif defined(__TINYC__) /* has no transparent unions, which are passed like their members */
typedef const void *tc_tensor_list;
#else
typedef union __attribute__((transparent_union)) tc_tensor_list {
  const tc_tensor *const *at;
  tc_tensor *const *written;
} tc_tensor_list;
#endif

/* Makes t, floating, a leaf: it is tracked from now on, until on = false or tc_free.  Returns t. */
tc_tensor *tc_requires_grad_(tc_tensor *t, bool on);
bool tc_requires_grad(const tc_tensor *t); /* whether t is tracked: a leaf, or computed from one */
/* A view of x that is not tracked. */
tc_tensor *tc_detach(const tc_tensor *x);

/* Whether ops are recorded on the tape, in this thread; setting it returns what was set before. */
bool tc_set_grad_enabled(bool enabled);
bool tc_is_grad_enabled(void);

/* What TC_NO_GRAD restores at its end. */
typedef struct tc_grad_mode {
  bool before, open;
} tc_grad_mode;
void tc_grad_mode_end(tc_grad_mode *m);

/* TC_NO_GRAD { ... }: nothing is recorded inside, and leaves may be written in place.  Left by return, break
 * and goto as well. */
#define TC_NO_GRAD                                                                                 \
  for (tc_grad_mode tc_no_grad_here __attribute__((cleanup(tc_grad_mode_end))) =                   \
           {tc_set_grad_enabled(false), true};                                                     \
       tc_no_grad_here.open; tc_no_grad_here.open = false)

/* Mixed precision: TC_AUTOCAST(TC_BF16) { ... }, or TC_F16.  Inside, in this thread, f32 and 16-bit operands of products
 * (tc_matmul, tc_linear, tc_einsum) are converted to that dtype, 16-bit ones of what needs more (softmax, norms, losses, sums,
 * exp, log, pow, ...) to f32; others are left as they are, and so are f64, integers and functions that work in place.
 * docs/autocast.md lists all.  Conversions are recorded, so that f32 parameters have f32 gradients; these are computed
 * as outside of all scopes.  TC_NO_AUTOCAST { ... }: as outside.  Left by return, break and goto as well. */
#define TC_AUTOCAST(dtype)                                                                         \
  for (tc_autocast_mode tc_autocast_here __attribute__((cleanup(tc_autocast_end))) =               \
           {tc_set_autocast(dtype), true};                                                         \
       tc_autocast_here.open; tc_autocast_here.open = false)
#define TC_NO_AUTOCAST TC_AUTOCAST(TC_DTYPE_COUNT)

/* What they restore at their end. */
typedef struct tc_autocast_mode {
  tc_dtype before;
  bool open;
} tc_autocast_mode;
void tc_autocast_end(tc_autocast_mode *m);

/* The dtype from now on, TC_DTYPE_COUNT for none; returns what was set before.  Another dtype: an error, nothing changes. */
tc_dtype tc_set_autocast(tc_dtype dtype);
tc_dtype tc_autocast_dtype(void); /* of the innermost scope; TC_DTYPE_COUNT: none */

typedef enum tc_grad_flags {
  TC_RETAIN_GRAPH = 1, /* the tape can be used again; else it is freed */
  TC_CREATE_GRAPH = 2, /* gradients are tracked, for derivatives of them; retains the tape as well */
  TC_ALLOW_UNUSED = 4  /* of tc_grad_with: 0, and no error, for a tensor that y does not depend on */
} tc_grad_flags;

/* Adds the gradients of loss, of one element, to those of the leaves that it was computed from, where tc_grad_of
 * reads them.  false with an error; leaves then have what they had. */
bool tc_backward(const tc_tensor *loss);
/* The same of y, any shape, times a cotangent of its shape (NULL: 1, of one number); flags: tc_grad_flags. */
bool tc_backward_with(const tc_tensor *y, const tc_tensor *cotangent, int flags);
/* The gradient that a leaf has, or a result of tc_retain_grad; NULL, without an error, where none arrived.  It is a
 * view, owned as any result: what is written there in place is seen by the next tc_grad_of. */
tc_tensor *tc_grad_of(const tc_tensor *t);
bool tc_zero_grad(int n, tc_tensor_list t); /* frees the gradients of n tensors; false with an error */
bool tc_retain_grad(tc_tensor *t); /* tc_backward keeps the gradient of t, a result, as that of a leaf; false: an error */
/* tc_backward calls hook(grad, context) with the gradient of t, borrowed, when it is complete.  false with an error. */
bool tc_register_hook(tc_tensor *t, void (*hook)(const tc_tensor *grad, void *context), void *context);

/* out[i] = the gradient of loss, of one element, with respect to wrt[i], a leaf or any tracked tensor; owned as results
 * are.  Gradients of leaves (tc_grad_of) are not changed.  false with an error, and NULLs in out; it is one that loss does
 * not depend on a wrt[i]. */
bool tc_grad(const tc_tensor *loss, int n, tc_tensor_list wrt, tc_tensor **out);
/* The same of y, any shape, times a cotangent of its shape: (dy/dwrt[i])^T cotangent. */
bool tc_vjp(const tc_tensor *y, const tc_tensor *cotangent, int n, tc_tensor_list wrt, tc_tensor **out);
/* With flags; cotangent NULL: 1, of one number. */
bool tc_grad_with(const tc_tensor *y, const tc_tensor *cotangent, int n, tc_tensor_list wrt, int flags,
                  tc_tensor **out);
/* Forward mode: how y changes where wrt[i], tracked as above, changes by tangent[i] of its shape; the sum over i of
 * (dy/dwrt[i]) tangent[i], a result with the shape and dtype of y, not tracked.  0 where y does not depend on wrt.  The tape
 * is kept.  Costs about two backward passes, whatever n is. */
tc_tensor *tc_jvp(const tc_tensor *y, int n, tc_tensor_list wrt, tc_tensor_list tangent);

/* A function of tensors x[0], x[1], ..., which are borrowed, and of whatever `context` has; NULL: it failed. */
typedef tc_tensor *tc_function(tc_tensor *const *x, void *context);
/* The value f(x, context), one floating number, and out[i] = its gradient with respect to x[i], n of them, 0 where it does not
 * depend on it.  x need not be tracked: f gets leaves over the same memory, and gradients are recorded while it runs.
 * Neither the value nor the gradients are tracked.  NULL with an error, and NULLs in out. */
tc_tensor *tc_value_and_grad(tc_function *f, void *context, int n, tc_tensor_list x, tc_tensor **out);
/* The value f(x, context), tracked as if f had been called, but what f computed on the way from x to it is not kept for
 * gradients: it is computed again, from x, when they need it (Griewank, Walther: Algorithm 799, 2000).  What f returns and
 * what it computes from untracked tensors alone is kept, as is what belongs to a scope outside of f. */
tc_tensor *tc_checkpoint(tc_function *f, void *context, int n, tc_tensor_list x);

/* ---- one example and many -----------------------------------------------------------------------
 *
 * A function of one example, applied to all examples of a batch.  docs/vmap.md tells the rest. */

enum { TC_UNMAPPED = -1 - 0x7fffffff }; /* as an axis, INT_MIN: the operand is the same for all examples */

/* A function of tensors x[0], x[1], ..., which are borrowed, that sets its results y[0], y[1], ...: any tensors, which it
 * does not give away.  false: it failed. */
typedef bool tc_example_function(tc_tensor *const *x, void *context, tc_tensor **y);
/* f of each example: x[k] without its axis axes[k], which counts the examples of the batch (negative: from the end; NULL: 0
 * for all), or all of x[k] where that is TC_UNMAPPED.  out[j], j < m, has what f sets y[j] to, with the axis of the batch in
 * front of its own; a result that depends on no mapped operand is repeated.  Tracked as if f had been called.  Results have
 * one shape and dtype for all examples.  false with an error, and NULLs in out: no operand is mapped, sizes of the batch
 * differ or are 0, f failed. */
bool tc_vmap(tc_example_function *f, void *context, int n, tc_tensor_list x, const int *axes, int m,
             tc_tensor **out);

/* ---- modules ------------------------------------------------------------------------------------
 *
 * Compiled functions as files that tc-export made, called by name.  docs/export.md tells the rest. */

typedef struct tc_module tc_module;
/* Opens NAME.so.  Checks that the file is whole before any of it runs.  NULL with an error: it is missing, no module,
 * truncated or altered, or made for another version of libtcrt. */
tc_module *tc_module_open(const char *path);
/* No call may be under way.  Results stay valid, but not views of the module's constants.  NULL is fine. */
void tc_module_close(tc_module *m);
/* The name of function i = 0, 1, ...; NULL after the last one.  Texts belong to the module. */
const char *tc_module_name(const tc_module *m, int i);
/* Operand or result i of a function, its name and what TC_SHAPE says of it: "x f32[B,784]"; NULL after the last one. */
const char *tc_module_operand(const tc_module *m, const char *function, int i);
const char *tc_module_result(const tc_module *m, const char *function, int i);
/* Calls a function as C does, with its guards: n operands in the order of its parameters, borrowed, which it writes if its
 * source does; a C number is a tensor of one element.  out[i] is result i of nresult, owned as results are: what it
 * returns (a number as a tensor of rank 0), then what it stores to parameters tc_tensor **.  false with an error, and
 * NULLs in out: there is no such function, it takes or gives another number of tensors, or it failed. */
bool tc_module_call(tc_module *m, const char *function, int n, tc_tensor_list in, int nresult, tc_tensor **out);

/* ---- the runtime ----------------------------------------------------------------------------- */

/* Memory of freed tensors is kept for the next results, up to a cap (TC_CACHE=bytes, or with K, M, G; default 1G).
 * tc_trim returns it to the system, that of GPUs too, and gives the number of bytes. */
size_t tc_trim(void);
typedef struct tc_memory_stats {
  size_t live, cached;       /* bytes of tensors, and of the cache */
  uint64_t mallocs, reuses;  /* storages taken from the system, and from the cache, so far */
} tc_memory_stats;
tc_memory_stats tc_memory(void);                    /* of the CPU, all threads together */
tc_memory_stats tc_device_memory(tc_device device); /* bytes of a GPU's memory; no counts */

/* Counters of compiled functions: each segment, and each variant, of one has its own and counts as a function. */
typedef struct tc_stats {
  uint64_t functions;    /* how many are compiled into the program and its libraries */
  uint64_t ops, kernels; /* ops captured, kernels made of them */
  uint64_t hits;         /* calls that ran kernels */
  uint64_t packed;       /* of these, calls that first copied operands to row-major order */
  uint64_t fallbacks;    /* calls that ran the body because a guard failed, not because kernels are disabled */
} tc_stats;
tc_stats tc_stats_of(const char *function); /* sums over the functions of a name; NULL: over all */
void tc_stats_reset(void);                  /* hits, packed and fallbacks begin at 0 again */
void tc_stats_print(void);                  /* a table with a row for each function, to stderr */

/* Whether compiled functions run their kernels (true, the default) or their bodies (false), in all threads: for
 * comparisons within one program.  Returns what was set before.  TC_FALLBACK=mandatory keeps it false. */
bool tc_set_enabled(bool enabled);

/* The same with a third choice; returns what was set before.  TC_STANCE_FAIL_ON_FALLBACK: a call whose guards do not
 * hold records an error (TC_ERROR_FALLBACK) and prints it on stderr, as with TC_FALLBACK=disabled; its body still runs. */
typedef enum tc_stance {
  TC_STANCE_DEFAULT,         /* kernels where their guards hold */
  TC_STANCE_EAGER,           /* bodies only */
  TC_STANCE_FAIL_ON_FALLBACK
} tc_stance;
tc_stance tc_set_stance(tc_stance stance);

#define TC_VERSION "0.1.0"
const char *tc_version(void); /* TC_VERSION of the library that runs: a constant */

#include <tcompile/random.h>

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#ifndef TC_NO_LOCATIONS
#include <tcompile/locations.h>
#elif !defined(__cplusplus)
#define tc_scalar(value) TC_SCALAR_OF(value)
#endif
#endif
