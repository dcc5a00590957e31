/* backend.h - what a backend is: the interface between the driver (compile.h) and what prints code
 * for a machine.
 *
 * A backend is one struct.  The driver optimises each function's graph, lowers it for every backend
 * that the function is wanted from, and asks these for text.  A backend is linked in (backends.def)
 * or stands in a shared object (module.h).  docs/adding-a-backend.md tells how to write one. */
#ifndef TC_BACKEND_H
#define TC_BACKEND_H

#include "graph/support/names.h"
#include "lower/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tc_backend;

/* ---- options --------------------------------------------------------------------------------- */

/* KEY=VALUE of an option of some backend (tc_backend_option), as it stands in the user's build. */
typedef struct tc_setting {
  const char *key, *value;
} tc_setting;

/* The last value that the key is given; NULL: none. */
const char *tc_setting_of(const tc_setting *s, uint32_t n, const char *key);

/* An option that a backend adds to those of frontend/options.def, whose columns these are. */
typedef struct tc_backend_option {
  const char *key, *values, *fallback;
  bool of_file;                            /* not at a function */
  const char *(*check)(const char *value); /* NULL: it is understood; else what it can be */
  const char *meaning;
} tc_backend_option;

/* ---- what is compiled ------------------------------------------------------------------------ */

typedef enum {
  TC_WISH_MAY, /* where it can be made; why not is a remark */
  TC_WISH_WANT /* why not is reported as TC_MISSED */
} tc_wish;

/* One of the backends that a function gets kernels from. */
typedef struct tc_choice {
  const struct tc_backend *backend;
  tc_wish wish;
} tc_choice;

/* A size of the graph, and what the program calls it: b__H, b->H. */
typedef struct tc_size_name {
  const char *name, *written;
} tc_size_name;

/* isa.c: as options, kernels and TC_ISA name them. */
extern const char *const tc_isa_name[TC_ISA_COUNT];

/* Of the levels that make a difference to a kernel, those that run where the levels wanted do (0:
 * all): for each the best at or below it. */
uint32_t tc_isa_limit(uint32_t levels, uint32_t wanted);

/* A size that calls are counted by (profile=generate), and what TC_SPECIALIZE calls it. */
typedef struct tc_counted_size {
  const char *symbol; /* of the graph; NULL: it is `value` where this code runs */
  const char *written;
  int64_t value;
} tc_counted_size;

/* The function itself, or one of the two calls that eager code differentiates it by
 * (backends/training.h). */
typedef enum { TC_PART_WHOLE, TC_PART_FORWARD, TC_PART_BACKWARD } tc_part;

/* How kernels are measured (backends/tuning/tuning.h). */
typedef struct tc_tuner {
  const char *tool;            /* tc-tune; NULL: it was not found */
  const char *compiler;        /* a clang, for texts of candidates; NULL: none was found */
  const char *database;        /* file of results; NULL: there is none, and nothing is measured */
  double seconds;              /* that measuring may take for a function */
  const char *const *macros;   /* NAME=NUMBER, for the kernel text */
  uint32_t nmacro;
} tc_tuner;

/* One function (or segment) of the user's. */
typedef struct tc_function {
  const char *symbol; /* external name of the entry (tcrt_entry), unique in the program */
  const char *name;   /* the user's function */
  const char *file;   /* as written in the user's build, for comments and logs */
  uint32_t line;
  /* that it is made for, such as "B=1", or sides of branches, "mode == 2"; NULL: any */
  const char *sizes;
  bool passes;     /* other code is tried when its guards fail */
  uint32_t autocasts; /* scopes of graph/autocast.h around calls that it is for; 0: any */
  tc_graph *graph; /* taken over */
  int ops;         /* API calls captured */
  /* At most one for each device.  Without code from the first there is none from the others.  0:
   * the first backend of this build. */
  const tc_choice *choice;
  uint32_t nchoice;
  const tc_setting *setting; /* those of the file among them */
  uint32_t nsetting;
  bool always;     /* no switch turns it off, and it is not registered */
  tc_buf *explain; /* receives rows of explain.h when it was compiled; NULL: not wanted */
  const char *(*file_of)(const void *sources, tc_loc loc); /* file of a place; NULL: `file` */
  const void *sources;
  const tc_size_name *size_name; /* of sizes whose names are not those that the program has */
  uint32_t nsize_name;
  const tc_counted_size *counted; /* in this order; none: calls are not counted */
  uint32_t ncounted;
  uint32_t function_line;   /* `line` is that of the segment */
  const char *profile_path; /* where counts go, if the program's environment does not say */
  uint32_t levels; /* CPU: bit i: code for tc_isa i, by the best text at or below it; 0: all */
  bool gradients;  /* it brings kernels for its gradients, where it has some */
  tc_wish gradient_wish;
  const tc_tuner *tuner; /* mode=max-autotune; NULL: schedules are as planned */
  int64_t max_saved; /* bytes between them (autodiff/partition.h); 0: no limit */
  /* What follows is the driver's. */
  tc_part part;
  bool trains; /* a whole: there are such kernels */
} tc_function;

