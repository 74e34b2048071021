#include "capture.h"

#include "cuda_types.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Node {
  Work work;
  int *after, after_count; /* numbers of nodes */
} Node;

struct Graph {
  Node *nodes;
  int count, room;
  Graph *next;
};

struct GraphRun {
  Graph graph; /* a copy */
  int *order;
  GraphRun *next;
};

struct Capture {
  Graph *graph;
  Stream *origin;
  uint64_t number;
  int mode;
  pthread_t thread;
  bool is_spoilt;
  Stream *streams[64];
  int stream_count;
  Capture *next;
};

static Capture *captures;
static Graph *graphs;
static GraphRun *runs;
static uint64_t capture_count;

/* ---- lists of nodes ---- */

static void set_after(int **to, int *count, const int *from, int from_count) {
  int *copy = malloc((size_t)(from_count + 1) * sizeof *copy);
  if (!copy) abort();
  if (from_count) memcpy(copy, from, (size_t)from_count * sizeof *copy);
  free(*to);
  *to = copy, *count = from_count;
}

static void add_after(int **to, int *count, const int *from, int from_count) {
  *to = realloc(*to, (size_t)(*count + from_count + 1) * sizeof **to);
  if (!*to) abort();
  for (int i = 0; i < from_count; i++) {
    bool is_there = false;
    for (int j = 0; j < *count; j++) is_there |= (*to)[j] == from[i];
    if (!is_there) (*to)[(*count)++] = from[i];
  }
}

/* ---- capture ---- */

int capture_status(const Stream *stream) {
  return !stream->capture ? 0 : stream->capture->is_spoilt ? 2 : 1;
}

static void join(Capture *capture, Stream *stream, const int *after, int after_count) {
  stream->capture = capture;
  set_after(&stream->after, &stream->after_count, after, after_count);
  capture->streams[capture->stream_count++] = stream;
}

