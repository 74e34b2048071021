/* train --tensorboard: the numbers of the log as an event file of TensorBoard, DIR/events.out.tfevents.nnc. */
#ifndef NNC_EVENT_FILE_H
#define NNC_EVENT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nnc_event_file {
  const char *folder; /* the caller's */
  size_t folder_made; /* of replace.h: how much of it is new */
  char *path;         /* NULL: no events are written */
  char *keep; /* what an earlier run wrote gets this name before the first event; NULL: nothing */
  int fd;     /* -1: not open yet */
  bool has_failed; /* an event could not be written */
} nnc_event_file;

/* A run begins, or with `resumes` goes on: then what was written of steps after `step` is dropped, and of `step` itself
 * unless `keeps_step`. An earlier run's file stays until this one has an event. False after a message. */
bool nnc_event_file_open(nnc_event_file *events, const char *folder, bool resumes, int64_t step,
                         bool keeps_step);

/* An event with every number of a line of the log, which is destroyed, by the line's step. A failure is a warning, and the
 * file keeps whole events only. */
void nnc_event_file_write(nnc_event_file *events, char *line, size_t length);
void nnc_event_file_close(nnc_event_file *events);

#endif
