/* Event files of TensorBoard.
 *
 * A file is a series of records, as TensorFlow's TFRecord: 8 bytes with the length (little endian), their checksum, the
 * data, its checksum. A checksum is the CRC-32C (polynomial 0x1EDC6F41), rotated and moved by a constant, since data may
 * hold checksums themselves. The data of a record is a message of Protocol Buffers:
 *
 *     Event   { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
 *     Summary { repeated Value value = 1; }
 *     Value   { string tag = 1; float simple_value = 2; }
 *
 * of which each field is a key, number << 3 | form, and its content (protobuf.dev/programming-guides/encoding). The
 * first record has the version alone. */
#include "train/event_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/json_numbers.h"
#include "os/clock.h"
#include "os/message.h"
#include "os/replace.h"

enum { FORM_VARINT, FORM_8_BYTES, FORM_BYTES, FORM_4_BYTES = 5 };
enum { EVENT_TIME = 1, EVENT_STEP = 2, EVENT_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_NUMBER = 2 };

static const char file_name[] = "events.out.tfevents.nnc", previous_name[] = "events.previous";
static const char version[] = "brain.Event:2";
enum {
  VERSION_AT = 12 + 9 + 2
}; /* in the file: after the record's head, the time, the key and its length */

/* ---- messages -------------------------------------------------------------------------------- */

static void put_varint(FILE *file, uint64_t number) {
  for (; number > 127; number >>= 7) putc((int)(number & 127) | 128, file);
  putc((int)number, file);
}

static void put_key(FILE *file, int field, int form) {
  put_varint(file, (uint64_t)(field << 3 | form));
}

static void put_bytes(FILE *file, int field, const void *bytes, size_t count) {
  put_key(file, field, FORM_BYTES);
  put_varint(file, count);
  fwrite(bytes, 1, count, file);
}

static void put_time(FILE *file) {
  double now = nnc_unix_seconds_now();
  put_key(file, EVENT_TIME, FORM_8_BYTES);
  fwrite(&now, sizeof now, 1, file);
}

/* What a memory stream holds; `text` is NULL where there was no memory. */
typedef struct Bytes {
  char *text;
  size_t count;
} Bytes;

static FILE *open_bytes(Bytes *bytes) {
  *bytes = (Bytes){0};
  return open_memstream(&bytes->text, &bytes->count);
}

static bool close_bytes(FILE *file) {
  bool good = file && !ferror(file);
  return file && fclose(file) == 0 && good;
}

typedef struct Line {
  FILE *summary;
  int64_t step;
} Line;

static bool put_value(void *context, const char *name, double number) {
  Line *line = context;
  float value = (float)number;
  size_t length = strlen(name);
  if (strcmp(name, "step") == 0) {
    line->step = (int64_t)number;
    return true;
  }
  Bytes bytes;
  FILE *file = open_bytes(&bytes);
  if (file) {
    put_bytes(file, VALUE_TAG, name, length);
    put_key(file, VALUE_NUMBER, FORM_4_BYTES);
    fwrite(&value, sizeof value, 1, file);
  }
  bool good = close_bytes(file);
  if (good) put_bytes(line->summary, SUMMARY_VALUE, bytes.text, bytes.count);
  free(bytes.text);
  return good;
}

/* The summary of a line of the log. */
static bool make_summary(Bytes *summary, int64_t *step, char *text, size_t length) {
  char message[128];
  nnc_json_document document;
  *summary = (Bytes){0};
  if (!nnc_json_parse(&document, text, length, message, sizeof message)) return false;
  Line line = {.summary = open_bytes(summary)};
  bool good = line.summary && nnc_json_numbers(&document, put_value, &line);
  good = close_bytes(line.summary) && good;
  nnc_json_free(&document);
  *step = line.step;
  return good;
}

static bool make_event(Bytes *event, char *text, size_t length) {
  Bytes summary;
  int64_t step;
  *event = (Bytes){0};
  bool good = make_summary(&summary, &step, text, length);
  FILE *file = good ? open_bytes(event) : NULL;
  if (file) {
    put_time(file);
    put_key(file, EVENT_STEP, FORM_VARINT);
    put_varint(file, (uint64_t)step);
    put_bytes(file, EVENT_SUMMARY, summary.text, summary.count);
  }
  good = close_bytes(file);
  free(summary.text);
  return good;
}

static bool make_version(Bytes *event) {
  FILE *file = open_bytes(event);
  if (!file) return false;
  put_time(file);
  put_bytes(file, EVENT_VERSION, version, strlen(version));
  return close_bytes(file);
}

/* ---- records --------------------------------------------------------------------------------- */

static uint32_t checksum(const void *bytes, size_t count) {
  const unsigned char *byte = bytes;
  uint32_t sum = 0xffffffff;
  for (size_t i = 0; i < count; i++) {
    sum ^= byte[i];
    for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78 : 0);
  }
  sum = ~sum;
  return (sum >> 15 | sum << 17) + 0xa282ead8;
}

enum { HEAD = 12, TAIL = 4 };

