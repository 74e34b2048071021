/* A real device does an operation at any time between the call and whatever waits for it. What may
 * go wrong shows at the extremes, which NNC_EMULATOR_ASYNC chooses:
 *
 *   issue   (the default) at once, in the order of the calls
 *   late    only when something waits for it, and nothing else with it
 *   others  when something is waited for, first all that the other streams have
 *
 * A wait for an event is an operation that needs another stream to have done a number of
 * operations; the null stream and blocking streams wait for each other in the same way. */
#include "stream.h"

#include "capture.h"
#include "cuda_types.h"
#include "failures.h"
#include "fault.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct Operation {
  Work work;
  Operation *next;
};

typedef enum Async { AT_ISSUE, LATE, OTHERS_FIRST } Async;

static Stream null_stream = {.is_blocking = true};
static Stream *streams = &null_stream; /* destroyed ones too: events may name them */
static Event **events;
static int event_count, event_room;
static int lasting_error;

static Async chosen_async(void) {
  static int async = -1;
  const char *text = getenv("NNC_EMULATOR_ASYNC");
  if (async >= 0) return (Async)async;
  if (!text || !*text || !strcmp(text, "issue")) async = AT_ISSUE;
  else if (!strcmp(text, "late")) async = LATE;
  else if (!strcmp(text, "others")) async = OTHERS_FIRST;
  else fault("NNC_EMULATOR_ASYNC is issue, late or others, not %s", text);
  return (Async)async;
}

bool stream_is_late(void) { return chosen_async() != AT_ISSUE; }

/* ---- what there is ---- */

Stream *stream_of(void *handle) {
  if (!handle || handle == (void *)1 || handle == (void *)2) return &null_stream;
  for (Stream *stream = streams; stream; stream = stream->next) {
    if (stream == handle) return stream->is_destroyed ? NULL : stream;
  }
  return NULL;
}

Stream *stream_create(bool is_blocking) {
  Stream *stream = calloc(1, sizeof *stream);
  if (!stream) abort();
  stream->is_blocking = is_blocking;
  stream->next = null_stream.next, null_stream.next = stream;
  return stream;
}

void stream_destroy(Stream *stream) {
  stream_finish(stream, stream->issued);
  stream->is_destroyed = true;
}

Event *event_create(bool is_timed) {
  Event *event = calloc(1, sizeof *event);
  if (event_count == event_room) {
    event_room = event_room ? 2 * event_room : 64;
    events = realloc(events, (size_t)event_room * sizeof *events);
  }
  if (!event || !events) abort();
  event->is_timed = is_timed;
  return events[event_count++] = event;
}

bool event_is_known(const Event *event) {
  for (int i = 0; i < event_count; i++) {
    if (events[i] == event) return true;
  }
  return false;
}

void event_destroy(Event *event) {
  if (event->stream) stream_finish(event->stream, event->sequence);
  for (int i = 0; i < event_count; i++) {
    if (events[i] == event) events[i] = events[--event_count];
  }
  free(event->after), free(event);
}

/* ---- doing ---- */

static double clock_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void note_error(int error) {
  if (error && !lasting_error) lasting_error = error;
}

static void finish(Stream *stream, uint64_t sequence);

static void do_first(Stream *stream) {
  Operation *operation = stream->first;
  Work *work = &operation->work;
  if (work->kind == WORK_WAIT) finish(work->stream, work->sequence);
  if (stream->first != operation) return; /* what it waited for came by here */
  stream->first = operation->next;
  if (!stream->first) stream->last = NULL;
  if (work->kind == WORK_GRAPH) note_error(graph_run(work->graph));
  else if (work->kind == WORK_RECORD) {
    if (event_is_known(work->event) && work->event->stream == stream &&
        work->event->sequence == stream->done + 1) {
      work->event->seconds = clock_seconds(), work->event->has_time = true;
    }
  } else if (work->kind != WORK_WAIT) note_error(work_run(work));
  stream->done++;
  work_free(work);
  free(operation);
}

static void finish(Stream *stream, uint64_t sequence) {
  while (stream->done < sequence && stream->first) do_first(stream);
}

int stream_finish(Stream *stream, uint64_t sequence) {
  for (Stream *other = streams; other && chosen_async() == OTHERS_FIRST; other = other->next) {
    if (other != stream) finish(other, other->issued);
  }
  finish(stream, sequence);
  return lasting_error;
}

int stream_finish_all(void) {
  for (Stream *stream = streams; stream; stream = stream->next) finish(stream, stream->issued);
  return lasting_error;
}

bool stream_has_done(Stream *stream, uint64_t sequence) {
  if (stream->done >= sequence) return true;
  do_first(stream);
  return false;
}

/* ---- asking ---- */

static void append(Stream *stream, Work work) {
  Operation *operation = calloc(1, sizeof *operation);
  if (!operation) abort();
  operation->work = work;
  if (stream->last) stream->last->next = operation;
  else stream->first = operation;
  stream->last = operation;
  stream->issued++;
}

static void append_wait(Stream *stream, Stream *other, uint64_t sequence) {
  if (other->done >= sequence) return;
  append(stream, (Work){.kind = WORK_WAIT, .stream = other, .sequence = sequence});
}

/* The null stream goes after all blocking streams, and these after it. */
static void join_null_stream(Stream *stream) {
  if (!stream->is_blocking) return;
  if (stream != &null_stream) {
    append_wait(stream, &null_stream, null_stream.issued);
    return;
  }
  for (Stream *other = null_stream.next; other; other = other->next) {
    if (other->is_blocking && !other->is_destroyed) append_wait(stream, other, other->issued);
  }
}

int stream_issue(Stream *stream, Work work) {
  join_null_stream(stream);
  append(stream, work);
  if (chosen_async() == AT_ISSUE) finish(stream, stream->issued);
  return lasting_error;
}

void event_record(Event *event, Stream *stream) {
  event->stream = stream, event->sequence = stream->issued + 1, event->has_time = false;
  event->capture = NULL;
  join_null_stream(stream);
  event->sequence = stream->issued + 1;
  append(stream, (Work){.kind = WORK_RECORD, .event = event, .stream = stream});
  if (chosen_async() == AT_ISSUE) finish(stream, stream->issued);
}

int stream_wait(Stream *stream, const Event *event) {
  if (event->stream) append_wait(stream, event->stream, event->sequence);
  return lasting_error;
}
