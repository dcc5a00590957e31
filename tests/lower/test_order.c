/* When kernels write straight into an operand: behind all that read it or can fail, which run in front
 * for it, unless they need what is written. */
#include <stdio.h>
#include <string.h>

#include "tests/lower/check.h"

/* The kernels of a program in order, a letter each: W writes an operand, X does so as a copy of what
 * another one made, F can fail, E is an effect, - is any other. */
static void shape_of(const tc_program *p, char *out) {
  for (uint32_t i = 0; i < p->nkernel; i++) {
    const tc_kernel *k = &p->kernel[i];
    char c = '-';
    for (uint32_t e = 1; e < k->nexpr; e++)
      if (k->expr[e].address.nterm) c = 'F';
    for (uint32_t n = 0; n < k->nnest; n++)
      for (uint32_t s = 0; s < k->nest[n].nstage; s++)
        for (uint32_t a = 0; a < k->nest[n].stage[s].naction; a++) {
          const tc_action *action = &k->nest[n].stage[s].action[a];
          const bool store = action->kind == TC_ACT_STORE || action->kind == TC_ACT_ADD;
          if (store && p->buffer[k->buffer[action->buffer]].kind == TC_BUF_INPUT)
            c = strncmp(k->name, "copy_", 5) ? 'W' : 'X';
        }
    *out++ = k->effect ? 'E' : c;
  }
  *out = 0;
}

static void expect_order(const char *text, const char *want, bool run) {
  tc_graph *g = graph_of(text);
  char got[64], message[256];
  if (run) {
    interp_array **input = arguments_of(g, 5);
    check_lowering(g, input, NULL, (const tc_value[]){{.i = 0}});
    free_arguments(g, input);
  }
  tc_program *p = tc_lower(g, &tc_target_cores);
  cr_assert_not_null(p);
  cr_expect(tc_program_verify(p, message, sizeof message), "%s", message);
  shape_of(p, got);
  cr_expect_str_eq(got, want, "%s, not %s of\n%s", got, want, text);
  tc_program_free(p);
  tc_graph_free(g);
}

/* x[R,C] is written; t[9,C] is read at rows i. */
#define OPERANDS                                                                                   \
  "graph g\n%1 = param f32[R,C] \"x\"\n%2 = param f32[9,C] \"t\"\n%3 = param i64[K] \"i\"\n"       \
  "%4 = scalar i64 \"f\"\n"
#define DOUBLED "%5 = add %1 %1\nwrite %5 -> %1\n"
#define SUM_OF(x) " = cumsum " x " axis=0\n"

#define ORDER(name, want, text)                                                                    \
  Test(order, name) { expect_order(OPERANDS text, want, true); }
/* The interpreter calls no functions. */
#define EFFECTS(name, want, text)                                                                  \
  Test(effects, name) { expect_order(OPERANDS text, want, false); }
#define SHOW(x) " = effect %4 " x " types=\", const struct tc_tensor *\"\n"

ORDER(new_value_is_read, "W-", DOUBLED "%6" SUM_OF("%5") "ret %6\n")
ORDER(old_value_is_read, "-W", DOUBLED "%6" SUM_OF("%1") "ret %6\n")
ORDER(both_are_read, "-W-", DOUBLED "%6" SUM_OF("%1") "%7" SUM_OF("%5") "ret %6\nret %7\n")
ORDER(both_are_read_at_once, "--X",
      DOUBLED "%6 = flip %1 axes=[0]\n%7 = sub %6 %5\n%8" SUM_OF("%7") "ret %8\n")
ORDER(another_can_fail, "FW", DOUBLED "%6 = index_select %2 %3 axis=0\nret %6\n")
ORDER(what_can_fail_moves_with_what_it_reads, "-FW",
      DOUBLED "%6" SUM_OF("%2") "%7 = index_select %6 %3 axis=0\nret %7\n")
ORDER(new_value_is_picked, "-FX",
      DOUBLED "%6 = flip %5 axes=[1]\n%7 = index_select %6 %3 axis=0\nret %7\n")
ORDER(
    what_it_is_made_of_can_fail, "FW",
    "%5 = index_select %2 %3 axis=0\n%6 = sum %5 axes=[0] keep=1\n%7 = add %1 %6\nwrite %7 -> %1\n")
