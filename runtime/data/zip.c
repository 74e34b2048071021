/* Zip archives (PKWARE, APPNOTE.TXT 6.3): what NumPy's savez and savez_compressed write.
 *
 *     members       local header, name, extra, bytes: stored or deflated
 *     directory     an entry each: name, sizes, the sum of the bytes, the place of the local header
 *     end record    the directory's place and size, in the last 64 KiB; of large archives a second
 *                   record of 64 bits, named by a locator just before
 *
 * Only the directory is believed, and it is held against the file: a member lies in it, and deflating
 * cannot make more of its bytes than 1032 times as many. The sum is checked at the end of a member. */
#include "data/zip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "data/call.h"
#include "os/buffer.h"

enum {
  END_BYTES = 22,
  LOCATOR_BYTES = 20,
  END_64_BYTES = 56,
  ENTRY_BYTES = 46,
  LOCAL_BYTES = 30,
  COMMENT_MOST = 65535,
  STORED = 0,
  DEFLATED = 8,
  BEST_COMPRESSION = 1032, /* as zlib states it */
  BUFFER = NNC_BUFFER(1 << 16, 5)
};

struct DataZip {
  const DataContext *context;
  const char *name;
  int descriptor;
  int64_t start; /* of the archive in the descriptor's file */
  int64_t size;  /* of the archive: all places lie below it */
  int64_t directory_bytes;
  unsigned char *directory;
};

typedef struct Entry {
  const char *name;
  int name_length, flags, method;
  uint32_t sum;
  int64_t packed, size, local;
} Entry;

