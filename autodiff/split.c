/* split.c - the two parts of a partition as graphs of their own; see partition.h. */
#include "autodiff/partition.h"
#include "graph/passes/rewrite.h"

#include <stdlib.h>

typedef struct part {
  tc_graph *joint, *g;
  tc_ref *map;  /* [nodes of joint + 1] where a value is in g; ref 0: not yet */
  bool *needed; /* [nodes of joint + 1] */
} part;

/* With the inputs and scalars of `like`, which those of the joint graph begin with. */
static bool begin(part *p, tc_graph *joint, tc_graph *like) {
  *p = (part){.joint = joint, .g = tc_graph_derive(like)};
  p->map = calloc(tc_graph_count(joint) + 1u, sizeof *p->map);
  p->needed = calloc(tc_graph_count(joint) + 1u, sizeof *p->needed);
  if (!p->g || !p->map || !p->needed) return false;
  const uint32_t arguments = tc_graph_input_count(like) + tc_graph_scalar_count(like);
  for (uint32_t id = 1; id <= arguments; id++) p->map[id].id = id;
  return true;
}

/* Frees the graph, too, unless it came out well. */
static tc_graph *end(part *p, bool ok) {
  free(p->map);
  free(p->needed);
  if (!ok && p->g) tc_graph_free(p->g);
  return ok ? p->g : NULL;
}

/* Copies what is marked as needed, and what that needs. */
static bool copy(part *p) {
  tc_ref in[256];
  const uint32_t count = tc_graph_count(p->joint);
  for (uint32_t id = count; id > 0; id--) {
    const tc_node *n = tc_graph_node(p->joint, (tc_ref){id});
    for (int i = 0; p->needed[id] && !p->map[id].id && i < n->nin; i++)
      p->needed[n->in[i].id] = true;
  }
  for (uint32_t id = 1; id <= count; id++) {
    const tc_node *n = tc_graph_node(p->joint, (tc_ref){id});
    if (!p->needed[id] || p->map[id].id) continue;
    for (int i = 0; i < n->nin; i++) in[i] = p->map[n->in[i].id];
    p->map[id] = tc_rewrite_copy(p->g, p->joint, n, in);
    if (!p->map[id].id) return false;
  }
  return true;
}

static tc_ref output(const part *p, uint32_t i) { return tc_graph_output_at(p->joint, i); }

static bool forward_roots(part *p, uint32_t nforward, const tc_partition *partition) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < nforward; i++) ok = tc_graph_output(p->g, p->map[output(p, i).id]);
  for (uint32_t i = 0; ok && i < partition->nsaved; i++)
    ok = tc_graph_output(p->g, p->map[partition->saved[i].id]);
  for (uint32_t i = 0, input; ok && i < tc_graph_write_count(p->joint); i++) {
    const tc_ref value = tc_graph_write_at(p->joint, i, &input);
    ok = tc_graph_write(p->g, input, p->map[value.id]);
  }
  return ok && tc_graph_set_effect(p->g, p->map[tc_graph_effect(p->joint).id]);
}

static tc_graph *forward_part(tc_graph *joint, const tc_partition_options *o,
                              const tc_partition *partition) {
  const uint32_t nforward = o->nforward;
  part p;
  if (!begin(&p, joint, o->arguments ? o->arguments : joint)) return end(&p, false);
  for (uint32_t i = 0; i < nforward; i++) p.needed[output(&p, i).id] = true;
  for (uint32_t i = 0; i < partition->nsaved; i++) p.needed[partition->saved[i].id] = true;
  for (uint32_t i = 0, input; i < tc_graph_write_count(joint); i++)
    p.needed[tc_graph_write_at(joint, i, &input).id] = true;
  p.needed[tc_graph_effect(joint).id] = true;
  p.needed[0] = false;
  return end(&p, copy(&p) && forward_roots(&p, nforward, partition));
}

/* A value of the forward part becomes an input. */
static bool receive(part *p, tc_ref r) {
  const tc_node *n = tc_graph_node(p->joint, r);
  p->map[r.id] = tc_graph_input(p->g, "saved", &n->type, n->loc);
  return p->map[r.id].id != 0;
}

static tc_graph *backward_part(tc_graph *joint, uint32_t nforward, const tc_partition *partition) {
  part p;
  const uint32_t n = tc_graph_output_count(joint);
  bool ok = begin(&p, joint, joint);
  for (uint32_t i = 0; ok && i < nforward; i++) ok = receive(&p, output(&p, i));
  for (uint32_t i = 0; ok && i < partition->nsaved; i++) ok = receive(&p, partition->saved[i]);
  for (uint32_t i = nforward; ok && i < n; i++) p.needed[output(&p, i).id] = true;
  ok = ok && copy(&p);
  for (uint32_t i = nforward; ok && i < n; i++) ok = tc_graph_output(p.g, p.map[output(&p, i).id]);
  return end(&p, ok);
}

bool tc_partition_split(tc_graph *joint, const tc_partition_options *o, const tc_partition *p,
                        tc_graph **forward, tc_graph **backward) {
  *forward = forward_part(joint, o, p);
  *backward = *forward ? backward_part(joint, o->nforward, p) : NULL;
  if (*backward) return true;
  if (*forward) tc_graph_free(*forward);
  *forward = NULL;
  tc_report(tc_graph_diag(joint), TC_MISSED, (tc_loc){0, 0, 0, 0}, "the parts of %s are not made",
            tc_graph_name(joint));
  return false;
}
