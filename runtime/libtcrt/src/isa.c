/* isa.c - the CPU level.  A level counts only when the CPU has its instructions and the operating
 * system saves its registers (XCR0), and AMX only after the process was given tile state. */
#define _DEFAULT_SOURCE /* syscall */
#include "settings.h"

#include <stdio.h>
#include <string.h>

static const char *const isa_name[TC_ISA_COUNT] = {"v2", "v3", "v4", "bf16", "amx"};

#if defined(__x86_64__)
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

typedef struct {
  uint32_t leaf, subleaf;
  uint32_t a, b, c, d; /* bits that must be set */
} cpuid_bits;

#define BIT(n) (1u << (n))

/* SSE3 SSSE3 CX16 SSE4.1 SSE4.2 POPCNT; LAHF */
static const cpuid_bits v2[] = {
    {1, 0, 0, 0, BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23), 0},
    {0x80000001, 0, 0, 0, BIT(0), 0},
};
/* FMA MOVBE OSXSAVE AVX F16C; BMI1 AVX2 BMI2; LZCNT */
static const cpuid_bits v3[] = {
    {1, 0, 0, 0, BIT(12) | BIT(22) | BIT(27) | BIT(28) | BIT(29), 0},
    {7, 0, 0, BIT(3) | BIT(5) | BIT(8), 0, 0},
    {0x80000001, 0, 0, 0, BIT(5), 0},
};
/* AVX-512 F DQ CD BW VL */
static const cpuid_bits v4[] = {
    {7, 0, 0, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31), 0, 0},
};
/* VNNI; BF16 */
static const cpuid_bits bf16[] = {
    {7, 0, 0, 0, BIT(11), 0},
    {7, 1, BIT(5), 0, 0, 0},
};
/* What a compiler may use for sapphirerapids beside the tiles: IFMA; VBMI VBMI2 GFNI VAES
 * VPCLMULQDQ BITALG VPOPCNTDQ; AMX-BF16 FP16 AMX-TILE AMX-INT8; AVX-VNNI. */
static const cpuid_bits amx[] = {
    {7, 0, 0, BIT(21), BIT(1) | BIT(6) | BIT(8) | BIT(9) | BIT(10) | BIT(12) | BIT(14),
     BIT(22) | BIT(23) | BIT(24) | BIT(25)},
    {7, 1, BIT(4), 0, 0, 0},
};

static bool has(const cpuid_bits *want, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t a, b, c, d;
    if (!__get_cpuid_count(want[i].leaf, want[i].subleaf, &a, &b, &c, &d)) return false;
    if ((a & want[i].a) != want[i].a || (b & want[i].b) != want[i].b ||
        (c & want[i].c) != want[i].c || (d & want[i].d) != want[i].d)
      return false;
  }
  return true;
}

#define HAS(level) has(level, sizeof level / sizeof *level)

/* Register state that the operating system saves.  Needs OSXSAVE. */
static uint64_t xcr0(void) {
  uint32_t lo, hi;
  __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
  return (uint64_t)hi << 32 | lo;
}

enum { XCR0_AVX = 0x6, XCR0_AVX512 = 0xE6, XCR0_TILES = 0x60000 };

/* Asks Linux for the 8 KiB of tile data; children and new threads inherit the permission. */
static bool tiles_permitted(void) {
#if defined(__linux__) && defined(SYS_arch_prctl)
  enum { REQUEST_XCOMP_PERMISSION = 0x1023, XFEATURE_TILE_DATA = 18 };
  return syscall(SYS_arch_prctl, REQUEST_XCOMP_PERMISSION, XFEATURE_TILE_DATA) == 0;
#else
  return false;
#endif
}

/* The highest level up to `most`; tiles are asked for only when they are wanted. */
static int machine_isa(int most) {
  if (!HAS(v2)) return -1;
  if (most < TC_ISA_V3 || !HAS(v3) || (xcr0() & XCR0_AVX) != XCR0_AVX) return TC_ISA_V2;
  if (most < TC_ISA_V4 || !HAS(v4) || (xcr0() & XCR0_AVX512) != XCR0_AVX512) return TC_ISA_V3;
  if (most < TC_ISA_BF16 || !HAS(bf16)) return TC_ISA_V4;
  if (most < TC_ISA_AMX || !HAS(amx) || (xcr0() & XCR0_TILES) != XCR0_TILES) return TC_ISA_BF16;
  return tiles_permitted() ? TC_ISA_AMX : TC_ISA_BF16;
}

#else

static int machine_isa(int most) {
  (void)most;
  return TC_ISA_V2;
}

#endif

int tc_detect_isa(const char *wish) {
  int most = TC_ISA_COUNT - 1;
  if (wish && *wish) {
    int i = 0;
    while (i < TC_ISA_COUNT && strcmp(wish, isa_name[i])) i++;
    if (i == TC_ISA_COUNT)
      fprintf(stderr, "tcompile: TC_ISA=%s is not known; it can be v2, v3, v4, bf16 or amx\n",
              wish);
    else most = i;
  }
  return machine_isa(most);
}
