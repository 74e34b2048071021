/* Rows as they come: see predict_stream.h.
 *
 * Sources of data read files to their end. So each piece of the input becomes such a file, in memory, which takes the
 * place of standard input. A record ends with a line, but for lines inside quotes. */
#include "train/predict_stream.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nnc_model.h"
#include "os/buffer.h"
#include "os/memory.h"
#include "os/message.h"

enum { PIECE = NNC_BUFFER(1 << 16, 8) }; /* that is read at once */

/* --- Which tables ---------------------------------------------------------------------------- */

/* As the data are chosen: those of `data predict`, else of the first evaluation set, else of training. */
static const nnc_data_set *prediction_set(void) {
  const nnc_model *model = &nnc_the_model;
  const nnc_data_set *found = NULL;
  for (int i = 0; i < model->data_set_count; i++) {
    const nnc_data_set *set = &model->data_sets[i];
    if (strcmp(set->name, "predict") == 0) return set;
    bool is_train = strcmp(set->name, "train") == 0;
    if (!found || (strcmp(found->name, "train") == 0 && !is_train)) found = set;
  }
  return found;
}

/* The only line of the set that has rows of its own, if it is a csv; else NULL. */
static const nnc_call *find_table(void) {
  const nnc_data_set *set = prediction_set();
  const nnc_call *found = NULL;
  for (int i = 0; set && i < set->pipeline_count; i++) {
    const nnc_call *call = &set->pipelines[i].calls[0];
    if (strcmp(call->function, "counter") == 0 || strcmp(call->function, "constant") == 0) continue;
    if (found || strcmp(call->function, "csv") != 0) return NULL;
    found = call;
  }
  return found;
}