static uint64_t number_at(const unsigned char *at, int bytes) {
  uint64_t number = 0;
  for (int i = bytes - 1; i >= 0; i--) number = number << 8 | at[i];
  return number;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int fail_damaged(const DataZip *zip, const char *what) {
  return data_fail(zip->context, "%s: damaged zip archive: %s", zip->name, what);
}

static int read_at(const DataZip *zip, int64_t at, void *bytes, int64_t size) {
  if (at < 0 || size < 0 || size > zip->size || at > zip->size - size)
    return fail_damaged(zip, "a part lies outside of the file");
  for (int64_t done = 0; done < size;) {
    ssize_t got =
        pread(zip->descriptor, (char *)bytes + done, (size_t)(size - done), zip->start + at + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return data_fail(zip->context, "cannot read %s: %s", zip->name,
                       got < 0 ? strerror(errno) : "it has become shorter");
    done += got;
  }
  return 0;
}

/* --- the directory ---------------------------------------------------------------------------- */

/* Where the end record begins in the last `size` bytes; -1: nowhere. */
static int64_t find_end(const unsigned char *tail, int64_t size) {
  for (int64_t at = size - END_BYTES; at >= 0; at--)
    if (number_at(tail + at, 4) == 0x06054b50 &&
        at + END_BYTES + (int64_t)number_at(tail + at + 20, 2) <= size)
      return at;
  return -1;
}

/* The numbers of 64 bits, where there are some. */
static int read_end_64(const DataZip *zip, int64_t end, uint64_t *bytes, uint64_t *place) {
  unsigned char locator[LOCATOR_BYTES], record[END_64_BYTES];
  if (end < LOCATOR_BYTES) return 0;
  if (read_at(zip, end - LOCATOR_BYTES, locator, LOCATOR_BYTES) < 0) return -1;
  if (number_at(locator, 4) != 0x07064b50) return 0;
  uint64_t at = number_at(locator + 8, 8);
  if (at > INT64_MAX || read_at(zip, (int64_t)at, record, END_64_BYTES) < 0)
    return fail_damaged(zip, "a part lies outside of the file");
  if (number_at(record, 4) != 0x06064b50)
    return fail_damaged(zip, "it lacks the end record of 64 bits");
  *bytes = number_at(record + 40, 8);
  *place = number_at(record + 48, 8);
  return 0;
}

static bool is_array(const DataZip *zip) {
  static const char start[] = "\x93NUMPY";
  unsigned char bytes[sizeof start - 1];
  return zip->size >= (int64_t)sizeof bytes && read_at(zip, 0, bytes, sizeof bytes) == 0 &&
         memcmp(bytes, start, sizeof bytes) == 0;
}

static int read_directory(DataZip *zip) {
  int64_t tail_bytes = END_BYTES + COMMENT_MOST;
  if (tail_bytes > zip->size) tail_bytes = zip->size;
  if (is_array(zip))
    return data_fail(zip->context,
                     "%s: one array (.npy), but %s reads an archive of them by their names (.npz, "
                     "as numpy.savez writes it)",
                     zip->name, zip->context->call->function);
  unsigned char *tail = malloc((size_t)tail_bytes + 1);
  if (!tail) return data_fail_memory(zip->context, zip->name, tail_bytes);
  int result = read_at(zip, zip->size - tail_bytes, tail, tail_bytes);
  int64_t end = result == 0 ? find_end(tail, tail_bytes) : -1;
  uint64_t bytes = end < 0 ? 0 : number_at(tail + end + 12, 4);
  uint64_t place = end < 0 ? 0 : number_at(tail + end + 16, 4);
  free(tail);
  if (result < 0) return -1;
  if (end < 0)
    return data_fail(zip->context,
                     "%s: no zip archive, or one that is cut off: it has no end record", zip->name);
  if (read_end_64(zip, zip->size - tail_bytes + end, &bytes, &place) < 0) return -1;
  if (bytes > (uint64_t)zip->size || place > (uint64_t)zip->size)
    return fail_damaged(zip, "its directory lies outside of the file");
  zip->directory_bytes = (int64_t)bytes;
  zip->directory = malloc((size_t)bytes + 1);
  if (!zip->directory) return data_fail_memory(zip->context, zip->name, (int64_t)bytes);
  return read_at(zip, (int64_t)place, zip->directory, (int64_t)bytes);
}

/* Sizes and places that do not fit 32 bits stand in the extra field 1, those alone and in this order. */
static bool read_extra(const unsigned char *extra, int64_t bytes, uint64_t *const *wide,
                       int count) {
  for (int64_t at = 0; at + 4 <= bytes;) {
    int64_t length = (int64_t)number_at(extra + at + 2, 2);
    bool is_wide = number_at(extra + at, 2) == 1;
    at += 4;
    if (at + length > bytes) return false;
    if (is_wide) {
      if (length < 8 * count) return false;
      for (int i = 0; i < count; i++) *wide[i] = number_at(extra + at + 8 * i, 8);
      return true;
    }
    at += length;
  }
  return count == 0;
}

/* The entry at byte *at of the directory, which moves on; 0 at the end, 1, or -1 with a message. */
static int next_entry(const DataZip *zip, int64_t *at, Entry *entry) {
  const unsigned char *head = zip->directory + *at;
  if (*at == zip->directory_bytes) return 0;
  if (zip->directory_bytes - *at < ENTRY_BYTES || number_at(head, 4) != 0x02014b50)
    return fail_damaged(zip, "its directory is no list of members");
  int64_t name = (int64_t)number_at(head + 28, 2), extra = (int64_t)number_at(head + 30, 2);
  int64_t whole = ENTRY_BYTES + name + extra + (int64_t)number_at(head + 32, 2);
  if (whole > zip->directory_bytes - *at)
    return fail_damaged(zip, "its directory is no list of members");
  uint64_t packed = number_at(head + 20, 4), size = number_at(head + 24, 4);
  uint64_t local = number_at(head + 42, 4), *wide[3];
  int count = 0;
  if (size == UINT32_MAX) wide[count++] = &size;
  if (packed == UINT32_MAX) wide[count++] = &packed;
  if (local == UINT32_MAX) wide[count++] = &local;
  if (!read_extra(head + ENTRY_BYTES + name, extra, wide, count) || size > INT64_MAX ||
      packed > INT64_MAX || local > INT64_MAX)
    return fail_damaged(zip, "a size of its directory cannot be read");
  *entry = (Entry){.name = (const char *)head + ENTRY_BYTES,
                   .name_length = (int)name,
                   .flags = (int)number_at(head + 8, 2),
                   .method = (int)number_at(head + 10, 2),
                   .sum = (uint32_t)number_at(head + 16, 4),
                   .packed = (int64_t)packed,
                   .size = (int64_t)size,
                   .local = (int64_t)local};
  *at += whole;
  return 1;
}

/* --- members ---------------------------------------------------------------------------------- */

typedef struct Member {
  const DataZip *zip;
  char *name; /* "x.npz:label.npy" */
  int64_t begin, at, end;
  int64_t left; /* bytes that are still to be delivered */
  uint32_t sum, expected;
  bool is_deflated, is_open;
  z_stream stream;
  unsigned char *buffer;
} Member;

static void close_member(void *state) {
  Member *member = state;
  if (member->is_open) inflateEnd(&member->stream);
  free(member->buffer);
  free(member);
}

static int place_member(const void *state, int64_t *start) {
  const Member *member = state;
  *start = member->zip->start + member->begin;
  return member->is_deflated ? -1 : member->zip->descriptor;
}

static int64_t inflate_piece(const DataContext *context, Member *member, void *bytes,
                             int64_t size) {
  z_stream *stream = &member->stream;
  stream->next_out = bytes;
  stream->avail_out = (unsigned)size;
  while (stream->avail_out == (unsigned)size) {
    if (stream->avail_in == 0 && member->at < member->end) {
      int64_t piece = member->end - member->at < BUFFER ? member->end - member->at : BUFFER;
      if (read_at(member->zip, member->at, member->buffer, piece) < 0) return -1;
      member->at += piece;
      stream->next_in = member->buffer;
      stream->avail_in = (unsigned)piece;
    }
    int code = inflate(stream, Z_NO_FLUSH);
    bool is_good = code == Z_OK || code == Z_STREAM_END;
    if (!is_good || (code == Z_STREAM_END && stream->avail_out == (unsigned)size))
      return data_fail(context, "%s: the compressed data is damaged", member->name);
  }
  return size - stream->avail_out;
}

static int64_t read_member(const DataContext *context, void *state, void *bytes, int64_t size) {
  Member *member = state;
  if (size > member->left) size = member->left;
  if (size > 1 << 30) size = 1 << 30;
  if (size == 0) {
    if (member->sum == member->expected) return 0;
    return data_fail(context, "%s: its bytes do not have the sum that the archive states",
                     member->name);
  }
  int64_t got = size;
  if (member->is_deflated) got = inflate_piece(context, member, bytes, size);
  else if (read_at(member->zip, member->end - member->left, bytes, size) < 0) got = -1;
  if (got < 0) return -1;
  member->sum = (uint32_t)crc32(member->sum, bytes, (unsigned)got);
  member->left -= got;
  return got;
}

static const DataMemberClass member_class = {
    .read = read_member, .place = place_member, .close = close_member};

/* Where the member's bytes are; its claims are possible. */
static int place_entry(const DataContext *context, const DataZip *zip, const Entry *entry,
                       const char *name, int64_t *at) {
  unsigned char local[LOCAL_BYTES];
  if (entry->flags & 1) return data_fail(context, "%s: it is encrypted", name);
  if (entry->method != STORED && entry->method != DEFLATED)
    return data_fail(context, "%s: packed by method %d; stored and deflated members are read", name,
                     entry->method);
  if (read_at(zip, entry->local, local, LOCAL_BYTES) < 0) return -1;
  if (number_at(local, 4) != 0x04034b50)
    return data_fail(context, "%s: damaged: no member begins where the directory says", name);
  *at = entry->local + LOCAL_BYTES + (int64_t)number_at(local + 26, 2) +
        (int64_t)number_at(local + 28, 2);
  bool fits = *at <= zip->size && entry->packed <= zip->size - *at;
  if (entry->method == STORED) fits = fits && entry->size == entry->packed;
  else fits = fits && entry->size / BEST_COMPRESSION <= entry->packed;
  if (fits) return 0;
  return data_fail(context, "%s: damaged: the file cannot hold its %lld bytes", name,
                   (long long)entry->size);
}

static DataFile *open_entry(const DataContext *context, const DataZip *zip, const Entry *entry,
                            char *name) {
  int64_t at = 0;
  if (!name || place_entry(context, zip, entry, name, &at) < 0) {
    if (!name) data_fail_memory(context, zip->name, 64);
    free(name);
    return NULL;
  }
  Member *member = calloc(1, sizeof *member);
  bool good = member != NULL;
  if (good) {
    *member = (Member){.zip = zip,
                       .name = name,
                       .begin = at,
                       .at = at,
                       .end = at + entry->packed,
                       .left = entry->size,
                       .expected = entry->sum,
                       .is_deflated = entry->method == DEFLATED};
    if (member->is_deflated) {
      member->buffer = malloc(BUFFER);
      good = member->is_open = member->buffer && inflateInit2(&member->stream, -MAX_WBITS) == Z_OK;
    }
  }
  if (good) return data_file_of_member(context, &member_class, member, name, entry->size);
  data_fail_memory(context, name, BUFFER);
  if (member) close_member(member);
  free(name);
  return NULL;
}

/* What the archive has, for a message. */
static void fail_absent(const DataContext *context, const DataZip *zip, const char *name,
                        const char *suffix) {
  char list[200] = "nothing";
  size_t used = 0, suffix_length = strlen(suffix);
  Entry entry;
  for (int64_t at = 0; next_entry(zip, &at, &entry) > 0;) {
    int length = entry.name_length;
    bool has_suffix = length >= (int)suffix_length &&
                      memcmp(entry.name + length - suffix_length, suffix, suffix_length) == 0;
    if (has_suffix) length -= (int)suffix_length;
    if (used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", used ? ", " : "", length,
                               entry.name);
  }
  data_fail_call(context, "%s holds no array '%s'; it holds %s%s", zip->name, name, list,
                 used >= sizeof list ? " ..." : "");
}

DataFile *data_zip_member(const DataContext *context, const DataZip *zip, const char *name,
                          const char *suffix) {
  char *whole = data_path(NULL, name, suffix);
  Entry entry, found = {0};
  int count = 0, result = whole ? 0 : data_fail_memory(context, name, 64);
  for (int64_t at = 0; result >= 0 && (result = next_entry(zip, &at, &entry)) > 0;) {
    bool is_it = (size_t)entry.name_length == strlen(whole) &&
                 memcmp(entry.name, whole, (size_t)entry.name_length) == 0;
    if (is_it) found = entry;
    count += is_it;
  }
  DataFile *file = NULL;
  if (result == 0 && count == 0) fail_absent(context, zip, name, suffix);
  else if (result == 0 && count > 1)
    data_fail(context, "%s has %d members '%s'", zip->name, count, whole);
  else if (result == 0) {
    char *shown = malloc(strlen(zip->name) + strlen(whole) + 2);
    if (shown) sprintf(shown, "%s:%s", zip->name, whole);
    file = open_entry(context, zip, &found, shown);
  }
  free(whole);
  return file;
}

DataZip *data_zip_open(const DataContext *context, DataFile *file) {
  DataZip *zip = calloc(1, sizeof *zip);
  if (!zip) {
    data_fail_memory(context, data_file_name(file), sizeof *zip);
    return NULL;
  }
  zip->context = context;
  zip->name = data_file_name(file);
  zip->size = data_file_limit(file);
  zip->descriptor = data_file_place(context, file, &zip->start);
  if (zip->descriptor >= 0 && read_directory(zip) == 0) return zip;
  data_zip_close(zip);
  return NULL;
}

void data_zip_close(DataZip *zip) {
  if (zip) free(zip->directory);
  free(zip);
}
