/* The stand-in for the driver: streams, events, graphs. */
#include "capture.h"
#include "driver.h"
#include "stream.h"

EXPORT int cuStreamCreate(Stream **to, unsigned flags) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(to && flags <= STREAM_NON_BLOCKING, ERROR_INVALID_VALUE);
  *to = stream_create(!(flags & STREAM_NON_BLOCKING));
  return CUDA_SUCCESS;
}

EXPORT int cuStreamCreateWithPriority(Stream **to, unsigned flags, int priority) {
  return cuStreamCreate(to, flags);
}

EXPORT int cuStreamDestroy_v2(void *handle) {
  ENTER(NEEDS_CONTEXT);
  Stream *stream = stream_of(handle);
  REQUIRE(stream && handle, ERROR_INVALID_HANDLE);
  REQUIRE(!stream->capture, ERROR_STREAM_CAPTURE_UNSUPPORTED);
  stream_destroy(stream);
  return CUDA_SUCCESS;
}

/* Waiting for a stream that is captured spoils the capture. */
EXPORT int cuStreamSynchronize(void *handle) {
  ENTER(NEEDS_CONTEXT);
  Stream *stream = stream_of(handle);
  REQUIRE(stream, ERROR_INVALID_HANDLE);
  int error = capture_forbid(stream);
  if (!error) error = stream_finish(stream, stream->issued);
  driver_keep_error(error);
  return error;
}

EXPORT int cuStreamQuery(void *handle) {
  ENTER(NEEDS_CONTEXT);
  Stream *stream = stream_of(handle);
  REQUIRE(stream, ERROR_INVALID_HANDLE);
  int error = capture_forbid(stream);
  if (error) return error;
  REQUIRE(stream_has_done(stream, stream->issued), ERROR_NOT_READY);
  return stream_finish(stream, stream->done);
}

EXPORT int cuCtxSynchronize(void) {
  ENTER(NEEDS_CONTEXT);
  int error = capture_forbid(NULL);
  if (!error) error = stream_finish_all();
  driver_keep_error(error);
  return error;
}

EXPORT int cuStreamWaitEvent(void *handle, Event *event, unsigned flags) {
  ENTER(NEEDS_CONTEXT);
  Stream *stream = stream_of(handle);
  REQUIRE(stream && event_is_known(event), ERROR_INVALID_HANDLE);
  return stream->capture || event->capture ? capture_wait(stream, event)
                                           : stream_wait(stream, event);
}

/* By which stand-ins for libraries compute (cublaslt/). */
EXPORT int cuLaunchHostFunc(void *handle, void (*call)(void *), void *data) {
  ENTER(NEEDS_CONTEXT);
  Stream *stream = stream_of(handle);
  REQUIRE(stream, ERROR_INVALID_HANDLE);
  REQUIRE(call, ERROR_INVALID_VALUE);
  Work work = {.kind = WORK_CALL, .call = call, .data = data};
  return stream->capture ? capture_add(stream, work) : stream_issue(stream, work);
}

/* ---- events ---- */

EXPORT int cuEventCreate(Event **to, unsigned flags) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(to && flags < 8, ERROR_INVALID_VALUE);
  *to = event_create(!(flags & EVENT_DISABLE_TIMING));
  return CUDA_SUCCESS;
}

EXPORT int cuEventDestroy_v2(Event *event) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(event_is_known(event), ERROR_INVALID_HANDLE);
  event_destroy(event);
  return CUDA_SUCCESS;
}

EXPORT int cuEventRecord(Event *event, void *handle) {
  ENTER(NEEDS_CONTEXT);
  Stream *stream = stream_of(handle);
  REQUIRE(stream && event_is_known(event), ERROR_INVALID_HANDLE);
  if (stream->capture) return capture_record(event, stream);
  event_record(event, stream);
  return CUDA_SUCCESS;
}

