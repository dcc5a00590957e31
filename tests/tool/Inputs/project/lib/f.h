#include <tcompile.h>
tc_tensor *f(const tc_tensor *x);
