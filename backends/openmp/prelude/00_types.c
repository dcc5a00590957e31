/* The prelude of kernel text.  It includes nothing.  A line that begins with slash-star-at opens a
 * chunk and lists the names it defines; the driver emits the chunks that a text needs, and all
 * chunks that list no name.  See backends/openmp/emit.h for the conventions. */
/* @ */
#pragma clang fp contract(fast)
#pragma clang diagnostic ignored "-Wpsabi"
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wpass-failed"
#pragma clang diagnostic ignored "-Wbitwise-conditional-parentheses"

#define TC_PASTE_(a, b) a##b
#define TC_PASTE(a, b) TC_PASTE_(a, b)
#define TC_LEVEL_v2 0
#define TC_LEVEL_v3 1
#define TC_LEVEL_v4 2
#define TC_LEVEL_bf16 3
#define TC_LEVEL_amx 4
#define TC_ISA TC_PASTE(TC_LEVEL_, TC_LEVEL)
#define TC_NAME(x) TC_PASTE(TC_PASTE(x, _), TC_LEVEL) /* external names end in the level */

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TC_AVX512 1
#define TC_L 16
#define TC_COLUMNS 16 /* accumulators of reductions that run side by side: half the registers */
#define TC_VECTOR_WIDTH __attribute__((min_vector_width(512)))
#elif defined(__AVX2__) && defined(__FMA__)
#define TC_AVX512 0
#define TC_L 8
#define TC_COLUMNS 8
#define TC_VECTOR_WIDTH __attribute__((min_vector_width(256)))
#else
#define TC_AVX512 0
#define TC_L 4
#define TC_COLUMNS 8
#define TC_VECTOR_WIDTH
#endif

/* Of functions that copy short rows: loops stay loops, for a call takes as long as a row. */
#if defined(__clang__)
#define TC_SHORT_COPIES __attribute__((no_builtin("memcpy", "memmove")))
#else
#define TC_SHORT_COPIES
#endif

#define TC_KERNEL                                                                                  \
  __attribute__((weak, visibility("hidden")))                                                      \
  TC_VECTOR_WIDTH /* equal ones merge at link                  \
                                                       */
/* Whether a team of threads pays.  For one of a single thread LLVM's runtime allocates memory, each time.  The option
 * `thresholds` sets other limits. */
#ifdef TC_PARALLEL_WORK
#define TC_PAYS(work, most) ((work) > TC_PARALLEL_WORK && tcrt_max_threads() > 1)
#else
#define TC_PAYS(work, most) ((work) > (most) && tcrt_team_pays(work, most))
#endif
#ifdef TC_SINGLE_PASS_POINTS /* rows from here on have variances from one pass, where that keeps their digits */
#define TC_SINGLE_PASS(points, least) ((points) >= TC_SINGLE_PASS_POINTS)
#else
#define TC_SINGLE_PASS(points, least) ((points) >= (least))
#endif
#ifndef TC_NONTEMPORAL_BYTES
#define TC_NONTEMPORAL_BYTES (8 << 20) /* outputs from here on are stored nontemporally */
#endif
/* Rows of so many bytes, at a distance of that, are stored nontemporally where all of the output may be: if none shares a line
 * with another one, or if they are long enough that waiting for these lines costs less than reading the others.  (The latency
 * of memory over the time that it takes to read a line is about 32.) */
enum { TC_LINE = 64, TC_LONG_ROW = 32 * TC_LINE };
#define TC_NONTEMPORAL_ROWS(bytes, step) \
  ((step) % TC_LINE == 0 || (bytes) >= TC_MIN(TC_LONG_ROW, TC_NONTEMPORAL_BYTES))
/* Blocks of such rows, which are put in order first: those of less than a line are met nearly in order. */
#define TC_NONTEMPORAL_BLOCKS(bytes) ((bytes) >= TC_MIN(TC_LINE, TC_NONTEMPORAL_BYTES))
#ifndef TC_PREFETCH_BYTES
#define TC_PREFETCH_BYTES (256 << 10) /* rows up to this size are prefetched */
#endif
#ifndef TC_GROUP_BYTES
#define TC_GROUP_BYTES (8 << 10) /* of rows that go through the stages of a nest together */
#endif
#define TC_FN static inline __attribute__((always_inline, unused, nodebug))
#define TC_SLOW                                                                                    \
  static __attribute__((noinline, unused, nodebug))                                                \
  TC_VECTOR_WIDTH /* too large to inline                 \
                                                             */
