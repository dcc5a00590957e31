static inline tc_tensor *flat(const tc_tensor *x) {
  return tc_tanh(x);
}
