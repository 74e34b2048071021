/* Graphs: what streams were asked for while they were captured, each operation with those it comes
 * after. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include "stream.h"

typedef struct Graph Graph;

/* These give the driver's errors, as the functions of the driver do. */
int capture_begin(Stream *stream, int mode);
int capture_end(Stream *stream, Graph **to);
/* Takes over the work. */
int capture_add(Stream *stream, Work work);
int capture_record(Event *event, Stream *stream);
/* The stream may not be captured yet, and is then. */
int capture_wait(Stream *stream, const Event *event);
/* For a call that is not allowed now, if `stream` (or, where it is NULL, any stream) is captured:
 * spoils the capture. Captures in relaxed mode, and of other threads, forbid only what is about
 * their streams. */
int capture_forbid(const Stream *stream);
/* 0 no, 1 yes, 2 yes, but spoilt. */
int capture_status(const Stream *stream);

int graph_node_count(const Graph *graph);
bool graph_is_known(const Graph *graph);
bool graph_run_is_known(const GraphRun *run);
void graph_destroy(Graph *graph);
GraphRun *graph_instantiate(const Graph *graph);
/* Does all its nodes. */
int graph_run(const GraphRun *run);
void graph_run_destroy(GraphRun *run);

#endif
