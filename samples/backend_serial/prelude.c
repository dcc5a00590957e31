/* prelude.c - what kernel texts begin with: types, the formulas of the ops, conversions. */
#include "serial.h"

static const char types[] =
    "#define TC_PASTE_(a, b) a##_##b\n"
    "#define TC_PASTE(a, b) TC_PASTE_(a, b)\n"
    "#define TC_NAME(x) TC_PASTE(x, TC_LEVEL) /* external names end in the level */\n"
    "#define NAN __builtin_nan(\"\")\n"
    "typedef __INT64_TYPE__ int64_t;\n"
    "typedef __UINT64_TYPE__ uint64_t;\n"
    "typedef __UINT32_TYPE__ uint32_t;\n"
    "typedef union tc_value { double f; int64_t i; } tc_value;\n"
    "typedef unsigned char tc_b8, tc_u8;\n"
    "typedef signed char tc_i8;\n"
    "typedef short tc_i16;\n"
    "typedef int tc_i32;\n"
    "typedef int64_t tc_i64;\n"
    "typedef unsigned short tc_f16, tc_bf16;\n"
    "typedef float tc_f32;\n"
    "typedef double tc_f64;\n"
    "typedef union tc_bits { float f; unsigned u; } tc_bits;\n";

/* To and from memory, where halves are computed as f32; traps off and on; checked index operands. */
static const char conversions[] =
    "#define tc_load_b8\n#define tc_load_u8\n#define tc_load_i8\n#define tc_load_i16\n"
    "#define tc_load_i32\n#define tc_load_i64\n#define tc_load_f32\n#define tc_load_f64\n"
    "#define tc_store_b8\n#define tc_store_u8\n#define tc_store_i8\n#define tc_store_i16\n"
    "#define tc_store_i32\n#define tc_store_i64\n#define tc_store_f32\n#define tc_store_f64\n"
    "static inline float tc_load_f16(tc_f16 x) {\n"
    "  const unsigned e = x >> 10 & 31, m = x & 1023, sign = (unsigned)(x & 0x8000) << 16;\n"
    "  const float tiny = (float)m * 0x1p-24f;\n"
    "  if (!e) return sign ? -tiny : tiny;\n"
    "  return ((tc_bits){.u = sign | (e == 31 ? 0x7f800000 : (e + 112) << 23) | m << 13}).f;\n}\n"
    "static inline tc_f16 tc_store_f16(float x) { /* to nearest, ties to even */\n"
    "  const unsigned bits = ((tc_bits){.f = x}).u, u = bits & 0x7fffffff, sign = bits >> 16 & "
    "0x8000;\n"
    "  if (u >= 0x47800000) return (tc_f16)(sign | (u > 0x7f800000 ? 0x7e00 : 0x7c00));\n"
    "  if (u >= 0x38800000) return (tc_f16)(sign | (u + 0xfff + (u >> 13 & 1) - 0x38000000) >> "
    "13);\n"
    "  const tc_bits half = {.f = 0.5f + ((tc_bits){.u = u}).f}; /* its last place is 2^-24 */\n"
    "  return (tc_f16)(sign | (half.u - 0x3f000000));\n}\n"
    "static inline float tc_load_bf16(tc_bf16 x) { return ((tc_bits){.u = (unsigned)x << 16}).f; "
    "}\n"
    "static inline tc_bf16 tc_store_bf16(float x) { /* to nearest, ties to even */\n"
    "  const unsigned u = ((tc_bits){.f = x}).u;\n"
    "  return (tc_bf16)(x != x ? u >> 16 | 64 : (u + 0x7fff + (u >> 16 & 1)) >> 16);\n}\n"
    /* A kernel may compute what nobody asked for (the other side of a WHERE): no exception shows. */
    "#ifdef __x86_64__\n"
    "static inline unsigned tc_hold(void) {\n"
    "  const unsigned env = __builtin_ia32_stmxcsr();\n"
    "  __builtin_ia32_ldmxcsr(env | 0x1f80);\n  return env;\n}\n"
    "static inline void tc_restore(unsigned env) { __builtin_ia32_ldmxcsr(env); }\n"
    "#else\n"
    "static inline unsigned tc_hold(void) { return 0; }\n"
    "static inline void tc_restore(unsigned env) { (void)env; }\n"
    "#endif\n"
    "static inline int64_t tc_index(int64_t i, int64_t bound, int live, int *bad) {\n"
    "  if (live && i >= 0 && i < bound) return i;\n  *bad |= live;\n  return 0;\n}\n";

void put_prelude(tc_buf *out) {
  tc_put(out, types);
  tc_print_formulas(out);
  tc_put(out, conversions);
}
