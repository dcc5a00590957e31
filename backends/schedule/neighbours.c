/* neighbours.c - see neighbours.h. */
#include "backends/schedule/neighbours.h"

#include <string.h>

#include "backends/schedule/words_impl.h"

typedef struct search {
  const tc_schedule_words *w;
  tc_program *p;
  tc_kernel *k;
  const tc_schedule *from;
  tc_schedule_neighbour_fn *each;
  void *self;
} search;

static void *copy(const search *x, const void *from, size_t bytes) {
  void *made = tc_arena_alloc(x->p->arena, bytes + 1);
  if (made && bytes) memcpy(made, from, bytes);
  return made;
}

/* Of a schedule with copies of its nests, variants of nest n and of decisions of variant v
 * there. */
static tc_schedule *copy_schedule(const search *x, uint32_t n, uint32_t v) {
  tc_schedule *s = copy(x, x->from, sizeof *s);
  if (!s) return NULL;
  s->line = NULL;
  s->kernel = copy(x, x->from->kernel, x->w->kernel.size);
  s->nest = copy(x, x->from->nest, x->k->nnest * sizeof *s->nest);
  if (!s->kernel || !s->nest || n == x->k->nnest) return s->kernel && s->nest ? s : NULL;
  tc_schedule_nest *nest = &s->nest[n];
  nest->line = NULL;
  nest->variant = copy(x, nest->variant, nest->nvariant * sizeof *nest->variant);
  if (!nest->variant) return NULL;
  for (uint32_t i = 0; i < nest->nvariant; ++i) nest->variant[i].line = NULL;
  tc_schedule_variant *variant = &nest->variant[v];
  variant->nest = copy(x, variant->nest, x->w->nest.size);
  variant->stage = copy(x, variant->stage, x->k->nest[n].nstage * x->w->stage.size);
  return variant->nest && variant->stage ? s : NULL;
}

/* Hands it over if the verifier allows it. */
static bool offer(const search *x, const tc_schedule *s, const char *change) {
  tc_buf why = {0};
  x->k->schedule = s;
  const bool allowed = tc_schedule_verify_kernel(x->w, x->p, x->k, &why);
  x->k->schedule = x->from;
  tc_buf_free(&why);
  return !allowed || x->each(x->self, s, change);
}

/* ---- one decision ---------------------------------------------------------------------------- */

/* Where it stands. */
typedef struct site {
  uint32_t nest, variant; /* nest: their number: a decision of the kernel */
  int stage;              /* -1: of the nest */
  const tc_schedule_word *word;
} site;

static void *fields_of(const search *x, const tc_schedule *s, const site *at) {
  if (at->nest == x->k->nnest) return (void *)s->kernel;
  const tc_schedule_variant *v = &s->nest[at->nest].variant[at->variant];
  return at->stage < 0 ? (void *)v->nest : (void *)tc_schedule_stage(x->w, v, (uint32_t)at->stage);
}

static bool offer_site(const search *x, const tc_schedule *s, const site *at) {
  const void *fields = fields_of(x, s, at);
  tc_buf change = {0};
  if (at->nest < x->k->nnest && x->k->nnest > 1) tc_putf(&change, "nest %u ", at->nest);
  if (at->stage >= 0) tc_putf(&change, "stage %d ", at->stage);
  if (tc_word_is_absent(at->word, fields)) tc_putf(&change, "no %s", at->word->word);
  else tc_word_print(at->word, fields, at->nest < x->k->nnest ? &x->k->nest[at->nest] : NULL, &change);
  const bool ok = !change.failed && offer(x, s, change.text);
  tc_buf_free(&change);
  return ok;
}

/* A copy whose field is to be changed. */
static void *field_in_copy(const search *x, const site *at, tc_schedule **s) {
  *s = copy_schedule(x, at->nest, at->variant);
  return *s ? (char *)fields_of(x, *s, at) + at->word->offset : NULL;
}

static bool try_count(const search *x, const site *at, int64_t value) {
  tc_schedule *s;
  int64_t *field = field_in_copy(x, at, &s);
  if (!field) return false;
  *field = value ? value : at->word->absent;
  return offer_site(x, s, at);
}

/* The next smaller and the next larger value of the list, and the absent one. */
static bool try_counts(const search *x, const site *at) {
  const int64_t now =
      *(const int64_t *)((const char *)fields_of(x, x->from, at) + at->word->offset);
  int64_t below = -1, above = -1;
  bool listed = false; /* an absent word stays so where the list does not have that */
  for (const int64_t *t = at->word->tries; *t >= 0; ++t)
    listed |= *t == 0 || *t == at->word->absent;
  if (!listed && now == at->word->absent) return true;
  for (const int64_t *t = at->word->tries; *t >= 0; ++t) {
    const int64_t value = *t ? *t : at->word->absent;
    if (value < now) below = *t;
    else if (value > now && above < 0) above = *t;
  }
  const bool drop = !at->word->tries[0] && now != at->word->absent && below;
  return (!drop || try_count(x, at, 0)) && (below < 0 || try_count(x, at, below)) &&
         (above < 0 || try_count(x, at, above));
}

static bool try_flag(const search *x, const site *at) {
  tc_schedule *s;
  bool *field = field_in_copy(x, at, &s);
  if (!field) return false;
  *field = !*field;
  return offer_site(x, s, at);
}

static bool try_choice(const search *x, const site *at, int n) {
  const int now = *(const int *)((const char *)fields_of(x, x->from, at) + at->word->offset);
  for (int i = -1; i < n; ++i) {
    tc_schedule *s;
    if (i == now) continue;
    int *field = field_in_copy(x, at, &s);
    if (!field) return false;
    *field = i;
    if (!offer_site(x, s, at)) return false;
  }
  return true;
}

