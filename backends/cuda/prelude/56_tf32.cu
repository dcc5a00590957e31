/* Tensor cores: products of f32, factors of which are two numbers of TF32 each. */
/* @ tc_tf32_multiply */
#ifndef TC_EMULATED
/* d += a b: 16 x 8 by 8 x 8 */
TC_FN void tc_tf32_multiply(tc_f32 *d, const tc_u32 *a, const tc_u32 *b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif
/* @ tc_tf32_split */
/* TF32 has 11 bits of a fraction, and so has what the nearest one leaves of x but for its last bit: `high` is the former, halves
 * away from zero, `low` the latter, of which tensor cores read 11 bits.  What an infinite x leaves is NaN. */
TC_FN void tc_tf32_split(tc_u32 &high, tc_u32 &low, tc_f32 x) {
  high = ((tc_u32)__float_as_int(x) + 0x1000u) & 0xffffe000u;
  low = (tc_u32)__float_as_int(x - __uint_as_float(high));
}
