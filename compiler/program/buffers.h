/* Buffers and views of them. */
#ifndef NNC_PROGRAM_BUFFERS_H
#define NNC_PROGRAM_BUFFERS_H

#include "program/program.h"

int buffer_add(Program *program, BufferKind kind, Type type, const char *name, int entry);
int variable_buffer(const Program *program, const char *path);
/* The buffer whose memory `buffer` is; that of whose value it is a part, or itself. */
int buffer_root(const Program *program, int buffer);
int buffer_whole(const Program *program, int buffer);
/* `elements` of `buffer`, from element `start` on. */
int buffer_view(Program *program, int buffer, int64_t start, int64_t elements);
/* Round r of the scan loop has the r-th `elements` of the buffer, in reverse from the last on. */
int buffer_row(Program *program, int buffer, int64_t elements, int scan, bool reverse,
               int64_t rounds);
/* Of a buffer of two rows that take turns, `stride` elements apart: round r has the `elements` of
 * row (r + turn) % CARRY_ROWS. */
enum { CARRY_ROWS = 2 };
int buffer_turn(Program *program, int buffer, int64_t elements, int64_t stride, int scan, int turn);

/* The row that a loop moves, of which the buffer may be a part; otherwise of what it is a part. */
const Buffer *buffer_moving_row(const Program *program, int buffer);

#endif
