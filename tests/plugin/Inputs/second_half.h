  return tc_exp(tc_neg(x));
