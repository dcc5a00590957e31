/* flow.c - maximal flow by blocking flows in layered graphs; see flow.h. */
#include "autodiff/flow.h"

#include <stdlib.h>
#include <string.h>

bool tc_flow_begin(tc_flow *f, uint32_t vertices) {
  *f = (tc_flow){.n = vertices};
  f->first = calloc(vertices, sizeof *f->first);
  f->current = calloc(vertices, sizeof *f->current);
  f->level = calloc(vertices, sizeof *f->level);
  f->queue = calloc(vertices, sizeof *f->queue);
  return f->first && f->current && f->level && f->queue;
}

void tc_flow_free(tc_flow *f) {
  free(f->first);
  free(f->current);
  free(f->level);
  free(f->queue);
  free(f->edge.at);
  *f = (tc_flow){0};
}

static bool half_edge(tc_flow *f, uint32_t from, uint32_t to, int64_t capacity) {
  const tc_flow_edge e = {to, f->first[from], capacity};
  if (!tc_push(&f->edge, e)) return false;
  f->first[from] = (uint32_t)f->edge.n;
  return true;
}

bool tc_flow_edge_add(tc_flow *f, uint32_t from, uint32_t to, int64_t capacity) {
  return half_edge(f, from, to, capacity) && half_edge(f, to, from, 0);
}

/* Breadth first along what is left; is the sink reached? */
static bool layer(tc_flow *f, uint32_t source, uint32_t sink) {
  uint32_t head = 0, tail = 0;
  memset(f->level, 0, f->n * sizeof *f->level);
  f->level[source] = 1;
  f->queue[tail++] = source;
  while (head < tail) {
    const uint32_t v = f->queue[head++];
    for (uint32_t e = f->first[v]; e; e = f->edge.at[e - 1].next) {
      const tc_flow_edge *edge = &f->edge.at[e - 1];
      if (edge->left <= 0 || f->level[edge->to]) continue;
      f->level[edge->to] = f->level[v] + 1;
      f->queue[tail++] = edge->to;
    }
  }
  return f->level[sink] != 0;
}

/* The next edge of v that leads one layer further; 0: none. */
static uint32_t advance(tc_flow *f, uint32_t v) {
  for (; f->current[v]; f->current[v] = f->edge.at[f->current[v] - 1].next) {
    const tc_flow_edge *e = &f->edge.at[f->current[v] - 1];
    if (e->left > 0 && f->level[e->to] == f->level[v] + 1) return f->current[v];
  }
  return 0;
}

/* Sends as much as the path of edges path[0 .. n) can take; returns where it is full first. */
static uint32_t send(tc_flow *f, const uint32_t *path, uint32_t n, int64_t *total) {
  int64_t most = TC_FLOW_INFINITE;
  uint32_t full = 0;
  for (uint32_t i = 0; i < n; i++) {
    const int64_t left = f->edge.at[path[i] - 1].left;
    if (left < most) most = left, full = i;
  }
  for (uint32_t i = 0; i < n; i++) {
    tc_flow_edge *e = &f->edge.at[path[i] - 1], *back = &f->edge.at[(path[i] - 1) ^ 1];
    if (e->left < TC_FLOW_INFINITE) e->left -= most;
    if (back->left < TC_FLOW_INFINITE) back->left += most;
  }
  *total += most;
  return full;
}

/* Depth first in the layers, with the path in `queue`, which the layers need no more. */
static int64_t block(tc_flow *f, uint32_t source, uint32_t sink) {
  uint32_t n = 0, v = source;
  int64_t total = 0;
  memcpy(f->current, f->first, f->n * sizeof *f->first);
  while (total < TC_FLOW_INFINITE) {
    if (v == sink) {
      n = send(f, f->queue, n, &total);
      v = f->edge.at[(f->queue[n] - 1) ^ 1].to;
      continue;
    }
    const uint32_t e = advance(f, v);
    if (e) {
      f->queue[n++] = e;
      v = f->edge.at[e - 1].to;
    } else if (n) {
      f->level[v] = 0; /* a dead end */
      v = f->edge.at[(f->queue[--n] - 1) ^ 1].to;
    } else return total;
  }
  return total;
}

int64_t tc_flow_cut(tc_flow *f, uint32_t source, uint32_t sink) {
  int64_t total = 0;
  while (total < TC_FLOW_INFINITE && layer(f, source, sink)) total += block(f, source, sink);
  return total < TC_FLOW_INFINITE ? total : TC_FLOW_INFINITE;
}
