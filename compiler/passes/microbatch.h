/* Micro-batches: a step whose examples go through the network some at a time. */
#ifndef NNC_PASSES_MICROBATCH_H
#define NNC_PASSES_MICROBATCH_H

#include "graph/module.h"

/* A copy of an entry's graph in the arena `into` that computes the same from `pieces` equal parts
 * of the batch, one after the other; sums over examples are added up in this order, so they may be
 * rounded otherwise. NULL when `pieces` does not divide the batch, or when something that each
 * example needs depends on all of them: then *coupled is the node that it comes from. */
Graph *graph_microbatch(Arena *into, const Module *module, const Graph *graph, int pieces,
                        const Node **coupled);

#endif
