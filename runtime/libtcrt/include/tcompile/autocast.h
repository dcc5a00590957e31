/* autocast.h - what mixed precision (TC_AUTOCAST) needs beside its scopes: the scaling of losses in f16.
 *
 *   tc_loss_scaler s = tc_loss_scaler_new(tc_loss_scaler_defaults());
 *   ...
 *   TC_AUTOCAST(TC_F16) loss = loss_of(...);                            // in each step
 *   if (!tc_grad(tc_scaled_loss(&s, loss), n, p, g)) return NULL;       // outside of the scope
 *   tc_unscale_(&s, n, g);
 *   if (tc_scaler_found_inf(&s) == 0) tc_adamw(n, p, g, ...);
 *   tc_scaler_update(&s);
 *
 * bf16 has the range of f32 and needs none of it.  The state is in tensors, so that a compiled step can hold it; the branch on
 * tc_scaler_found_inf, a C number, ends a segment of the step.  tc_scaler_save and tc_scaler_undo do without a branch: one
 * graph, and on a GPU nothing that the host waits for. */
#ifndef TCOMPILE_AUTOCAST_H
#define TCOMPILE_AUTOCAST_H

#include <tcompile.h>
#include <tcompile/library_begin.h>

/* x as an operand of a product is inside of TC_AUTOCAST: f32 or 16-bit x in the dtype of the scope; x itself elsewhere, and
 * of other dtypes.  For functions whose products have it as an operand in other forms. */
static inline const tc_tensor *tc_as_in_product(const tc_tensor *x) {
  const tc_dtype scope = tc_autocast_dtype(), d = x ? tc_dtype_of(x) : TC_F64;
  if (scope == TC_DTYPE_COUNT || d == scope || (d != TC_F32 && d != TC_F16 && d != TC_BF16)) return x;
  return tc_cast(x, scope);
}

/* ---- loss scaling ------------------------------------------------------------------------------ */

typedef struct tc_loss_scaler_options {
  double scale;   /* at first */
  double growth;  /* factor after `interval` steps in a row whose gradients were finite */
  double backoff; /* factor after one with an infinity or NaN */
  int interval;
} tc_loss_scaler_options;

/* 65536, 2, 0.5, 2000, as torch.amp.GradScaler. */
static inline tc_loss_scaler_options tc_loss_scaler_defaults(void) {
  tc_loss_scaler_options o = {65536, 2, 0.5, 2000};
  return o;
}

/* Micikevicius et al., Mixed precision training, 2018; as torch.amp.GradScaler. */
typedef struct tc_loss_scaler {
  tc_tensor *scale TC_SHAPE("f32[]");
  tc_tensor *finite_steps TC_SHAPE("f32[]"); /* in a row */
  tc_tensor *found_inf TC_SHAPE("f32[]");    /* 1 where a gradient of this step is not finite, else 0 */
  tc_loss_scaler_options o;
} tc_loss_scaler;

/* Tensors owned as results are, on the default device; NULLs with an error. */
static inline tc_loss_scaler tc_loss_scaler_new(tc_loss_scaler_options o) {
  tc_loss_scaler s = {tc_full(TC_SCALAR_SHAPE, o.scale, TC_F32), tc_zeros(TC_SCALAR_SHAPE, TC_F32),
                      tc_zeros(TC_SCALAR_SHAPE, TC_F32), o};
  return s;
}

/* loss * scale, in f32, or f64 of such a loss. */
static inline tc_tensor *tc_scaled_loss(const tc_loss_scaler *s, const tc_tensor *loss) { return tc_mul(loss, s->scale); }

/* g <- g / scale for each of the n gradients, and found_inf of all of them.  g are floating, of the dtypes of their parameters:
 * f32 where autocast is used. */
static inline bool tc_unscale_(tc_loss_scaler *s, int n, tc_tensor *const *g) {
  bool done = true;
  TC_NO_GRAD TC_SCOPE {
    const tc_tensor *inverse = tc_rdiv_s(s->scale, 1);
    const tc_tensor *finite = tc_full(TC_SCALAR_SHAPE, 1, TC_BOOL);
    for (int i = 0; i < n; i++) {
      finite = tc_logical_and(finite, tc_all(tc_isfinite(g[i]), TC_ALL, false));
      done = tc_mul_(g[i], inverse) && done;
    }
    done = tc_copy_(s->found_inf, tc_logical_not(finite)) && done;
  }
  return done;
}

/* Whether a gradient of this step was infinite or NaN, as a C number, 0 or 1, for which a GPU is waited for. */
static inline double tc_scaler_found_inf(const tc_loss_scaler *s) { return tc_item(s->found_inf); }

/* After the step: sets the scale of the next one.  false with an error. */
static inline bool tc_scaler_update(tc_loss_scaler *s) {
  bool done = false;
  TC_NO_GRAD TC_SCOPE {
    const tc_tensor *bad = tc_ne_s(s->found_inf, 0), *steps = tc_add_s(s->finite_steps, 1);
    const tc_tensor *full = tc_ge_s(steps, s->o.interval);
    const tc_tensor *grown = tc_where(full, tc_mul_s(s->scale, s->o.growth), s->scale);
    /* one that would be infinite stays */
    const tc_tensor *next = tc_where(bad, tc_mul_s(s->scale, s->o.backoff), tc_where(tc_isfinite(grown), grown, s->scale));
    const tc_tensor *none = tc_zeros_like(steps);
    done = tc_copy_(s->finite_steps, tc_where(tc_logical_or(bad, full), none, steps)) != NULL;
    done = tc_copy_(s->scale, next) && done;
  }
  return done;
}

/* ---- a step that may be undone ----------------------------------------------------------------- */

/* kept[i] <- a copy of t[i], parameters and states of an optimiser: owned as results are.  In a compiled step there are no
 * copies: the old values are read before the new ones are written.  false with an error, and NULLs. */
static inline bool tc_scaler_save(int n, tc_tensor *const *t, tc_tensor **kept) {
  bool done = true;
  TC_NO_GRAD {
    for (int i = 0; i < n; i++) done = (kept[i] = tc_clone(t[i])) && done;
  }
  for (int i = 0; i < n && !done; i++) {
    tc_free(kept[i]);
    kept[i] = NULL;
  }
  return done;
}

/* t[i] <- kept[i] where a gradient of this step was not finite. */
static inline bool tc_scaler_undo(const tc_loss_scaler *s, int n, tc_tensor *const *t, tc_tensor *const *kept) {
  bool done = true;
  TC_NO_GRAD TC_SCOPE {
    const tc_tensor *bad = tc_ne_s(s->found_inf, 0);
    for (int i = 0; i < n; i++) done = tc_copy_(t[i], tc_where(bad, kept[i], t[i])) && done;
  }
  return done;
}

#include <tcompile/library_end.h>
#endif
