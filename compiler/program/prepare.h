/* Copies of graphs that lower better. */
#ifndef NNC_PROGRAM_PREPARE_H
#define NNC_PROGRAM_PREPARE_H

#include "program/lowering.h"

/* Copies the outputs of `graph` but those that `leave_out` (may be NULL) names by number; each gets
 * a node of its own. */
void graph_copy_outputs(Graph *copy, const Graph *graph, const NodeMap *map, const bool *leave_out);

#endif
