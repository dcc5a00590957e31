/* curve.h - the learning curve as a drawing. */
#ifndef SAMPLE_CURVE_H
#define SAMPLE_CURVE_H

/* What one epoch came to. */
typedef struct epoch {
  double loss;     /* mean over its steps */
  double accuracy; /* on the test images, 0..1 */
} epoch;

/* Writes an SVG file: the loss of each epoch, and the error on the test images; a message and exit when that
 * fails. */
void draw_curve(const char *path, const epoch *e, int n);

#endif
