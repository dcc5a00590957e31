#include "curve.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 360, MARGIN = 48 };

static double x_of(int i, int n) { return MARGIN + (WIDTH - 2.0 * MARGIN) * (i + 1) / n; }

static double y_of(double v, double top) {
  return HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * v / top;
}

static double loss_of(const epoch *e) { return e->loss; }
static double error_of(const epoch *e) { return 1 - e->accuracy; }

static void draw_line(FILE *f, const epoch *e, int n, double (*of)(const epoch *), double top,
                      const char *colour, const char *name) {
  fprintf(f, "<polyline fill='none' stroke='%s' stroke-width='2' points='", colour);
  for (int i = 0; i < n; i++) fprintf(f, "%.1f,%.1f ", x_of(i, n), y_of(of(&e[i]), top));
  fprintf(f, "'/>\n<text x='%d' y='%.1f' fill='%s' text-anchor='end'>%s %.3f</text>\n",
          WIDTH - MARGIN, y_of(of(&e[n - 1]), top) - 6, colour, name, of(&e[n - 1]));
}

static void draw_axes(FILE *f, int n, double top) {
  fprintf(f, "<path d='M%d %dV%dH%d' fill='none' stroke='black'/>\n", MARGIN, MARGIN,
          HEIGHT - MARGIN, WIDTH - MARGIN);
  for (int i = 0; i <= 4; i++)
    fprintf(f, "<text x='%d' y='%.1f' text-anchor='end'>%.2f</text>\n", MARGIN - 6,
            y_of(top * i / 4, top) + 4, top * i / 4);
  for (int i = 0; i < n; i++)
    fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%d</text>\n", x_of(i, n),
            HEIGHT - MARGIN + 18, i + 1);
  fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>epoch</text>\n", WIDTH / 2, HEIGHT - 8);
}

void draw_curve(const char *path, const epoch *e, int n) {
  FILE *f = fopen(path, "w");
  if (f) {
    double top = 0;
    for (int i = 0; i < n; i++) {
      if (loss_of(&e[i]) > top) top = loss_of(&e[i]);
      if (error_of(&e[i]) > top) top = error_of(&e[i]);
    }
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
            "font-family='sans-serif' font-size='12'>\n<rect width='100%%' height='100%%' "
            "fill='white'/>\n",
            WIDTH, HEIGHT);
    draw_axes(f, n, top);
    draw_line(f, e, n, loss_of, top, "steelblue", "loss");
    draw_line(f, e, n, error_of, top, "firebrick", "test error");
    fprintf(f, "</svg>\n");
  }
  if (f && fclose(f) == 0) return;
  perror(path);
  exit(1);
}
