/* print.c - tc_print: "f32[2,3]", then the elements as nested lists, the middle of long
 * axes left out. */
#include <inttypes.h>
#include <stdio.h>

#include "runtime/libtcrt/src/device.h"

enum { MOST_ELEMENTS = 1000, EDGE = 3 }; /* past MOST_ELEMENTS an axis shows EDGE at either end */

typedef struct {
  const tc_tensor *x;
  bool cut;
  int width; /* of the widest element; 0: measuring */
  int measured;
} printer;

static int format_element(char out[32], const tc_tensor *x, const char *at) {
  tc_dtype d = (tc_dtype)x->key.dtype;
  int64_t i;
  double f;
  if (tc_is_float(d)) {
    tc_load_f(&f, d, at, 1, 1);
    if (f != f) return snprintf(out, 32, "nan"); /* its sign means nothing */
    return snprintf(out, 32, d == TC_F64 ? "%.8g" : "%.6g", f);
  }
  tc_load_i(&i, d, at, 1, 1);
  if (d == TC_BOOL) return snprintf(out, 32, "%s", i ? "true" : "false");
  return snprintf(out, 32, "%" PRId64, i);
}

static void visit_element(printer *p, const char *at) {
  char text[32];
  int n = format_element(text, p->x, at);
  if (p->width) printf("%*s", p->width, text);
  else if (n > p->measured) p->measured = n;
}

/* Between neighbours along an axis: a comma, then a new line for all but the innermost. */
static void separate(const printer *p, int axis) {
  int lines = p->x->key.rank - 1 - axis;
  if (!p->width) return;
  fputs(lines ? "," : ", ", stdout);
  for (int i = 0; i < lines; i++) putchar('\n');
  if (lines) printf("%*s", axis + 1, "");
}

static void visit(printer *p, int axis, const char *at) {
  const tc_tensor *x = p->x;
  if (axis == x->key.rank) {
    visit_element(p, at);
    return;
  }
  int64_t n = x->dim[axis], step = x->stride[axis] * (int64_t)tc_dtype_size((tc_dtype)x->key.dtype);
  bool cut = p->cut && n > 2 * EDGE;
  if (p->width) putchar('[');
  for (int64_t i = 0; i < n; i++) {
    if (i > 0) separate(p, axis);
    if (cut && i == EDGE) {
      if (p->width) fputs("...", stdout);
      separate(p, axis);
      i = n - EDGE;
    }
    visit(p, axis + 1, at + i * step);
  }
  if (p->width) putchar(']');
}

void tc_print(const tc_tensor *x) {
  if (!x || !tc_given("tc_print", 1, x)) {
    const char *error = tc_error();
    printf("NULL%s%s\n", error ? ": " : "", error ? error : "");
    return;
  }
  bool there = x->key.device != TC_CPU;
  printf("%s%s%s\n", tc_describe(x).text, there ? " on " : "",
         there ? tc_describe_place(tc_place(x)).text : "");
  if (tc_elements(x) == 0) {
    puts("[]");
    return;
  }
  tc_tensor *copy;
  if (!(x = tc_on_host("tc_print", x, &copy))) {
    printf("(%s)\n", tc_error());
    return;
  }
  printer p = {x, tc_elements(x) > MOST_ELEMENTS, 0, 1};
  visit(&p, 0, x->data);
  p.width = p.measured;
  visit(&p, 0, x->data);
  putchar('\n');
  tc_free(copy);
}
