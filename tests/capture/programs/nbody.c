// N bodies as a structure of arrays: leapfrog, forces from all pairs, energy now and then.
// RUN: %capture > %t.txt && %check < %t.txt
#include "capture.h"

enum { X, Y, Z, AXES };

struct bodies {
  tc_tensor *q[AXES] TC_SHAPE("f32[N]"); // positions
  tc_tensor *v[AXES] TC_SHAPE("f32[N]"); // velocities
  const tc_tensor *mass TC_SHAPE("f32[N]");
};

static const float softening = 0.05f;

#define EACH_AXIS(a) for (int a = X; a < AXES; a++)

static tc_tensor *between(const tc_tensor *q) { return tc_sub(tc_unsqueeze(q, 0), tc_unsqueeze(q, 1)); }

static void accelerations(const struct bodies *b, tc_tensor *out[static AXES]) {
  tc_tensor *d[AXES], *r2 = NULL;
  EACH_AXIS(a) {
    d[a] = between(b->q[a]);
    tc_tensor *s = tc_square(d[a]);
    r2 = r2 ? tc_add(r2, s) : tc_add_s(s, softening * softening);
  }
  tc_tensor *w = tc_mul(tc_pow_s(r2, -1.5), b->mass);
  EACH_AXIS(a) out[a] = tc_sum(tc_mul(w, d[a]), TC_AXES(1), false);
}

static void kick(struct bodies *b, tc_tensor *const acceleration[], float dt) {
  EACH_AXIS(a) tc_add_(b->v[a], tc_mul_s(acceleration[a], dt));
}

static void drift(struct bodies *b, float dt) {
  EACH_AXIS(a) tc_add_(b->q[a], tc_mul_s(b->v[a], dt));
}

TC_COMPILE static void leapfrog(struct bodies *b, float dt, int steps) {
  while (steps-- > 0)
    TC_SCOPE {
      tc_tensor *acceleration[AXES];
      drift(b, dt / 2);
      accelerations(b, acceleration);
      kick(b, acceleration, dt);
      drift(b, dt / 2);
    }
}

TC_COMPILE static double energy(const struct bodies *b) {
  double sum = 0;
  TC_SCOPE {
    tc_tensor *v2 = NULL, *r2 = tc_scalar(softening * softening);
    EACH_AXIS(a) {
      v2 = v2 ? tc_add(v2, tc_square(b->v[a])) : tc_square(b->v[a]);
      r2 = tc_add(r2, tc_square(between(b->q[a])));
    }
    tc_tensor *pairs = tc_mul(tc_outer(b->mass, b->mass), tc_rsqrt(r2));
    tc_tensor *kinetic = tc_mul_s(tc_sum(tc_mul(b->mass, v2), TC_ALL, false), 0.5);
    sum = tc_item(kinetic) - 0.5 * tc_item(tc_sum(tc_triu(pairs, 1), TC_ALL, false));
  }
  return sum;
}

static void run(int scale) {
  int64_t n = 24 * scale;
  TC_SCOPE {
    struct bodies b = {.mass = tc_div_s(tc_add_s(tc_rand(TC_DIMS(n), 9, TC_F32), 0.5), (double)n)};
    EACH_AXIS(a) {
      b.q[a] = tc_randn(TC_DIMS(n), 1 + (uint64_t)a, TC_F32);
      b.v[a] = tc_mul_s(tc_randn(TC_DIMS(n), 5 + (uint64_t)a, TC_F32), 0.1);
    }
    for (int i = 0; i < 3; i++) {
      printf("energy %.4f\n", energy(&b));
      leapfrog(&b, 0.01f, 5);
    }
    EACH_AXIS(a) show(b.q[a]);
  }
}

int main(void) {
  run(1);
  run(3);
  return finish();
}
// CHECK-DAG: remark: 'leapfrog' compiled: 41 ops in {{[0-9]+}} kernel{{s?}}, 1 segment 
// CHECK-DAG: remark: graph break in 'leapfrog': the number of rounds of the loop depends on a value that is not known at build time
// CHECK-DAG: remark: 'energy' compiled: 31 ops in {{[0-9]+}} kernel{{s?}} [
// CHECK-DAG: energy {{.*}} 6 0 0 
// CHECK-DAG: leapfrog {{.*}} 30 0 0 
