#include <tcompile.h>

#include "settings.h"

static int count = 3;

double scale_of(int i) { return 0.25 * i; }
int heads(void) { return count; }
void set_heads(int n) { count = n; }
float offset_of(int i, float x) { return (float)i + x; }
