#include "tests/common/loop_texts.h"

#include <string.h>

const loop_text loop_texts[] = {
    /* 3 x 3 places around each element, of which those outside are 0 */
    {"a convolution",
     "program conv: 1 kernels\n"
     "buffer 0 input 0 x f32[N,3,5,4]\n"
     "buffer 1 input 1 w f32[6,3,3,3]\n"
     "buffer 2 output 0 y f32[N,6,5,4]\n"
     "kernel conv_1\n"
     "  matmul f32 m < 20*N (i < N, p < 5, q < 4) n < 6 k < 27 (c < 3, r < 3, s < 3)\n"
     "    a %15  b %16\n"
     "      %1 = index p + r - 1 : i64\n"
     "      %2 = index q + s - 1 : i64\n"
     "      %3 = 0 : i64\n"
     "      %4 = 5 : i64\n"
     "      %5 = 4 : i64\n"
     "      %6 = ge %1 %3 : bool\n"
     "      %7 = lt %1 %4 : bool\n"
     "      %8 = ge %2 %3 : bool\n"
     "      %9 = lt %2 %5 : bool\n"
     "      %10 = logical_and %6 %7 : bool\n"
     "      %11 = logical_and %8 %9 : bool\n"
     "      %14 = logical_and %10 %11 : bool\n"
     "      %15 = load x[60*i + 20*c + 4*p + 4*r + q + s - 5] where %14 : f32\n"
     "      %16 = load w[27*n + k] : f32\n"
     "    epilogue\n"
     "      %17 = #0 : f32\n"
     "      store y.2[120*i + 20*n + 4*p + q] %17\n",
     "graph g\n%1 = param f32[N,3,5,4] \"x\"\n%2 = param f32[6,3,3,3] \"w\"\n"
     "%3 = const weak f64 0\n%4 = pad %1 %3 before=[0,0,1,1] after=[0,0,1,1]\n"
     "%5 = unfold %4 axis=2 size=3 step=1\n%6 = unfold %5 axis=3 size=3 step=1\n"
     "%7 = permute %6 axes=[0,2,3,1,4,5]\n%8 = reshape %7 dims=[20*N,27]\n"
     "%9 = reshape %2 dims=[6,27]\n%10 = permute %9 axes=[1,0]\n%11 = matmul %8 %10\n"
     "%12 = reshape %11 dims=[N,5,4,6]\n%13 = permute %12 axes=[0,3,1,2]\nret %13\n"},
    /* max(x v, 0) w */
    {"two products",
     "program mlp: 2 kernels in 2 launches, workspace 32*M bytes\n"
     "buffer 0 output 0 y f32[M,4]\n"
     "buffer 1 input 0 x f32[M,6]\n"
     "buffer 2 input 1 v f32[6,8]\n"
     "buffer 3 input 2 w f32[8,4]\n"
     "buffer 4 arena h f32[M,8] at 0\n"
     "kernel first\n"
     "  matmul f32 m < M n < 8 k < 6\n"
     "    a %1  b %2\n"
     "      %1 = load x[6*m + k] : f32\n"
     "      %2 = load v[8*k + n] : f32\n"
     "    epilogue\n"
     "      %3 = #0 : f32\n"
     "      %4 = 0.0 : f32\n"
     "      %5 = maximum %3 %4 : f32\n"
     "      store h.4[8*m + n] %5\n"
     "kernel second\n"
     "  matmul f32 m < M n < 4 k < 8\n"
     "    a %1  b %2\n"
     "      %1 = load h.4[8*m + k] : f32\n"
     "      %2 = load w[4*k + n] : f32\n"
     "    epilogue\n"
     "      %3 = #0 : f32\n"
     "      store y.0[4*m + n] %3\n",
     "graph g\n%1 = param f32[M,6] \"x\"\n%2 = param f32[6,8] \"v\"\n%3 = param f32[8,4] \"w\"\n"
     "%4 = matmul %1 %2\n%5 = relu %4\n%6 = matmul %5 %3\nret %6\n"},
    /* tanh(max(x v, 0) w), no array between */
    {"a chain of products",
     "program mlp: 1 kernels\n"
     "buffer 0 output 0 y bf16[M,20]\n"
     "buffer 1 input 0 x bf16[M,24]\n"
     "buffer 2 input 1 v bf16[24,K]\n"
     "buffer 3 input 2 w bf16[K,20]\n"
     "kernel mlp\n"
     "  matmul bf16 m < M n < 20 k < K  inner d < 24\n"
     "    inner\n"
     "    a %1  b %2\n"
     "      %1 = load x[24*m + d] : f32\n"
     "      %2 = load v[K*d + k] : f32\n"
     "    outer\n"
     "    a %5  b %6\n"
     "      %3 = #1 : f32\n"
     "      %4 = 0.0 : f32\n"
     "      %5 = maximum %3 %4 : f32\n"
     "      %6 = load w[20*k + n] : f32\n"
     "    epilogue\n"
     "      %7 = #0 : f32\n"
     "      %8 = tanh %7 : f32\n"
     "      store y.0[20*m + n] %8\n",
     "graph g\n%1 = param bf16[M,24] \"x\"\n%2 = param bf16[24,K] \"v\"\n%3 = param bf16[K,20] \"w\"\n"
     "%4 = matmul %1 %2\n%5 = relu %4\n%6 = matmul %5 %3\n%7 = tanh %6\nret %7\n"},
    /* softmax(q k' / 4) v, no array between */
    {"attention",
     "program attention: 1 kernels\n"
     "buffer 0 output 0 y bf16[B,M,20]\n"
     "buffer 1 input 0 q bf16[B,M,24]\n"
     "buffer 2 input 1 k bf16[B,1<=K<=4096,24]\n"
     "buffer 3 input 2 v bf16[B,K,20]\n"
     "kernel attention\n"
     "  matmul bf16 b < B m < M n < 20 k < K  inner d < 24\n"
     "    inner\n"
     "    a %1  b %2\n"
     "      %1 = load q[24*M*b + 24*m + d] : f32\n"
     "      %2 = load k[24*K*b + 24*k + d] : f32\n"
     "    rows\n"
     "      %3 = #1 : f32\n"
     "      %4 = 0.25 : f32\n"
     "      %5 = mul %3 %4 : f32\n"
     "      %6 = 1.0 : f32\n"
     "      %7 = #2 : f32\n"
     "      %8 = sub %5 %7 : f32\n"
     "      %9 = exp %8 : f32\n"
     "      #2, #3 = online_softmax %5, %6 of terms %9 : f32\n"
     "    outer\n"
     "    a %9  b %10\n"
     "      %10 = load v[20*K*b + 20*k + n] : f32\n"
     "    epilogue\n"
     "      %11 = #0 : f32\n"
     "      %12 = #3 : f32\n"
     "      %13 = div %11 %12 : f32\n"
     "      store y.0[20*M*b + 20*m + n] %13\n",
     "graph g\n%1 = param bf16[B,M,24] \"q\"\n%2 = param bf16[B,K,24] \"k\"\n%3 = param bf16[B,K,20] \"v\"\n"
     "%4 = permute %2 axes=[0,2,1]\n%5 = matmul %1 %4\n%6 = const weak f64 0.25\n%7 = mul %5 %6\n%8 = softmax %7 axis=2\n"
     "%9 = matmul %8 %3\nret %9\n"},
    {"attention, and the logarithm of each row's sum",
     "program attention: 1 kernels\n"
     "buffer 0 output 0 y bf16[B,M,20]\n"
     "buffer 1 output 1 l f32[B,M]\n"
     "buffer 2 input 0 q bf16[B,M,24]\n"
     "buffer 3 input 1 k bf16[B,1<=K<=4096,24]\n"
     "buffer 4 input 2 v bf16[B,K,20]\n"
     "kernel attention\n"
     "  matmul bf16 b < B m < M n < 20 k < K  inner d < 24\n"
     "    inner\n"
     "    a %1  b %2\n"
     "      %1 = load q[24*M*b + 24*m + d] : f32\n"
     "      %2 = load k[24*K*b + 24*k + d] : f32\n"
     "    rows\n"
     "      %3 = #1 : f32\n"
     "      %6 = 1.0 : f32\n"
     "      %7 = #2 : f32\n"
     "      %8 = sub %3 %7 : f32\n"
     "      %9 = exp %8 : f32\n"
     "      #2, #3 = online_softmax %3, %6 of terms %9 : f32\n"
     "    finish\n"
     "      %12 = #3 : f32\n"
     "      %14 = log %12 : f32\n"
     "      %15 = add %7 %14 : f32\n"
     "      store l.1[M*b + m] %15\n"
     "    outer\n"
     "    a %9  b %10\n"
     "      %10 = load v[20*K*b + 20*k + n] : f32\n"
     "    epilogue\n"
     "      %11 = #0 : f32\n"
     "      %13 = div %11 %12 : f32\n"
     "      store y.0[20*M*b + 20*m + n] %13\n",
     "graph g\n%1 = param bf16[B,M,24] \"q\"\n%2 = param bf16[B,K,24] \"k\"\n%3 = param bf16[B,K,20] \"v\"\n"
     "%4 = cast %1 dtype=f32\n%5 = cast %2 dtype=f32\n%6 = cast %3 dtype=f32\n%7 = permute %5 axes=[0,2,1]\n"
     "%8 = matmul %4 %7\n%9 = softmax %8 axis=2\n%10 = matmul %9 %6\n%11 = cast %10 dtype=bf16\n"
     "%12 = logsumexp %8 axes=[2] keep=0\nret %11 %12\n"},
    {"a product with what two products make",
     "program cotangents: 1 kernels\n"
     "buffer 0 output 0 y bf16[B,M,20]\n"
     "buffer 1 input 0 q bf16[B,M,24]\n"
     "buffer 2 input 1 k bf16[B,1<=K<=4096,24]\n"
     "buffer 3 input 2 g bf16[B,M,8]\n"
     "buffer 4 input 3 v bf16[B,K,8]\n"
     "buffer 5 input 4 w bf16[B,20,K]\n"
     "kernel cotangents\n"
     "  matmul bf16 b < B m < M n < 20 k < K  inner d < 24 l < 8\n"
     "    inner\n"
     "    a %1  b %2\n"
     "      %1 = load q[24*M*b + 24*m + d] : f32\n"
     "      %2 = load k[24*K*b + 24*k + d] : f32\n"
     "    inner\n"
     "    a %3  b %4\n"
     "      %3 = load g[8*M*b + 8*m + l] : f32\n"
     "      %4 = load v[8*K*b + 8*k + l] : f32\n"
     "    outer\n"
     "    a %8  b %9\n"
     "      %5 = #1 : f32\n"
     "      %6 = #4 : f32\n"
     "      %7 = tanh %5 : f32\n"
     "      %8 = mul %7 %6 : f32\n"
     "      %9 = load w[20*K*b + K*n + k] : f32\n"
     "    epilogue\n"
     "      %10 = #0 : f32\n"
     "      store y.0[20*M*b + 20*m + n] %10\n",
     "graph g\n%1 = param bf16[B,M,24] \"q\"\n%2 = param bf16[B,K,24] \"k\"\n%3 = param bf16[B,M,8] \"g\"\n"
     "%4 = param bf16[B,K,8] \"v\"\n%5 = param bf16[B,20,K] \"w\"\n%6 = cast %1 dtype=f32\n%7 = cast %2 dtype=f32\n"
     "%8 = cast %3 dtype=f32\n%9 = cast %4 dtype=f32\n%10 = permute %7 axes=[0,2,1]\n%11 = matmul %6 %10\n"
     "%12 = permute %9 axes=[0,2,1]\n%13 = matmul %8 %12\n%14 = tanh %11\n%15 = mul %14 %13\n%16 = cast %15 dtype=bf16\n"
     "%17 = permute %5 axes=[0,2,1]\n%18 = matmul %16 %17\nret %18\n"},
    {"a product with a band of another",
     "program band: 1 kernels\n"
     "buffer 0 output 0 y bf16[M,20]\n"
     "buffer 1 input 0 q bf16[M,24]\n"
     "buffer 2 input 1 k bf16[1<=K<=4096,24]\n"
     "buffer 3 input 2 v bf16[K,20]\n"
     "kernel band\n"
     "  matmul bf16 m < M n < 20 k < K  inner d < 24\n"
     "    inner\n"
     "    a %1  b %2\n"
     "      %1 = load q[24*m + d] : f32\n"
     "      %2 = load k[24*k + d] : f32\n"
     "    outer\n"
     "    a %12  b %13\n"
     "      %3 = #1 : f32\n"
     "      %4 = index k - m : i64\n"
     "      %5 = index 2 : i64\n"
     "      %6 = gt %4 %5 : bool\n"
     "      %7 = 0.0 : f32\n"
     "      %8 = where %6 %7 %3 : f32\n"
     "      %9 = index m - k : i64\n"
     "      %10 = index 65 : i64\n"
     "      %11 = gt %9 %10 : bool\n"
     "      %12 = where %11 %7 %8 : f32\n"
     "      %13 = load v[20*k + n] : f32\n"
     "    epilogue\n"
     "      %14 = #0 : f32\n"
     "      store y.0[20*m + n] %14\n",
     "graph g\n%1 = param bf16[M,24] \"q\"\n%2 = param bf16[K,24] \"k\"\n%3 = param bf16[K,20] \"v\"\n"
     "%4 = permute %2 axes=[1,0]\n%5 = matmul %1 %4\n%6 = tril %5 k=2\n%7 = triu %6 k=-65\n%8 = matmul %7 %3\nret %8\n"},
};
const int loop_text_count = sizeof loop_texts / sizeof *loop_texts;

