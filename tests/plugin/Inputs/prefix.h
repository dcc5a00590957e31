#include <tcompile.h>
TC_COMPILE tc_tensor *in_prefix(const tc_tensor *x TC_SHAPE("f32[N]")) { return tc_exp(x); }
struct scale { tc_tensor *by TC_SHAPE("f32[N]"); };
tc_tensor *scaled(const tc_tensor *x TC_SHAPE("f32[N]"), const struct scale *s);
