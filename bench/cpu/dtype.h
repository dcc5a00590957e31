/* dtype.h - for sources that are compiled once for each dtype, with -DBENCH_DTYPE=f32 and so on: DTYPE is its text, and
 * JOIN(name_, BENCH_DTYPE) a name of its own. */
#ifndef TC_BENCH_DTYPE_H
#define TC_BENCH_DTYPE_H

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define DTYPE TEXT(BENCH_DTYPE)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

#endif