void loop_text_take(tc_program *p, const tc_program *by) {
  tc_graph *g = p->graph;
  tc_arena *arena = p->arena;
  *p = *by;
  p->graph = g;
  p->arena = arena;
}

static int64_t size_named(const char *name, int set) {
  static const struct {
    char name;
    int64_t size[LOOP_TEXT_SETS];
  } sizes[] = {{'B', {2, 1, 3}}, {'M', {5, 67, 130}}, {'K', {70, 33, 401}}, {'N', {2, 1, 3}}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (sizes[i].name == *name) return sizes[i].size[set];
  return 4;
}

static int64_t size_of(tc_graph *g, tc_dim d, int set) {
  int64_t sym[16] = {0}, size = 0;
  tc_dims *c = tc_graph_dims(g);
  for (uint32_t i = 0; i < tc_dims_sym_count(c) && i < 16; i++) sym[i] = size_named(tc_dims_sym(c, i)->name, set);
  return tc_dim_eval(c, d, sym, &size) ? size : 0;
}

interp_array *loop_text_input(tc_graph *g, uint32_t i, int set) {
  const tc_type *t = &tc_graph_input_at(g, i)->type;
  int64_t dim[TC_MAX_RANK];
  for (int k = 0; k < t->rank; k++) dim[k] = size_of(g, t->dim[k], set);
  interp_array *a = interp_new((tc_dtype)t->dtype, t->rank, dim);
  for (int64_t k = 0; k < a->count; k++) interp_set(a, k, (double)((k * 7919 + i * 31) % 17) / 8 - 1);
  return a;
}