/* All numbers times up / down; up 0: without them. */
static bool try_list(const search *x, const site *at, uint32_t up, uint32_t down) {
  tc_schedule *s;
  tc_schedule_list *field = field_in_copy(x, at, &s);
  if (!field) return false;
  uint32_t *scaled = tc_arena_alloc(x->p->arena, (field->n + 1u) * sizeof *scaled);
  if (!scaled) return false;
  for (uint32_t i = 0; i < field->n; ++i) {
    scaled[i] = field->at[i] * up / down;
    if (up && !scaled[i]) return true;
  }
  *field = (tc_schedule_list){up ? field->n : 0, scaled};
  return offer_site(x, s, at);
}

static bool try_lists(const search *x, const site *at) {
  if (tc_word_is_absent(at->word, fields_of(x, x->from, at))) return true;
  if (!try_list(x, at, 0, 1)) return false;
  return at->word->kind != TC_WORD_COUNTS || (try_list(x, at, 1, 2) && try_list(x, at, 2, 1));
}

static int names_of(const tc_schedule_word *word) {
  int n = 0;
  while (word->names[n]) ++n;
  return n;
}

static bool try_word(const search *x, const site *at) {
  const tc_nest *n = at->nest < x->k->nnest ? &x->k->nest[at->nest] : NULL;
  switch (at->word->kind) {
  case TC_WORD_FLAG: return try_flag(x, at);
  case TC_WORD_COUNT: return try_counts(x, at);
  case TC_WORD_AXIS: return try_choice(x, at, n->naxis);
  case TC_WORD_STAGE: return try_choice(x, at, (int)n->nstage);
  case TC_WORD_NAME: return try_choice(x, at, names_of(at->word));
  default: return try_lists(x, at);
  }
}

static bool try_level(const search *x, const tc_schedule_level *level, site at) {
  for (size_t i = 0; i < level->nword; ++i) {
    at.word = &level->word[i];
    if (at.word->tries && !try_word(x, &at)) return false;
  }
  return true;
}

/* ---- a whole nest ---------------------------------------------------------------------------- */

/* "vector i, tile 256, collect" */
static void put_plan(const search *x, uint32_t n, const tc_schedule_variant *v, tc_buf *out) {
  const tc_schedule_level *level = &x->w->nest;
  if (x->k->nnest > 1) tc_putf(out, "nest %u ", n);
  for (size_t i = 0, any = 0; i < level->nword; ++i) {
    if (tc_word_is_absent(&level->word[i], v->nest)) continue;
    if (any++) tc_put(out, ", ");
    tc_word_print(&level->word[i], v->nest, &x->k->nest[n], out);
  }
}

static bool try_plan(const search *x, uint32_t n, const tc_schedule_variant *v) {
  tc_schedule *s = copy_schedule(x, n, 0);
  if (!s) return false;
  s->nest[n].nvariant = 1;
  s->nest[n].variant[0] = *v;
  tc_buf change = {0};
  put_plan(x, n, v, &change);
  const bool ok = !change.failed && offer(x, s, change.text ? change.text : "nothing decided");
  tc_buf_free(&change);
  return ok;
}

static bool try_plans(const search *x, uint32_t n) {
  bool more = x->w->other_plan != NULL;
  for (uint32_t i = 0; more; ++i) {
    tc_schedule_variant v = {0};
    if (!x->w->other_plan(x->p, x->k, n, i, &v, &more)) return false;
    if (more && v.nest && !try_plan(x, n, &v)) return false;
  }
  return true;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

bool tc_schedule_each_neighbour(const tc_schedule_words *w, tc_program *p, tc_kernel *k,
                                const uint32_t *variant, tc_schedule_neighbour_fn *each,
                                void *self) {
  const search x = {w, p, k, k->schedule, each, self};
  bool ok = try_level(&x, &w->kernel, (site){.nest = k->nnest, .stage = -1});
  for (uint32_t n = 0; ok && n < k->nnest; ++n) {
    if (!x.from->nest[n].nvariant) continue;
    const site at = {.nest = n, .variant = variant[n], .stage = -1};
    ok = try_plans(&x, n) && try_level(&x, &w->nest, at);
    for (uint32_t i = 0; ok && i < k->nest[n].nstage; ++i)
      ok = try_level(&x, &w->stage, (site){n, variant[n], (int)i, NULL});
  }
  return ok;
}

static bool holds(const tc_program *p, const tc_nest *n, const tc_schedule_compare *c,
                  const int64_t *sym, int64_t lanes) {
  const tc_axis *axis = &n->axis[c->axis];
  int64_t points;
  if (!tc_dim_eval(tc_graph_dims(p->graph), axis->of >= 0 ? axis->total : axis->extent, sym,
                   &points))
    return false;
  const int64_t bound = c->bound * (c->vectors ? lanes : 1);
  return c->less ? points < bound : points >= bound;
}

uint32_t tc_schedule_running(const tc_program *p, const tc_kernel *k, uint32_t n,
                             const int64_t *sym, int64_t lanes) {
  const tc_schedule_nest *s = &k->schedule->nest[n];
  for (uint32_t v = 0; v + 1 < s->nvariant; ++v) {
    bool all = true;
    for (uint32_t i = 0; i < s->variant[v].nwhen; ++i)
      all = all && holds(p, &k->nest[n], &s->variant[v].when[i], sym, lanes);
    if (all) return v;
  }
  return s->nvariant ? s->nvariant - 1 : 0;
}
