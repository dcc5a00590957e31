#include "shared.h"

static TC_COMPILE tc_tensor *same_name(const tc_tensor *x TC_SHAPE("f32[B,N]")) { return tc_exp(x); }

TC_COMPILE tc_tensor *second(const tc_tensor *x) { return tc_softmax(x, -1); }

tc_tensor *use_second(const tc_tensor *x) { return standardised(same_name(second(x))); }
