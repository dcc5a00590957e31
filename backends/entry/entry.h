/* entry.h - what the entries of all devices share: guards, packing, workspace, results, launches.
 *
 * An entry (tcrt_entry) replaces the body of a function.  A function has one variant for each
 * device that has kernels for it; with more than one, the variants are static functions
 * <symbol>_<device> and the entry itself asks the first operand where it is.
 *
 * What differs between devices is a tc_entry_style: words, and a few printers. */
#ifndef TC_ENTRY_H
#define TC_ENTRY_H

#include "backends/backend.h"

typedef struct tc_entry_style tc_entry_style;

/* A variant on its way. */
typedef struct tc_entry {
  const tc_entry_style *style;
  tc_device device;
  const tc_function *f;
  const tc_program *p;
  tc_dims *dims;
  const char *const *name; /* external name of each kernel */
  const uint32_t *levels;  /* ISA levels of each kernel */
  const tc_kernel_text *kernel;
  /* per kernel: the number of its scratch memory, which equal kernels share; 0: it has none */
  uint32_t *scratch;
  tc_names *declared; /* of the unit: kernels that are declared in front of some entry */
  /* Per kernel of a backward part: the gradients that need it, the last bit for all from 63 on. */
  uint64_t *serves;
  bool tabulates; /* operands are rows of a table (operand_table.c) */
  const tc_dependences *depends; /* NULL: kernels run one after the other */
  tc_buf *out;
} tc_entry;

struct tc_entry_style {
  /* Once in a host text, behind abi.h: what variants and launchers use.  Optional. */
  void (*helpers)(tc_buf *out);
  /* Whether the variant is the one to run, where it is not the first of its function: C conditions
   * on the first operand in[0], and on where a function without operands creates. */
  const char *has_operand, *creates;
  /* Heads of calls, with the arguments that all calls share: "tcrt_new(". */
  const char *workspace, *create, *pack;
  /* Likewise, of what gives a strided operand the elements that were written.  NULL: such operands
   * are refused. */
  const char *unpack;
  /* Kernels read operands with rows that lie apart as they are, where these have a pitch; else
   * strided ones are packed. */
  bool pitched;
  /* Optional.  Kernels want the rows of operand i, which has a pitch, to begin at multiples of so
   * many bytes; 0: they do not.  Behind `off<i>`, which says of each such operand that some begin
   * elsewhere: declares `worth<i>`, that a copy pays. */
  int (*row_bytes)(const tc_entry *e, uint32_t i);
  void (*worth)(const tc_entry *e);
  const char *pack_rows; /* ... and the head of the call that makes it: pack with a pitch behind */
  /* Kernels take the symbols and scalars that their texts say, as `own_sym` and `own_scalar`. */
  bool numbered;
  /* The call of kernel k over buf, sym, scalar: an int, nonzero if it failed. */
  void (*call)(const tc_entry *e, uint32_t k);
  /* Optional: the calls of kernels of f may run side by side.  Then the head of what stands in
   * front of each call, which takes the numbers of the kernels that it waits for (uint32_t) and
   * their count; and what stands behind all of them, in front of what waits for all. */
  bool (*side_by_side)(const tc_function *f);
  const char *after, *after_all;
  /* What failed calls of kernels mean: "TC_MISS_INDEX", "TC_MISS_LAUNCH". */
  const char *failure;
  /* Packing, its reverse and every kernel can fail; else: kernels with index operands alone. */
  bool all_can_fail;
  /* What a variant whose operands were written already returns then: an int expression that sets
   * the error.  NULL: cannot happen. */
  const char *late;
  /* Between `begin` and the end of the call: what every early way out says first, and what says
   * that all was queued.  Optional. */
  const char *leave, *end;
  /* In front of the variant: what its launches name.  Optional. */
  void (*declare)(const tc_entry *e);
  /* Behind the guards and in front of the first call: what finds the device.  Optional. */
  void (*begin)(const tc_entry *e);
  /* More reasons not to run, or-ed: " | (tcrt_isa < 2)".  Optional. */
  void (*refuse)(const tc_entry *e);
  /* Declares bytes that several kernels share, adding them to `arena`; then, with `ws` there and
   * `begin` set, what they hold at first.  Optional. */
  void (*kept)(const tc_entry *e, bool begin);
  /* Declares bytes of kernel k behind the arena, adding them to `scratch@`; false: it has none.  @
   * stands for the number of what is declared.  Optional. */
  bool (*scratch)(const tc_entry *e, uint32_t k, tc_buf *out);
  /* Kernels' memory depends on the number of threads: `threads` is declared.  Optional. */
  bool (*threaded)(const tc_entry *e);
  /* The argument for LOCAL buffer i of kernel k, and arguments behind the buffers.  Optional. */
  void (*local)(const tc_entry *e, uint32_t k, uint32_t i);
  void (*more)(const tc_entry *e, uint32_t k);
};

