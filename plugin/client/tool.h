/* tool.h - the tool as a process of its own, asked once: see driver/protocol.h. */
#ifndef TC_CLIENT_TOOL_H
#define TC_CLIENT_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that grow.  failed: memory ran out. */
typedef struct {
  char *bytes;
  size_t size, room;
  bool failed;
} tc_bytes;

void tc_bytes_put(tc_bytes *b, const void *bytes, size_t size);
void tc_bytes_free(tc_bytes *b);

/* A request is put together from these; tc_tool_ask adds the end. */
void tc_request_begin(tc_bytes *request);
void tc_request_put(tc_bytes *request, tc_record_kind kind, const char *bytes, size_t size);

/* Runs `program` and waits, at most that many seconds.  NULL, or why there is no answer: a text
 * that lives as long as `why`. */
typedef struct {
  char text[512];
} tc_tool_problem;
const char *tc_tool_ask(const char *program, tc_bytes *request, unsigned seconds, tc_bytes *answer,
                        tc_tool_problem *why);

/* The record of an answer at *at, which moves behind it.
 * false: there is none. */
bool tc_answer_next(const tc_bytes *answer, size_t *at, tc_record *record, const char **bytes);

#ifdef __cplusplus
}
#endif

#endif
