static inline TC_COMPILE tc_tensor *NAME(const tc_tensor *x TC_SHAPE("f32[N]")) { return OP(x); }
