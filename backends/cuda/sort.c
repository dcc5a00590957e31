/* sort.c - sorts: a call of what the prelude has (prelude/36_sort.cu), and its launch. */
#include "backends/cuda/emit.h"
#include "backends/cuda/nest/nest.h"
#include "backends/cuda/schedule/sort.h"

static void put_dim(const tc_program *p, tc_dim d, tc_buf *out) {
  tc_put(out, "(");
  tc_print_dim(p, d, out);
  tc_put(out, ")");
}

static void put_points(const tc_program *p, const tc_sort_loop *s, tc_buf *out) {
  put_dim(p, s->outer, out);
  tc_put(out, " * ");
  put_dim(p, s->inner, out);
}

static void put_body(const tc_kernel *k, const tc_program *p, tc_buf *out) {
  const tc_sort_loop *s = &k->sort;
  tc_buf text = {0};
  tc_put(&text, "  tc_sort_rows(b1, b0, ");
  put_points(p, s, &text);
  tc_put(&text, ", ");
  put_dim(p, s->n, &text);
  tc_put(&text, ", ");
  put_dim(p, s->inner, &text);
  tc_put(&text, ", ");
  put_dim(p, s->k, &text);
  tc_putf(&text, ", %s, group);\n", s->descending ? "true" : "false");
  tc_put(out, "  typedef tc_i64 tc_int;\n");
  tc_cuda_put_symbols(p, text.text ? text.text : "", out);
  tc_put(out, text.text ? text.text : "");
  if (text.failed) out->failed = true;
  tc_buf_free(&text);
}

static void put_function(const tc_kernel *k, const tc_program *p, const char *body, tc_buf *out) {
  tc_print_fused(k, p, out);
  tc_putf(out, "extern \"C\" __global__ void __launch_bounds__(%d) @NAME@_0(\n    ",
          TC_CUDA_LARGEST_GROUP);
  tc_cuda_put_parameters(k, p, body, TC_CUDA_DECLARE, out);
  tc_put(out, ") {\n");
  tc_cuda_put_wait(k, p, body, false, out);
  tc_putf(out, "%s}\n", body);
}

static void put_launcher(const tc_kernel *k, const tc_program *p, const char *body, tc_buf *out) {
  const tc_sort_loop *s = &k->sort;
  tc_buf text = {0};
  tc_put(&text, "  const int64_t points = ");
  put_points(p, s, &text);
  tc_put(&text, ", n = ");
  put_dim(p, s->n, &text);
  tc_put(&text, ", k = ");
  put_dim(p, s->k, &text);
  tc_putf(&text,
          ";\n  int64_t grid, block;\n"
          "  const int64_t group = tc_cuda_sort(c, points, n, k, %d, &grid, &block);\n"
          "  const int64_t shared = tc_cuda_sort_bytes(group, %d);\n"
          "  void *const args[] = {",
          (int)tc_cuda_kernel_schedule_of(k)->room, tc_cuda_sort_number_bytes(s));
  tc_cuda_put_parameters(k, p, body, TC_CUDA_ADDRESS, &text);
  tc_put(&text, "};\n  return tc_cuda_follow(c, &@NAME@_image, 0, grid, block, shared, args,\n"
                "                        sizeof args / sizeof *args);\n}\n");
  tc_cuda_put_host_head(k, p, "@NAME@", "", text.text ? text.text : "", out);
  tc_put(out, text.text ? text.text : "");
  if (text.failed) out->failed = true;
  tc_buf_free(&text);
}

bool tc_cuda_put_sort(const tc_kernel *k, const tc_program *p, tc_buf *device, tc_buf *host,
                      uint32_t *functions) {
  tc_buf body = {0};
  put_body(k, p, &body);
  const bool ok = body.text && !body.failed;
  if (ok) {
    put_function(k, p, body.text, device);
    put_launcher(k, p, body.text, host);
  }
  *functions = 1;
  tc_buf_free(&body);
  return ok && !device->failed && !host->failed;
}