/* What all functions of a unit are compiled with. */
typedef struct tc_unit_options {
  const tc_setting *setting; /* of the file */
  uint32_t nsetting;
  struct tc_cache *cache; /* of what was made before (backends/cache/cache.h); NULL: none */
  uint32_t jobs;          /* processes that compile at once; 0: tc_jobs_take's */
  bool apart;             /* device code is used in parts: nothing of it is packed together */
} tc_unit_options;

/* ---- what comes out -------------------------------------------------------------------------- */

/* Read-only data of the object.  Equal data has equal names, so that linkers keep one. */
typedef struct tc_data {
  char *name; /* hidden symbol, from the hash of the bytes */
  unsigned char *bytes;
  size_t size;
} tc_data;

/* The kernels of one backend, with what they use in front of them: C, compiled once per ISA level
 * in `levels`, each time with -DTC_LEVEL=<name>, which every external name ends in. */
typedef struct tc_kernels {
  const struct tc_backend *backend;
  tc_buf text;
  uint32_t levels; /* bit i: for tc_isa i */
} tc_kernels;

/* Of a unit.  The texts include nothing: what they need is put in front of them. */
typedef struct tc_texts {
  tc_buf host;         /* entries, launchers, registration; compiled once */
  tc_names declared;   /* kernels that the host text has declared */
  tc_buf close;        /* statements for when the object is unloaded; part of host in the end */
  tc_kernels *kernels; /* of the backends that have no compiler of their own */
  size_t nkernels;
  int functions; /* that were compiled */
  tc_data *data; /* machine code for other devices */
  size_t ndata;
} tc_texts;

void tc_texts_free(tc_texts *t);

/* What a backend makes of one kernel. */
typedef struct tc_kernel_text {
  tc_buf name;                           /* external name, from the hash of the text */
  tc_buf text;                           /* the definition, without the prelude */
  uint32_t wanted;                       /* the caller's: see levels of tc_function */
  uint32_t levels;                       /* CPU: ISA levels that there is text for */
  uint32_t nsym, nscalar, *sym, *scalar; /* those of the program that it takes, in order */
  tc_buf launcher;                       /* of a device compiler: the function for the host text */
  uint32_t nfunction; /* ... and how many device functions there are: <name>_0 ... */
} tc_kernel_text;

void tc_kernel_text_free(tc_kernel_text *t);

/* Appends kernel texts without the comments that end on their line, which say where things come
 * from: equal kernels of different lines have one name, and are compiled once. */
void tc_put_bare(const char *kernels, tc_buf *out);

/* ---- the backend ----------------------------------------------------------------------------- */

/* A kernel on its way to a device compiler. */
typedef struct tc_device_kernel {
  const tc_kernel_text *text;
  uint32_t file; /* that it comes from (tc_loc); 0: not known */
} tc_device_kernel;

/* For backends whose kernel texts are not C of the host: what makes machine code of the kernels of
 * a unit, while the caller goes on, and describes it in the host text. */
typedef struct tc_device_compiler {
  /* Copies what it needs of n > 0 kernels; equal names are equal kernels.  NULL: out of memory. */
  void *(*start)(const tc_device_kernel *kernel, size_t n, const tc_unit_options *o);
  const char *(*wait)(void *unit); /* why there is no code at all; NULL: there is some */
  /* Why there is no code for that kernel; NULL: there is. */
  const char *(*problem)(const void *unit, const char *name);
  /* The kernel is used by a variant that there is. */
  void (*use)(void *unit, const char *name);
  /* Adds data, and to the host text what describes it, and the launchers, of kernels that are
   * used. */
  void (*put)(void *unit, tc_texts *out);
  void (*free)(void *unit);
  const char *faster; /* what makes less of it: words behind "; ".  Optional */
} tc_device_compiler;

struct tc_entry_style;

typedef struct tc_backend {
  const char *name;                   /* "openmp" */
  const char *about;                  /* what kernels it makes, in some words, for lists */
  tc_device device;                   /* that the kernels run on */
  const char *device_name;            /* "cpu": ends the name of a variant */
  const char *device_label;           /* "CPU": in messages */
  const tc_target *target;            /* what programs are lowered for */
  const struct tc_entry_style *entry; /* see backends/entry/entry.h */
  bool (*supports)(const tc_kernel *k, const tc_program *p); /* false: no variant; never reports */
  /* Optional.  Decides how kernels run (tc_kernel.schedule), and what they and the entry share
   * (tc_mm_loop).  false: out of memory. */
  bool (*plan)(tc_program *p);
  /* Optional.  What the function's options change in these schedules. */
  void (*apply_options)(tc_program *p, const tc_setting *setting, uint32_t nsetting);
  /* Optional.  The words of these schedules, which are printed and read by them
   * (schedule/words.h). */
  const struct tc_schedule_words *schedule;
  bool (*emit_kernel)(const tc_kernel *k, const tc_program *p, tc_kernel_text *out);
  /* Appends kernel texts to out, with what they use in front of them. */
  bool (*complete)(const char *kernels, tc_buf *out);
  const tc_device_compiler *compiler; /* NULL: the kernels are C for the CPU */
  const tc_backend_option *option;    /* Optional */
  uint32_t noption;
} tc_backend;

#ifdef __cplusplus
}
#endif
#endif