bool nnc_predict_streams(const nnc_options *options) {
  struct stat status;
  bool reads_input = options->argument_count == 1 && strcmp(options->arguments[0], "-") == 0;
  return reads_input && find_table() && fstat(STDIN_FILENO, &status) == 0 &&
         !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static bool has_head(const nnc_call *table) {
  for (int i = 0; i < table->argument_count; i++)
    if (strcmp(table->arguments[i].name, "header") == 0)
      return table->arguments[i].value.number != 0;
  return true;
}

/* --- Records -------------------------------------------------------------------------------- */

bool nnc_predict_stream_open(nnc_predict_stream *stream) {
  *stream = (nnc_predict_stream){
      .source = dup(STDIN_FILENO), .line = 1, .needs_head = has_head(find_table())};
  if (stream->source >= 0) return true;
  nnc_error_system("read", "standard input");
  return false;
}

void nnc_predict_stream_close(nnc_predict_stream *stream) {
  if (stream->source >= 0) close(stream->source);
  free(stream->bytes);
}

/* Bytes of the record that begins there; 0: it is not whole. */
static size_t record_bytes(const nnc_predict_stream *stream, size_t at) {
  bool is_quoted = false;
  for (size_t i = at; i < stream->length; i++) {
    if (stream->bytes[i] == '"') is_quoted = !is_quoted;
    if (stream->bytes[i] == '\n' && !is_quoted) return i + 1 - at;
  }
  return stream->has_ended ? stream->length - at : 0;
}

static bool is_blank(const nnc_predict_stream *stream, size_t at, size_t bytes) {
  for (size_t i = at; i < at + bytes; i++)
    if (stream->bytes[i] != '\n' && stream->bytes[i] != '\r') return false;
  return true;
}

/* Lines that end there. */
static int64_t count_lines(const nnc_predict_stream *stream, size_t at, size_t bytes) {
  int64_t lines = 0;
  for (size_t i = at; i < at + bytes; i++) lines += stream->bytes[i] == '\n';
  return lines;
}

static void drop(nnc_predict_stream *stream, size_t at, size_t bytes) {
  stream->line += count_lines(stream, at, bytes);
  memmove(stream->bytes + at, stream->bytes + at + bytes, stream->length - at - bytes);
  stream->length -= bytes;
}

static bool read_more(nnc_predict_stream *stream) {
  if (stream->room - stream->length < PIECE) {
    size_t room = 2 * stream->room + PIECE;
    char *bytes = realloc(stream->bytes, room);
    if (!bytes) {
      nnc_error("cannot allocate %zu bytes of standard input", room);
      return false;
    }
    stream->bytes = bytes;
    stream->room = room;
  }
  ssize_t count;
  do count = read(stream->source, stream->bytes + stream->length, PIECE);
  while (count < 0 && errno == EINTR);
  if (count < 0) {
    nnc_error_system("read", "standard input");
    return false;
  }
  stream->length += (size_t)count;
  stream->has_ended = count == 0;
  return true;
}

/* What is compressed is read as a whole: records cannot be told. */
static bool is_compressed(const nnc_predict_stream *stream) {
  return stream->length >= 2 && memcmp(stream->bytes, "\x1f\x8b", 2) == 0;
}

/* --- Pieces --------------------------------------------------------------------------------- */

static bool become_input(nnc_predict_stream *stream, size_t at, size_t bytes) {
  int file = nnc_memory_file();
  bool good = file >= 0;
  stream->part.head_lines = count_lines(stream, 0, stream->head);
  stream->part.line = stream->line + count_lines(stream, stream->head, at - stream->head);
  for (int part = 0; part < 2 && good; part++) {
    const char *from = stream->bytes + (part ? at : 0);
    size_t left = part ? bytes : stream->head;
    while (left > 0 && good) {
      ssize_t count = write(file, from, left);
      good = count > 0;
      from += good ? count : 0;
      left -= good ? (size_t)count : 0;
    }
  }
  good = good && lseek(file, 0, SEEK_SET) == 0 && dup2(file, STDIN_FILENO) >= 0;
  if (!good) nnc_error_system("keep a piece of", "standard input");
  if (file > STDIN_FILENO) close(file);
  return good;
}

static bool take_head(nnc_predict_stream *stream) {
  while (stream->needs_head) {
    size_t bytes = record_bytes(stream, 0);
    if (bytes > 0 && is_blank(stream, 0, bytes)) drop(stream, 0, bytes);
    else if (bytes > 0 || stream->has_ended) {
      stream->head = bytes;
      stream->line += count_lines(stream, 0, bytes);
      stream->needs_head = false;
    } else if (!read_more(stream)) return false;
  }
  return true;
}

/* Whole records that are there, at most `most`; *bytes: of all of them. */
static int64_t count_records(nnc_predict_stream *stream, int64_t most, size_t *bytes) {
  int64_t count = 0;
  size_t at = stream->head;
  for (size_t own; count < most && at < stream->length && (own = record_bytes(stream, at)) > 0;) {
    bool is_row = !is_blank(stream, at, own);
    if (count == 0 && !is_row) drop(stream, at, own);
    else at += own;
    count += is_row;
  }
  *bytes = at - stream->head;
  return count;
}

/* All that there is, whatever it holds. */
static int64_t take_whole(nnc_predict_stream *stream) {
  stream->needs_head = false;
  while (!stream->has_ended)
    if (!read_more(stream)) return -1;
  stream->handed = stream->length;
  return become_input(stream, 0, stream->length) ? 1 : -1;
}

/* Whether reading would not wait. */
static bool has_more(const nnc_predict_stream *stream) {
  struct pollfd input = {.fd = stream->source, .events = POLLIN};
  return poll(&input, 1, 0) > 0;
}

int64_t nnc_predict_stream_next(nnc_predict_stream *stream, int64_t most) {
  drop(stream, stream->head, stream->handed);
  stream->handed = 0;
  while (stream->length < 2 && !stream->has_ended && stream->head == 0)
    if (!read_more(stream)) return -1;
  if (stream->head == 0 && is_compressed(stream)) return take_whole(stream);
  if (!take_head(stream)) return -1;
  for (;;) {
    int64_t count = count_records(stream, most, &stream->handed);
    bool waits = count > 0 && (count == most || !has_more(stream));
    if (waits || stream->has_ended)
      return become_input(stream, stream->head, stream->handed) ? count : -1;
    if (!read_more(stream)) return -1;
  }
}

bool nnc_predict_stream_take(nnc_predict_stream *stream, int64_t row) {
  size_t at = stream->head;
  for (size_t bytes; row > 0 || is_blank(stream, at, record_bytes(stream, at)); at += bytes) {
    bytes = record_bytes(stream, at);
    row -= !is_blank(stream, at, bytes);
  }
  return become_input(stream, at, record_bytes(stream, at));
}