int capture_begin(Stream *stream, int mode) {
  if (stream == stream_of(NULL)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture || mode < CAPTURE_GLOBAL || mode > CAPTURE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  Capture *capture = calloc(1, sizeof *capture);
  Graph *graph = calloc(1, sizeof *graph);
  if (!capture || !graph) abort();
  *capture = (Capture){.graph = graph,
                       .origin = stream,
                       .mode = mode,
                       .thread = pthread_self(),
                       .number = ++capture_count,
                       .next = captures};
  captures = capture;
  join(capture, stream, NULL, 0);
  return CUDA_SUCCESS;
}

int capture_forbid(const Stream *stream) {
  int error = CUDA_SUCCESS;
  for (Capture *capture = captures; capture; capture = capture->next) {
    if (stream ? stream->capture != capture
               : capture->mode == CAPTURE_RELAXED ||
                     (capture->mode == CAPTURE_THREAD_LOCAL &&
                      !pthread_equal(capture->thread, pthread_self()))) {
      continue;
    }
    capture->is_spoilt = true;
    error = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return error;
}

int capture_add(Stream *stream, Work work) {
  Capture *capture = stream->capture;
  if (capture->is_spoilt) {
    work_free(&work);
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  Graph *graph = capture->graph;
  if (graph->count == graph->room) {
    graph->room = graph->room ? 2 * graph->room : 64;
    graph->nodes = realloc(graph->nodes, (size_t)graph->room * sizeof *graph->nodes);
    if (!graph->nodes) abort();
  }
  Node *node = &graph->nodes[graph->count];
  *node = (Node){.work = work};
  set_after(&node->after, &node->after_count, stream->after, stream->after_count);
  set_after(&stream->after, &stream->after_count, &graph->count, 1);
  graph->count++;
  return CUDA_SUCCESS;
}

int capture_record(Event *event, Stream *stream) {
  if (stream->capture->is_spoilt) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event->stream = NULL, event->has_time = false;
  event->capture = stream->capture, event->capture_number = stream->capture->number;
  set_after(&event->after, &event->after_count, stream->after, stream->after_count);
  return CUDA_SUCCESS;
}

/* Whether the event's capture goes on. */
static bool is_open(const Event *event) {
  for (const Capture *capture = captures; capture; capture = capture->next) {
    if (capture == event->capture && capture->number == event->capture_number) return true;
  }
  return false;
}

int capture_wait(Stream *stream, const Event *event) {
  Capture *own = stream->capture;
  if (own && own->is_spoilt) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!event->capture) { /* recorded outside: no node can wait for it */
    own->is_spoilt = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (!is_open(event)) return CUDA_ERROR_INVALID_VALUE;
  if (own && own != event->capture) {
    own->is_spoilt = event->capture->is_spoilt = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (own) {
    add_after(&stream->after, &stream->after_count, event->after, event->after_count);
    return CUDA_SUCCESS;
  }
  if (stream == stream_of(NULL)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  if (event->capture->stream_count == 64) return CUDA_ERROR_NOT_SUPPORTED;
  join(event->capture, stream, event->after, event->after_count);
  return CUDA_SUCCESS;
}

static void mark_before(const Graph *graph, const int *after, int count, bool *marks) {
  for (int i = 0; i < count; i++) {
    if (marks[after[i]]) continue;
    marks[after[i]] = true;
    mark_before(graph, graph->nodes[after[i]].after, graph->nodes[after[i]].after_count, marks);
  }
}

/* Whether the origin comes after everything that the other streams did. */
static bool is_joined(const Capture *capture) {
  bool *marks = calloc((size_t)capture->graph->count + 1, sizeof *marks), is_joined = true;
  mark_before(capture->graph, capture->origin->after, capture->origin->after_count, marks);
  for (int i = 0; i < capture->stream_count; i++) {
    const Stream *stream = capture->streams[i];
    for (int j = 0; j < stream->after_count; j++) is_joined &= marks[stream->after[j]];
  }
  free(marks);
  return is_joined;
}

static void close_capture(Capture *capture) {
  for (int i = 0; i < capture->stream_count; i++) {
    Stream *stream = capture->streams[i];
    free(stream->after);
    stream->capture = NULL, stream->after = NULL, stream->after_count = 0;
  }
  for (Capture **at = &captures; *at; at = &(*at)->next) {
    if (*at != capture) continue;
    *at = capture->next;
    break;
  }
  free(capture);
}

static void free_nodes(Graph *graph) {
  for (int i = 0; i < graph->count; i++) {
    work_free(&graph->nodes[i].work);
    free(graph->nodes[i].after);
  }
  free(graph->nodes);
}

int capture_end(Stream *stream, Graph **to) {
  Capture *capture = stream->capture;
  if (!capture) return CUDA_ERROR_INVALID_VALUE;
  if (capture->origin != stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CAPTURE_RELAXED && !pthread_equal(capture->thread, pthread_self())) {
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  int error = capture->is_spoilt    ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
              : !is_joined(capture) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                    : CUDA_SUCCESS;
  Graph *graph = capture->graph;
  close_capture(capture);
  if (error) {
    free_nodes(graph), free(graph);
    *to = NULL;
    return error;
  }
  graph->next = graphs, graphs = graph;
  *to = graph;
  return CUDA_SUCCESS;
}

/* ---- graphs ---- */

int graph_node_count(const Graph *graph) { return graph->count; }

bool graph_is_known(const Graph *graph) {
  for (const Graph *other = graphs; other; other = other->next) {
    if (other == graph) return true;
  }
  return false;
}

bool graph_run_is_known(const GraphRun *run) {
  for (const GraphRun *other = runs; other; other = other->next) {
    if (other == run) return true;
  }
  return false;
}

void graph_destroy(Graph *graph) {
  for (Graph **at = &graphs; *at; at = &(*at)->next) {
    if (*at != graph) continue;
    *at = graph->next;
    break;
  }
  free_nodes(graph), free(graph);
}

static bool is_ready(const Node *node, const bool *is_done) {
  for (int i = 0; i < node->after_count; i++) {
    if (!is_done[node->after[i]]) return false;
  }
  return true;
}

/* An order that keeps to the dependencies: that of the calls or, as late as it goes, each time the
 * last node that can be. */
static void arrange(GraphRun *run) {
  const Graph *graph = &run->graph;
  bool *is_done = calloc((size_t)graph->count + 1, sizeof *is_done);
  run->order = calloc((size_t)graph->count + 1, sizeof *run->order);
  for (int i = 0; i < graph->count; i++) {
    int at = i;
    if (stream_is_late()) {
      at = graph->count - 1;
      while (is_done[at] || !is_ready(&graph->nodes[at], is_done)) at--;
    }
    is_done[at] = true;
    run->order[i] = at;
  }
  free(is_done);
}

GraphRun *graph_instantiate(const Graph *graph) {
  GraphRun *run = calloc(1, sizeof *run);
  run->graph.count = graph->count;
  run->graph.nodes = calloc((size_t)graph->count + 1, sizeof *run->graph.nodes);
  for (int i = 0; i < graph->count; i++) {
    Node *node = &run->graph.nodes[i];
    node->work = work_copy(&graph->nodes[i].work);
    set_after(&node->after, &node->after_count, graph->nodes[i].after, graph->nodes[i].after_count);
  }
  arrange(run);
  run->next = runs, runs = run;
  return run;
}

int graph_run(const GraphRun *run) {
  work_counts.graphs++;
  for (int i = 0; i < run->graph.count; i++) {
    int error = work_run(&run->graph.nodes[run->order[i]].work);
    if (error) return error;
  }
  return CUDA_SUCCESS;
}

void graph_run_destroy(GraphRun *run) {
  stream_finish_all();
  for (GraphRun **at = &runs; *at; at = &(*at)->next) {
    if (*at != run) continue;
    *at = run->next;
    break;
  }
  free_nodes(&run->graph);
  free(run->order), free(run);
}
