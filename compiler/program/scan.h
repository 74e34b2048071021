/* Groups of scans that are loops of the Program. */
#ifndef NNC_PROGRAM_SCAN_H
#define NNC_PROGRAM_SCAN_H

#include "program/lowering.h"

/* The node whose memory holds the value's elements. */
const Node *memory_node(const Node *node);
/* An invariant that the body computes itself. */
bool scan_writes_in(const Node *scan, int operand);
/* Marks what scans read as kept in memory. */
void scans_keep_operands(Lowering *lowering);
/* Finds the operands of a scan's group. */
void scan_build(Lowering *lowering, Group *group);
/* Gives what is carried its memory, and final carries theirs. */
void scans_bind(Lowering *lowering);
/* Elements of a carry, and from one of its rows to the next. */
int64_t carry_elements(const Node *scan, int carry);
int64_t carry_stride(const Target *target, const Node *scan, int carry);

#endif