#ifdef TC_COMPACT /* a text of very many operations: what is long is called */
#define TC_LONG TC_SLOW
#else
#define TC_LONG TC_FN
#endif
#define TC_UNROLL _Pragma("clang loop unroll(full)")
#define TC_ROLLED _Pragma("clang loop unroll(disable)")
#define TC_ONE_BY_ONE _Pragma("clang loop unroll(disable) vectorize(disable)")

typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INT32_TYPE__ int32_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINTPTR_TYPE__ uintptr_t;

typedef float tc_f32;
typedef double tc_f64;
typedef signed char tc_i8;
typedef unsigned char tc_u8, tc_b8; /* b8: 0 or 1 */
typedef short tc_i16;
typedef int tc_i32;
typedef int64_t tc_i64;
typedef unsigned short tc_f16, tc_bf16, tc_u16; /* bits */
typedef uint32_t tc_u32;
typedef uint64_t tc_u64;

/* Threads, by libtcrt (tcompile/abi.h). */
void tcrt_team(void (*share)(void *arg, int thread, int threads), void *arg, int most);
void tcrt_barrier(void);
int tcrt_max_threads(void);
int tcrt_team_pays(int64_t work, int64_t least);

typedef union tc_value {
  double f;
  int64_t i;
} tc_value;

#define TC_VECTOR(T) typedef tc_##T tc_v##T __attribute__((ext_vector_type(TC_L)))
TC_VECTOR(f32);
TC_VECTOR(f64);
TC_VECTOR(i8);
TC_VECTOR(u8);
TC_VECTOR(i16);
TC_VECTOR(u16);
TC_VECTOR(i32);
TC_VECTOR(u32);
TC_VECTOR(i64);
TC_VECTOR(u64);
typedef tc_vu8 tc_vb8;

#define TC_CAST(T, v) __builtin_convertvector(v, tc_v##T)
#define TC_BITS(T, v) __builtin_bit_cast(tc_v##T, v)
#define tc_set_f32(x) ((tc_vf32)(tc_f32)(x))
#define tc_set_f64(x) ((tc_vf64)(tc_f64)(x))
#define tc_set_i8(x) ((tc_vi8)(tc_i8)(x))
#define tc_set_u8(x) ((tc_vu8)(tc_u8)(x))
#define tc_set_i16(x) ((tc_vi16)(tc_i16)(x))
#define tc_set_i32(x) ((tc_vi32)(tc_i32)(x))
#define tc_set_i64(x) ((tc_vi64)(tc_i64)(x))
#define tc_set_b8(x) ((tc_vb8)(tc_b8)(x))

#if TC_L == 16
#define TC_LANES_LIST 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#elif TC_L == 8
#define TC_LANES_LIST 0, 1, 2, 3, 4, 5, 6, 7
#else
#define TC_LANES_LIST 0, 1, 2, 3
#endif
#define TC_LANES(T) ((tc_v##T){TC_LANES_LIST})
/* Lanes l < n as a mask of type T's comparison. */
#define TC_FIRST(n) (TC_LANES(i32) < (tc_vi32)(tc_i32)(n))

#define TC_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TC_MAX(a, b) ((a) > (b) ? (a) : (b))
#define TC_CEILDIV(a, b) (((a) + (b)-1) / (b))
/* The first task of thread `part`; of thread `parts`: the end.  The first thread, which is there already, has the most. */
TC_FN int64_t tc_share(int64_t tasks, int64_t part, int64_t parts) {
  return parts == 1 ? tasks * part : (tasks * part + parts - 1) / parts;
}
/* Of a number whose last digit has n values, that digit, and what is in front of it; 0 where there is none. */
TC_FN int64_t tc_digit(int64_t *number, int64_t n) {
  if (n <= 0) return 0;
  const int64_t all = *number;
  *number = all / n;
  return all % n;
}
