/* Tar archives (POSIX.1-2001, pax; and GNU tar's long names): blocks of 512 bytes.
 *
 *     header    name 100, mode 8, owner 8, group 8, size 12, time 12, sum 8, kind 1, link 100,
 *               "ustar" 6, version 2, names and devices 80, prefix of the name 155
 *     bytes     of the member, filled up to whole blocks
 *     end       two blocks of zeros
 *
 * A kind x or L stands before a member and has more of it: its path, its size. */
#include "data/tar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/call.h"

enum { BLOCK = 512, EXTENSION_MOST = 1 << 20 };

static int fail(const DataTar *tar, int64_t at, const char *what) {
  return data_fail(tar->context, "%s: damaged tar archive at byte %lld: %s", tar->name,
                   (long long)at, what);
}

static int read_at(const DataTar *tar, int64_t at, void *bytes, int64_t size) {
  for (int64_t done = 0; done < size;) {
    ssize_t got = pread(tar->descriptor, (char *)bytes + done, (size_t)(size - done), at + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return data_fail(tar->context, "cannot read %s: %s", tar->name, strerror(errno));
    if (got == 0) return fail(tar, at + done, "it ends here");
    done += got;
  }
  return 0;
}

/* Octal digits, or with the first bit set a binary number; -1: neither. */
static int64_t number_of(const unsigned char *field, int bytes) {
  int64_t number = 0;
  int i = 0;
  if (field[0] & 0x80) {
    for (i = 1; i < bytes; i++) {
      if (number >> 54) return -1;
      number = number << 8 | field[i];
    }
    return field[0] == 0x80 ? number : -1;
  }
  while (i < bytes && field[i] == ' ') i++;
  if (i == bytes || field[i] < '0' || field[i] > '7') return -1;
  for (; i < bytes && field[i] >= '0' && field[i] <= '7'; i++) number = number * 8 + field[i] - '0';
  return i == bytes || field[i] == 0 || field[i] == ' ' ? number : -1;
}

static bool has_sum(const unsigned char *header) {
  int64_t sum = 0;
  for (int i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? ' ' : header[i];
  return number_of(header + 148, 8) == sum;
}

static bool is_empty(const unsigned char *block) {
  for (int i = 0; i < BLOCK; i++)
    if (block[i]) return false;
  return true;
}

static int set_path(DataTar *tar, const char *prefix, int prefix_length, const char *name,
                    int name_length) {
  char *path = malloc((size_t)prefix_length + (size_t)name_length + 2);
  if (!path) return data_fail_memory(tar->context, tar->name, name_length);
  sprintf(path, "%.*s%s%.*s", prefix_length, prefix, prefix_length ? "/" : "", name_length, name);
  free(tar->path);
  tar->path = path;
  return 0;
}

/* Lines "LENGTH KEY=VALUE\n"; of these path and size are needed. */
static int read_pax(DataTar *tar, int64_t at, char *text, int64_t bytes, bool *has_path) {
  for (char *line = text; line < text + bytes && *line;) {
    char *key, *end;
    int64_t length = strtoll(line, &key, 10);
    if (length < 5 || length > text + bytes - line || *key != ' ' || line[length - 1] != '\n' ||
        !(end = memchr(key, '=', (size_t)(line + length - key))))
      return fail(tar, at, "its pax header is no list of lines");
    if (end - key == 5 && memcmp(key, " path", 5) == 0) {
      *has_path = true;
      if (set_path(tar, "", 0, end + 1, (int)(line + length - end - 2)) < 0) return -1;
    }
    if (end - key == 5 && memcmp(key, " size", 5) == 0) tar->bytes = strtoll(end + 1, NULL, 10);
    line += length;
  }
  return 0;
}

/* What stands before a member and has more of it. */
static int read_extension(DataTar *tar, char kind, bool *has_path) {
  if (tar->bytes > EXTENSION_MOST) return fail(tar, tar->at, "a name of more than 1 MiB");
  int64_t bytes = tar->bytes, at = tar->at;
  char *text = calloc(1, (size_t)bytes + 1);
  if (!text) return data_fail_memory(tar->context, tar->name, bytes);
  int result = read_at(tar, at, text, bytes);
  tar->bytes = -1;
  if (result == 0 && kind == 'L') {
    *has_path = true;
    result = set_path(tar, "", 0, text, (int)strlen(text));
  } else if (result == 0) {
    result = read_pax(tar, at, text, bytes, has_path);
  }
  free(text);
  return result;
}

static int read_header(DataTar *tar, unsigned char *header) {
  int64_t at = tar->next;
  if (at + BLOCK > tar->size)
    return fail(tar, at, "it lacks the two empty blocks of its end, as one that is cut off");
  if (read_at(tar, at, header, BLOCK) < 0) return -1;
  if (is_empty(header)) {
    unsigned char second[BLOCK];
    if (at + 2 * BLOCK > tar->size || read_at(tar, at + BLOCK, second, BLOCK) < 0 ||
        !is_empty(second))
      return fail(tar, at, "an empty block, and not the two of its end");
    return 0;
  }
  if (!has_sum(header))
    return fail(tar, at, at ? "no header of a member" : "it does not begin with a member's header");
  return 1;
}

int data_tar_next(DataTar *tar) {
  unsigned char header[BLOCK];
  bool has_path = false;
  int64_t wide = -1; /* the size of a pax header */
  for (;;) {
    int result = read_header(tar, header);
    if (result <= 0) return result;
    char kind = (char)header[156];
    int64_t at = tar->next;
    tar->bytes = wide >= 0 ? wide : number_of(header + 124, 12);
    tar->at = at + BLOCK;
    wide = -1;
    if (tar->bytes < 0 || tar->bytes > tar->size - tar->at)
      return fail(tar, at, "a member that goes beyond the end of the file");
    tar->next = tar->at + (tar->bytes + BLOCK - 1) / BLOCK * BLOCK;
    if (kind == 'x' || kind == 'L') {
      if (read_extension(tar, kind, &has_path) < 0) return -1;
      wide = tar->bytes;
      continue;
    }
    bool is_file = kind == '0' || kind == 0 || kind == '7';
    if (kind == '1' || kind == '2')
      return fail(tar, at, "a link, whose bytes are elsewhere; tar --hard-dereference -h has none");
    if (is_file && has_path) return 1;
    has_path = false;
    if (!is_file) continue; /* a folder, say */
    const char *prefix = (const char *)header + 345, *name = (const char *)header;
    bool has_prefix = memcmp(header + 257, "ustar", 6) == 0;
    if (set_path(tar, prefix, has_prefix ? (int)strnlen(prefix, 155) : 0, name,
                 (int)strnlen(name, 100)) < 0)
      return -1;
    return 1;
  }
}

int data_tar_open(const DataContext *context, DataFile *file, DataTar *tar) {
  int64_t start;
  *tar = (DataTar){.context = context, .name = data_file_name(file), .size = data_file_limit(file)};
  tar->descriptor = data_file_place(context, file, &start);
  return tar->descriptor < 0 ? -1 : 0;
}

void data_tar_close(DataTar *tar) { free(tar->path); }