EXPORT int cuEventSynchronize(Event *event) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(event_is_known(event), ERROR_INVALID_HANDLE);
  REQUIRE(!event->capture, ERROR_CAPTURED_EVENT);
  int error = event->stream ? stream_finish(event->stream, event->sequence) : CUDA_SUCCESS;
  driver_keep_error(error);
  return error;
}

EXPORT int cuEventQuery(Event *event) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(event_is_known(event), ERROR_INVALID_HANDLE);
  REQUIRE(!event->capture, ERROR_CAPTURED_EVENT);
  REQUIRE(!event->stream || stream_has_done(event->stream, event->sequence), ERROR_NOT_READY);
  return CUDA_SUCCESS;
}

EXPORT int cuEventElapsedTime(float *to, Event *from, Event *until) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(event_is_known(from) && event_is_known(until), ERROR_INVALID_HANDLE);
  REQUIRE(from->is_timed && until->is_timed && from->stream && until->stream, ERROR_INVALID_HANDLE);
  REQUIRE(from->has_time && until->has_time, ERROR_NOT_READY);
  *to = (float)((until->seconds - from->seconds) * 1e3);
  return CUDA_SUCCESS;
}

EXPORT int cuEventElapsedTime_v2(float *to, Event *from, Event *until) {
  return cuEventElapsedTime(to, from, until);
}

/* ---- graphs ---- */

EXPORT int cuStreamBeginCapture_v2(void *handle, int mode) {
  ENTER(NEEDS_CONTEXT);
  Stream *stream = stream_of(handle);
  REQUIRE(stream, ERROR_INVALID_HANDLE);
  return capture_begin(stream, mode);
}

EXPORT int cuStreamEndCapture(void *handle, Graph **to) {
  ENTER(NEEDS_CONTEXT);
  Stream *stream = stream_of(handle);
  REQUIRE(stream, ERROR_INVALID_HANDLE);
  return capture_end(stream, to);
}

EXPORT int cuStreamIsCapturing(void *handle, int *to) {
  ENTER(NEEDS_CONTEXT);
  Stream *stream = stream_of(handle);
  REQUIRE(stream, ERROR_INVALID_HANDLE);
  *to = capture_status(stream);
  return CUDA_SUCCESS;
}

EXPORT int cuGraphGetNodes(Graph *graph, void **nodes, size_t *count) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(graph_is_known(graph), ERROR_INVALID_HANDLE);
  REQUIRE(!nodes, ERROR_NOT_SUPPORTED);
  *count = (size_t)graph_node_count(graph);
  return CUDA_SUCCESS;
}

EXPORT int cuGraphInstantiateWithFlags(GraphRun **to, Graph *graph, unsigned long long flags) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(graph_is_known(graph), ERROR_INVALID_HANDLE);
  *to = graph_instantiate(graph);
  return CUDA_SUCCESS;
}

EXPORT int cuGraphUpload(GraphRun *run, void *handle) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(graph_run_is_known(run) && stream_of(handle), ERROR_INVALID_HANDLE);
  return capture_forbid(stream_of(handle));
}

EXPORT int cuGraphLaunch(GraphRun *run, void *handle) {
  ENTER(NEEDS_CONTEXT);
  Stream *stream = stream_of(handle);
  REQUIRE(stream && graph_run_is_known(run), ERROR_INVALID_HANDLE);
  int error = capture_forbid(stream);
  if (!error) error = stream_issue(stream, (Work){.kind = WORK_GRAPH, .graph = run});
  return error;
}

EXPORT int cuGraphExecDestroy(GraphRun *run) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(graph_run_is_known(run), ERROR_INVALID_HANDLE);
  graph_run_destroy(run);
  return CUDA_SUCCESS;
}

EXPORT int cuGraphDestroy(Graph *graph) {
  ENTER(NEEDS_CONTEXT);
  REQUIRE(graph_is_known(graph), ERROR_INVALID_HANDLE);
  graph_destroy(graph);
  return CUDA_SUCCESS;
}