ORDER(it_can_fail_itself, "FX",
      "%5 = slice %3 axis=0 start=0 stop=1 step=1\n%6 = index_select %2 %5 axis=0\n%7 = add %1 %6\n"
      "write %7 -> %1\n")

/* t is read, and then written with a row of what x was: the reader moves with the writer. */
ORDER(two_are_written, "-WW",
      "%5 = add %1 %1\n%6" SUM_OF("%2") "%7 = slice %1 axis=0 start=0 stop=1 step=1\n"
                                        "%8 = add %2 %7\nwrite %8 -> %2\nwrite %5 -> %1\nret %6\n")

EFFECTS(sees_the_new_value, "WE", DOUBLED "%6" SHOW("_ %5") "effects %6\n")
EFFECTS(sees_the_old_value, "EW", DOUBLED "%6" SHOW("_ %1") "effects %6\n")
EFFECTS(sees_both_in_turn, "EWE", DOUBLED "%6" SHOW("_ %1") "%7" SHOW("%6 %5") "effects %7\n")
EFFECTS(sees_the_old_value_later, "-EEX",
        DOUBLED "%6" SHOW("_ %5") "%7" SHOW("%6 %1") "effects %7\n")
EFFECTS(behind_what_can_fail, "FWE",
        DOUBLED "%6 = index_select %2 %3 axis=0\n%7" SHOW("_ %5") "ret %6\neffects %7\n")

/* ---- kernels side by side -------------------------------------------------------------------- */

/* What each launch waits for: "1:0" is "launch 1 for launch 0". */
static void expect_dependences(const char *text, const char *want) {
  tc_graph *g = graph_of(text);
  interp_array **input = arguments_of(g, 5);
  check_lowering(g, input, NULL, (const tc_value[]){{.i = 0}});
  free_arguments(g, input);
  tc_program *p = tc_lower(g, &tc_target_cores);
  tc_dependences d;
  char got[256] = "";
  cr_assert(p && tc_program_dependences(p, &d));
  for (uint32_t k = 0, at = 0; k < tc_launch_count(p); k++)
    for (uint32_t i = d.first[k]; i < d.first[k + 1]; i++)
      at += (uint32_t)snprintf(got + at, sizeof got - at, "%s%u:%u", at ? " " : "", k, d.on[i]);
  if (strcmp(got, want)) show_lowering(g, p);
  cr_expect_str_eq(got, want, "%s, not %s of\n%s", got, want, text);
  tc_dependences_free(&d);
  tc_program_free(p);
  tc_graph_free(g);
}

#define DEPENDENCES(name, want, text)                                                              \
  Test(dependences, name) { expect_dependences(OPERANDS text, want); }

DEPENDENCES(none, "", "%5" SUM_OF("%1") "%6" SUM_OF("%2") "ret %5\nret %6\n")
DEPENDENCES(a_chain, "1:0 2:1",
            "%5" SUM_OF("%1") "%6" SUM_OF("%5") "%7" SUM_OF("%6") "ret %7\n")
DEPENDENCES(what_another_waits_for_is_not_listed, "1:0 2:1",
            "%5" SUM_OF("%1") "%6" SUM_OF("%5") "%7 = add %5 %6\n%8" SUM_OF("%7") "ret %8\n")
DEPENDENCES(two_meet, "2:1 2:0",
            "%5" SUM_OF("%1") "%6 = cumsum %2 axis=1\n%7 = slice %6 axis=0 start=0 stop=1 step=1\n"
                                                "%8 = add %5 %7\n%9" SUM_OF("%8") "ret %9\n")
DEPENDENCES(two_of_a_launch, "1:0",
            "%5" SUM_OF("%1") "%6" SUM_OF("%2") "%7 = slice %6 axis=0 start=0 stop=1 step=1\n"
                                                "%8 = add %5 %7\n%9" SUM_OF("%8") "ret %9\n")
DEPENDENCES(an_operand_is_written_behind_its_readers, "1:0", DOUBLED "%6" SUM_OF("%1") "ret %6\n")
/* The third array of f32[9,C] lies where the first was: its kernel waits for the reader of that one. */
DEPENDENCES(memory_is_used_again, "1:0 2:1 3:2",
            "%5" SUM_OF("%2") "%6" SUM_OF("%5") "%7" SUM_OF("%6") "%8" SUM_OF("%7") "ret %8\n")
