/* protocol.h - how a plugin of another compiler talks to the tool.
 *
 * It runs `tcompile --serve` with a socket as standard input and output.  Each side writes one list
 * of records: the plugin its request, then the tool its answer.  A record is a tc_record followed
 * by `size` bytes.  Both lists begin with TC_REC_HELLO, whose text is TC_PROTOCOL, and end with
 * TC_REC_END; what is cut off before that does not count.  Numbers are the machine's own.
 *
 * Lines and columns count from 1, columns in bytes; line 0: nowhere. */
#ifndef TC_DRIVER_PROTOCOL_H
#define TC_DRIVER_PROTOCOL_H

#include <stdint.h>

/* Changes with every change of this file, and with every release. */
#define TC_PROTOCOL "tcompile 4 " TC_VERSION

typedef enum {
  TC_REC_END,
  TC_REC_HELLO,

  /* Of a request. */
  /* whose flags they are: gcc (if nothing is said), or clang: those of clang -cc1 */
  TC_REC_COMPILER,
  TC_REC_FLAG,     /* a flag of the compiler, as its command line has it; in order */
  TC_REC_OPTION,   /* KEY or KEY=VALUE: an option of a whole file (tc-options) */
  TC_REC_LANGUAGE, /* as of -x: c, c++, cpp-output, c++-cpp-output */
  TC_REC_NAME,     /* of the file, as it stands in its __FILE__ */
  TC_REC_TEXT,     /* what the file contains */
  /* what the compiler reads in it: see below.  None: its preprocessor is trusted to agree */
  TC_REC_TOKENS,
  /* what the compiler makes of types and constants: see below.  None: it is trusted to agree */
  TC_REC_TYPES,

  /* Of an answer. */
  /* a tc_record_message; the file name, and that of the file which it is written in (another one
   * behind #line), with a zero behind each; the text */
  TC_REC_MESSAGE,
  TC_REC_RANGE, /* a tc_record_range: underlined, of the message before */
  TC_REC_FIXIT, /* a tc_record_range, then what it is to be replaced by */
  /* as TC_REC_MESSAGE: why the file could not be parsed, so that nothing was done; the compiler
   * knows better whether it is an error */
  TC_REC_UNREAD,
  TC_REC_FILE,   /* a file name, a zero, the new text of that file */
  TC_REC_COUNT
} tc_record_kind;

/* TC_REC_TOKENS: the tokens of the main file and of headers that are not the system's, in the order
 * in which the compiler's parser gets them, without pragmas.  Each item is a letter, a text and a
 * zero:
 *   F, L  file and line of what follows; tokens that a macro makes are where it is invoked
 *   T     a token
 *   S, E  what stands between them is made by a macro of this name that belongs to the compiler, to a system header or
 *         to tcompile.h (the outermost such), without what its arguments say; that follows or precedes, once
 *   P     a precompiled header was used: what it contains is not here
 *   Z     the end */

/* TC_REC_TYPES: pairs of texts, a zero behind each: a question, and the answer.  A question may
 * have several answers: those of all types of one name.  Numbers are decimal.
 *   size of 'T', alignment of 'T'  in bytes; T: `int`, a typedef, `struct S`, `union U`, `enum E`.  A class is a struct;
 *                                  what has no name of any kind is called by its members: `struct {a, b}`
 *   place of 'm' in 'T'            in bits; T: a struct or union
 *   sign of 'm' in 'T'             of a bit-field: signed or unsigned
 *   sign of 'T'                    of `char` and typedefs of integers
 *   value of 'A'                   of an enumerator
 *   type of constants              that have a fraction and no suffix: double or float
 *   code of 'A', code of 'U+E4'    in the execution character set, in hexadecimal
 * At the end stand two empty texts. */

typedef struct {
  uint32_t kind; /* tc_record_kind */
  uint32_t size;
} tc_record;

typedef enum { TC_SAY_NOTE, TC_SAY_REMARK, TC_SAY_WARNING, TC_SAY_ERROR } tc_record_severity;

/* Clang's: what switches a message on and off. */
typedef enum { TC_OF_NONE, TC_OF_BACKEND_PLUGIN, TC_OF_PASS, TC_OF_PASS_MISSED } tc_record_group;

typedef struct {
  uint32_t severity; /* tc_record_severity; a note belongs to the message before */
  uint32_t group;    /* tc_record_group */
  uint32_t line, column;
  uint32_t text_line; /* in the file that it is written in */
} tc_record_message;

typedef struct {
  uint32_t line, column, end_line, end_column; /* the end is one behind the last byte */
} tc_record_range;

#endif
