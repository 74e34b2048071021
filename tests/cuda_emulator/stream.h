/* Streams and events: when what was asked of the device is done. */
#ifndef STREAM_H
#define STREAM_H

#include "work.h"

typedef struct Capture Capture;

struct Event {
  Stream *stream; /* of the last record, or NULL */
  uint64_t sequence;
  double seconds; /* when it was done */
  bool has_time, is_timed;
  Capture *capture; /* if the last record was captured: after which nodes */
  uint64_t capture_number;
  int *after, after_count;
};

typedef struct Operation Operation;

struct Stream {
  Operation *first, *last; /* what waits to be done */
  uint64_t issued, done;   /* how many operations */
  bool is_blocking;        /* in order with the null stream */
  bool is_destroyed;
  Capture *capture; /* NULL, or what it is captured into, and after which nodes its next comes */
  int *after, after_count;
  Stream *next;
};

/* NULL and the driver's names for it are the null stream; NULL if it is no stream. */
Stream *stream_of(void *handle);
bool event_is_known(const Event *event);
Stream *stream_create(bool is_blocking);
void stream_destroy(Stream *stream);
Event *event_create(bool is_timed);
void event_destroy(Event *event);

/* Whether work waits until something waits for it. */
bool stream_is_late(void);
/* Takes over the work. Everything that is not captured goes through here. */
int stream_issue(Stream *stream, Work work);
void event_record(Event *event, Stream *stream);
int stream_wait(Stream *stream, const Event *event);

/* Does what must be done before the stream has done `sequence` operations; 0, or the error of the
 * device. */
int stream_finish(Stream *stream, uint64_t sequence);
int stream_finish_all(void);
/* Whether it has; if not, a little is done, so that asking again and again comes to an end. */
bool stream_has_done(Stream *stream, uint64_t sequence);

#endif
