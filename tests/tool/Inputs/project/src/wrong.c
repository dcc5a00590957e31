#include "f.h"
TC_COMPILE tc_tensor *h(const tc_tensor *x TC_SHAPE("f32[N]")) { return missing; }
