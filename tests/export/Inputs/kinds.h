// A struct of kinds.c.
#include <tcompile.h>

struct pair {
  tc_tensor *a TC_SHAPE("f32[N]"), *b TC_SHAPE("f32[N]");
};
