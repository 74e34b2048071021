/* A table in text that arrives on standard input, from a pipe or a terminal: its rows are predicted as they come. */
#ifndef NNC_PREDICT_STREAM_H
#define NNC_PREDICT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/options.h"
#include "data/open.h"

typedef struct nnc_predict_stream {
  int source;  /* standard input, before it was replaced */
  char *bytes; /* what was read: the head, then records that are not handed out */
  size_t length, room;
  size_t head;        /* bytes of the head, which every piece begins with */
  size_t handed;      /* bytes of the records that the last piece has */
  int64_t line;       /* of the input, from 1, that begins after the head */
  nnc_data_part part; /* what of the input the file of the piece has */
  bool needs_head;    /* it has not come */
  bool has_ended;
} nnc_predict_stream;

/* Whether the prediction reads a table from such an input. */
bool nnc_predict_streams(const nnc_options *options);

bool nnc_predict_stream_open(nnc_predict_stream *stream); /* false after a message */
void nnc_predict_stream_close(nnc_predict_stream *stream);

/* Waits for a row at least; then standard input is a file of the head and of as many rows as are there, at most `most`.
 * Their number; 0: there are no more, and the file is the head alone; -1 after a message. */
int64_t nnc_predict_stream_next(nnc_predict_stream *stream, int64_t most);
/* Of the last piece row `row` alone; false after a message. */
bool nnc_predict_stream_take(nnc_predict_stream *stream, int64_t row);

#endif
