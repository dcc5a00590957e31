{
  puts("in another file");
  x = tc_exp(x);