/* One variant: <symbol>_<device> where `alone` is not set, else <symbol> itself. */
bool tc_entry_emit(const tc_backend *b, const tc_function *f, const tc_program *p,
                   const char *const *kernel_names, const uint32_t *kernel_levels,
                   const tc_kernel_text *kernels, bool alone, tc_texts *out);

/* The record of a function (counters), in front of its variants. */
void tc_entry_record(const tc_function *f, const tc_graph *g, int kernels, tc_buf *out);

/* sizes.c: the sizes of calls are counted.  The table of an entry, in front of its variants; the
 * call that counts, behind the kernels; and for a unit: the declarations, and what opens and closes
 * it. */
void tc_entry_sizes_table(const tc_function *f, tc_buf *out);
void tc_entry_sizes_count(const tc_entry *e);
bool tc_entry_counts_sizes(const tc_function *const *f, int n);
void tc_entry_sizes_types(tc_buf *out);
void tc_entry_sizes_unit(const tc_function *const *f, int n, tc_buf *out);

/* The entry of a function that has several variants: the first operand decides, the default device
 * where there is none.  In order: begin, one `to` for each variant but the first, end. */
void tc_entry_dispatch_begin(const tc_function *f, tc_buf *out);
void tc_entry_dispatch_to(const tc_backend *b, const tc_function *f, bool operands, tc_buf *out);
void tc_entry_dispatch_end(const tc_backend *first, const tc_function *f, tc_buf *out);

/* Once in a unit.  In front: abi.h without its includes, and what all entries use.  Behind: the
 * constructor that registers the functions. */
void tc_entry_put_abi(tc_buf *out);
void tc_entry_put_header(const char *text, tc_buf *out); /* a header without its includes */
void tc_entry_put_registration(const tc_function *const *f, int n, const char *close,
                               tc_buf *out); /* close: statements, or "" */

/* Can entries give all buffers memory?  Not those that outlive a call. */
bool tc_entry_has_memory(const tc_program *p);

void tc_entry_put_quoted(tc_buf *out, const char *s); /* as a C string */

/* ---- parts ----------------------------------------------------------------------------------- */

/* expr.c: a size as a C expression over s_<name>; the address of buffer i of kernel k. */
void tc_entry_dim(const tc_entry *e, tc_dim d);
void tc_entry_buffer(const tc_entry *e, uint32_t k, uint32_t i);

/* operand.c: of operand i. */
/* while gradients are recorded */
bool tc_entry_refuses_tracked(const tc_entry *e, const tc_input *in);
/* of the tape: no result, for that may have been computed from a leaf that gradients are taken with respect to */
bool tc_entry_refuses_results(const tc_entry *e, const tc_input *in);
/* that tc_key_of is to give */
uint32_t tc_entry_key(const tc_entry *e, const tc_input *in);
/* a symbol is read from the size */
bool tc_entry_binds(const tc_entry *e, uint32_t input, int axis);
int tc_entry_input_buffer(const tc_program *p, uint32_t input);       /* -1: nobody reads it */
bool tc_entry_may_be_strided(const tc_entry *e, uint32_t i);
bool tc_entry_is_packed(const tc_entry *e, uint32_t i); /* strided, kernels work on a copy */
/* ... but not where its rows lie apart, by this symbol; NULL: it has none */
const tc_sym *tc_entry_pitch(const tc_entry *e, uint32_t i);
/* Bytes at multiples of which rows of a copy begin; 0: anywhere. */
int tc_entry_row_bytes(const tc_entry *e, uint32_t i);

void tc_entry_guards(const tc_entry *e);
void tc_entry_workspace(const tc_entry *e);
void tc_entry_packs(const tc_entry *e);
void tc_entry_unpacks(const tc_entry *e); /* of operands that were written */
void tc_entry_results(const tc_entry *e);
/* What a way out behind `begin` says first: ends the call, frees the first `made` results. */
void tc_entry_leave(const tc_entry *e, uint32_t made);
void tc_entry_launches(const tc_entry *e);
/* The call of kernel k, a function of the program's own: an int, nonzero if it failed, is or-ed to
 * `bad`. */
void tc_entry_call(const tc_entry *e, uint32_t k);
bool tc_entry_calls(const tc_program *p); /* some kernel is such a call */

/* operand_table.c: the same for entries of many operands.  Types go in front of all entries; keys
 * come first. */
bool tc_entry_tabulates(const tc_graph *g);
void tc_entry_operand_types(tc_buf *out);
void tc_entry_table_keys(const tc_entry *e);
void tc_entry_table_sizes(const tc_entry *e); /* behind the symbols */
void tc_entry_table_writes(const tc_entry *e);
void tc_entry_table_pack_sizes(const tc_entry *e);
void tc_entry_table_packs(const tc_entry *e);
void tc_entry_table_unpacks(const tc_entry *e);
void tc_entry_table_written(const tc_entry *e);

#endif