/* As one write, so that a file has whole records alone. */
static bool write_record(int fd, const Bytes *data) {
  uint64_t length = data->count;
  size_t size = HEAD + data->count + TAIL;
  char *record = malloc(size);
  if (!record) return false;
  uint32_t head_sum = checksum(&length, sizeof length), sum = checksum(data->text, data->count);
  memcpy(record, &length, sizeof length);
  memcpy(record + sizeof length, &head_sum, sizeof head_sum);
  memcpy(record + HEAD, data->text, data->count);
  memcpy(record + HEAD + data->count, &sum, TAIL);
  ssize_t written;
  do written = write(fd, record, size);
  while (written < 0 && errno == EINTR);
  free(record);
  if (written >= 0 && (size_t)written < size) errno = ENOSPC;
  return written == (ssize_t)size;
}

/* Malloc'ed; NULL at the end of the file's whole records. */
static unsigned char *read_record(FILE *file, off_t left, uint64_t *length) {
  uint32_t sum;
  if (fread(length, sizeof *length, 1, file) != 1 || fread(&sum, sizeof sum, 1, file) != 1)
    return NULL;
  if (sum != checksum(length, sizeof *length) || left < HEAD + TAIL ||
      *length > (uint64_t)left - HEAD - TAIL)
    return NULL;
  unsigned char *data = malloc(*length + TAIL);
  if (data && fread(data, 1, *length + TAIL, file) == *length + TAIL) {
    memcpy(&sum, data + *length, TAIL);
    if (sum == checksum(data, *length)) return data;
  }
  free(data);
  return NULL;
}

static const unsigned char *take_varint(const unsigned char *at, const unsigned char *end,
                                        uint64_t *number) {
  *number = 0;
  for (int shift = 0; at < end && shift < 64; shift += 7) {
    *number |= (uint64_t)(*at & 127) << shift;
    if (*at++ < 128) return at;
  }
  return NULL;
}

/* 0 where the event has none. */
static int64_t step_of(const unsigned char *at, uint64_t length) {
  const unsigned char *end = at + length;
  uint64_t key, number, size;
  while (at && at < end && (at = take_varint(at, end, &key))) {
    int form = (int)(key & 7);
    if (form == FORM_VARINT) {
      at = take_varint(at, end, &number);
      if (at && key >> 3 == EVENT_STEP) return (int64_t)number;
      continue;
    }
    size = form == FORM_8_BYTES ? 8 : 4;
    if (form == FORM_BYTES) at = take_varint(at, end, &size);
    if (!at || size > (uint64_t)(end - at)) break;
    at += size;
  }
  return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Events of the steps that the run does again, and half a record at the end, are dropped. */
static bool cut(const char *path, int64_t step, bool keeps_step) {
  struct stat status;
  FILE *file = fopen(path, "r+e");
  if (!file && errno == ENOENT) return true;
  if (!file || fstat(fileno(file), &status) != 0) {
    nnc_error_system("open", path);
    if (file) fclose(file);
    return false;
  }
  off_t end = 0;
  uint64_t length;
  unsigned char *data;
  while ((data = read_record(file, status.st_size - end, &length))) {
    int64_t at = step_of(data, length);
    free(data);
    if (at > step || (at == step && at > 0 && !keeps_step)) break;
    end += (off_t)(HEAD + length + TAIL);
  }
  bool good = ftruncate(fileno(file), end) == 0;
  if (!good) nnc_error_system("cut back", path);
  fclose(file); /* nothing is buffered: it was only read and truncated */
  return good;
}

bool nnc_event_file_open(nnc_event_file *events, const char *folder, bool resumes, int64_t step,
                         bool keeps_step) {
  *events = (nnc_event_file){.folder = folder, .fd = -1};
  if (!nnc_make_folder(folder, &events->folder_made)) return false;
  events->path = nnc_path_join(folder, file_name);
  if (!events->path || !nnc_may_replace(events->path, "event file", VERSION_AT, version))
    return false;
  if (resumes) return cut(events->path, step, keeps_step);
  events->keep = nnc_path_join(folder, previous_name);
  return events->keep && nnc_may_replace(events->keep, "event file", VERSION_AT, version);
}

/* Before the first event. */
static bool begin(nnc_event_file *events) {
  struct stat status;
  Bytes event;
  if (events->keep && rename(events->path, events->keep) != 0 && errno != ENOENT) return false;
  events->fd = open(events->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (events->fd < 0 || fstat(events->fd, &status) != 0) return false;
  if (status.st_size > 0) return true;
  bool good = make_version(&event) && write_record(events->fd, &event);
  free(event.text);
  return good;
}

void nnc_event_file_write(nnc_event_file *events, char *line, size_t length) {
  Bytes event;
  struct stat status;
  if (events->has_failed) return;
  errno = ENOMEM;
  bool good = (events->fd >= 0 || begin(events)) && make_event(&event, line, length);
  if (good) {
    bool has_size = fstat(events->fd, &status) == 0;
    good = has_size && write_record(events->fd, &event);
    if (!good && has_size && ftruncate(events->fd, status.st_size) != 0)
      nnc_error_system("cut back", events->path);
    free(event.text);
  }
  if (good) return;
  events->has_failed = true;
  nnc_warning("cannot write events to %s: %s; no more are written", events->path, strerror(errno));
}

void nnc_event_file_close(nnc_event_file *events) {
  if (events->fd >= 0 && close(events->fd) != 0) nnc_error_system("close", events->path);
  if (events->path) nnc_remove_made(events->folder, events->folder_made);
  free(events->path);
  free(events->keep);
  *events = (nnc_event_file){.fd = -1};
}
