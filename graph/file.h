/* file.h - captured graphs as a file (.tcg), in two forms that are read alike.
 *
 * Text, for people and version control:
 *
 *   tcg 1                        format version; a reader takes files of its own and of older versions
 *   function "mlp" "mlp.c" 5     what it was captured from, where that is known: name, file, line
 *   variant "B=1"                a graph follows; made for these sizes or sides of branches, "": any
 *   graph mlp                    the graph, as graph/text.h says, up to the next variant or the end
 *   ...
 *   end                          without it the file is truncated
 *
 * Variants stand in the order in which they are tried.  A ';' starts a comment.  A text that begins
 * with the graph itself is one, too: of one variant, and of no format version.
 *
 * Binary, with a checksum; all numbers are little-endian:
 *
 *   0   8   89 'T' 'C' 'G' 0D 0A 1A 0A: no text, and what a transfer as text would change
 *   8   4   format version
 *   12  4   0
 *   16  8   bytes of the whole file
 *   24  8   checksum of the text
 *   32      the text form, without a zero byte
 *
 * The checksum tells damage, not malice: whatever it says, the text is checked as any other.  Ops
 * and attributes stand by name, and types are inferred anew, so that a file does not depend on how
 * this compiler numbers things. */
#ifndef TC_GRAPH_FILE_H
#define TC_GRAPH_FILE_H

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TC_FILE_VERSION = 1 };

typedef struct tc_file_graph {
  tc_graph *graph;
  const char *sizes; /* that it is made for; "": any */
} tc_file_graph;

typedef struct tc_file {
  tc_arena *arena;             /* of the texts */
  const char *function, *file; /* "": not known */
  uint32_t line;
  TC_VEC(tc_file_graph) graph; /* at least one; owned */
} tc_file;

/* Reads either form.  The graphs are verified (tc_graph_verify) and report to diag later, too.
 * NULL after reporting what is wrong: foreign, truncated, altered, of a newer version, or "line 3:
 * ...". */
tc_file *tc_file_read(const void *bytes, size_t size, tc_diag *diag);
void tc_file_free(tc_file *f);

/* Appends it as text, or in binary. */
void tc_file_put_text(const tc_file *f, tc_buf *out);
void tc_file_put_binary(const tc_file *f, tc_buf *out);

/* The same in parts, of graphs that stay where they are: the head, then the graphs, then the
 * end. */
void tc_file_put_head(const char *function, const char *file, uint32_t line, tc_buf *out);
void tc_file_put_graph(tc_graph *g, const char *sizes, tc_buf *out);
void tc_file_put_end(tc_buf *out);

#ifdef __cplusplus
}
#endif
#endif
