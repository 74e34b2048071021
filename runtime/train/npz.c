/* The zip format (APPNOTE.TXT, 4.3): for each member a local header, its name and its bytes;
 * after them the central directory, which repeats the headers with offsets, and its end
 * record.  Sizes are 32 bits here, so an archive stops at 4 GB; larger models go to
 * safetensors. */
#include "train/checkpoint.h"
#include "train/npy.h"
#include "train/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "os/assert.h"
#include "os/buffer.h"
#include "os/message.h"
#include "core/number.h"
#include "os/replace.h"

enum { CHUNK = NNC_BUFFER(16384, 8), MAX_NAME = 1024, MAX_MEMBERS = 65535 };

typedef struct Member {
  const nnc_tensor *tensor;
  uint32_t crc, bytes, offset;
} Member;

typedef struct Archive {
  const nnc_session *session;
  nnc_replacement out;
  Member *members;
  int count;
} Archive;

/* --- Members -------------------------------------------------------------------------------- */

static int64_t data_bytes(const nnc_tensor *tensor) {
  return nnc_tensor_elements(tensor) * nnc_npy_size(tensor->dtype);
}

typedef bool Sink(Archive *archive, Member *member, const void *bytes, size_t count);

static bool sink_crc(Archive *archive, Member *member, const void *bytes, size_t count) {
  (void)archive;
  member->crc = (uint32_t)crc32_z(member->crc, bytes, count);
  return true;
}

static bool sink_file(Archive *archive, Member *member, const void *bytes, size_t count) {
  (void)member;
  return nnc_replace_write(&archive->out, bytes, count);
}

/* Sends the .npy file of a member to the sink. */
static bool send(Archive *archive, Member *member, Sink *sink) {
  const nnc_tensor *tensor = member->tensor;
  char header[NNC_NPY_HEADER];
  int length = nnc_npy_header(header, tensor->dtype, tensor->rank, tensor->dim, 0);
  if (!sink(archive, member, header, (size_t)length)) return false;
  char values[CHUNK];
  float wide[CHUNK / sizeof(float)];
  bool widens = tensor->dtype == NNC_BF16;
  int64_t size = nnc_npy_size(tensor->dtype);
  int64_t elements = nnc_tensor_elements(tensor), most = CHUNK / size;
  for (int64_t first = 0, count; first < elements; first += count) {
    count = elements - first < most ? elements - first : most;
    nnc_device_read(archive->session->device, tensor, first, count, values);
    for (int64_t i = 0; widens && i < count; i++)
      wide[i] = (float)nnc_number_get(NNC_BF16, values, i);
    if (!sink(archive, member, widens ? (void *)wide : values, (size_t)(count * size)))
      return false;
  }
  return true;
}

/* --- Headers -------------------------------------------------------------------------------- */

typedef struct Bytes {
  unsigned char data[64];
  int count;
} Bytes;

static void put(Bytes *bytes, int size, uint32_t value) {
  for (int i = 0; i < size; i++) bytes->data[bytes->count++] = (unsigned char)(value >> 8 * i);
}

enum { VERSION = 20, UTF8_NAMES = 1 << 11, DATE_1980_01_01 = 33 };

/* The fields that both headers share: version ... extra length. */
static void put_common(Bytes *bytes, const Member *member, size_t name_length) {
  put(bytes, 2, VERSION);
  put(bytes, 2, UTF8_NAMES);
  put(bytes, 2, 0); /* stored */
  put(bytes, 2, 0); /* time: none, so that equal models give equal files */
  put(bytes, 2, DATE_1980_01_01);
  put(bytes, 4, member->crc);
  put(bytes, 4, member->bytes); /* compressed */
  put(bytes, 4, member->bytes);
  put(bytes, 2, (uint32_t)name_length);
  put(bytes, 2, 0); /* extra */
}

static bool write_header(Archive *archive, const Member *member, bool is_central) {
  char name[MAX_NAME + 8];
  int length = snprintf(name, sizeof name, "%s.npy", member->tensor->name);
  Bytes bytes = {.count = 0};
  put(&bytes, 4, is_central ? 0x02014b50 : 0x04034b50);
  if (is_central) put(&bytes, 2, VERSION);
  put_common(&bytes, member, (size_t)length);
  if (is_central) {
    put(&bytes, 2, 0); /* comment */
    put(&bytes, 2, 0); /* disk */
    put(&bytes, 2, 0); /* internal attributes */
    put(&bytes, 4, 0); /* external attributes */
    put(&bytes, 4, member->offset);
  }
  return nnc_replace_write(&archive->out, bytes.data, (size_t)bytes.count) &&
         nnc_replace_write(&archive->out, name, (size_t)length);
}

static bool write_end(Archive *archive, uint32_t start, uint32_t end) {
  Bytes bytes = {.count = 0};
  put(&bytes, 4, 0x06054b50);
  put(&bytes, 4, 0); /* disks */
  put(&bytes, 2, (uint32_t)archive->count);
  put(&bytes, 2, (uint32_t)archive->count);
  put(&bytes, 4, end - start);
  put(&bytes, 4, start);
  put(&bytes, 2, 0); /* comment */
  return nnc_replace_write(&archive->out, bytes.data, (size_t)bytes.count);
}

static bool write_archive(Archive *archive) {
  for (int i = 0; i < archive->count; i++) {
    Member *member = &archive->members[i];
    member->offset = (uint32_t)archive->out.written;
    send(archive, member, sink_crc);
    if (!write_header(archive, member, false) || !send(archive, member, sink_file)) return false;
  }
  uint32_t start = (uint32_t)archive->out.written;
  for (int i = 0; i < archive->count; i++)
    if (!write_header(archive, &archive->members[i], true)) return false;
  return write_end(archive, start, (uint32_t)archive->out.written) &&
         nnc_replace_commit(&archive->out, NULL);
}

/* Lists the members; false after a message when they are too much for the format. */
static bool list_members(Archive *archive, const char *path, unsigned kinds) {
  const nnc_model *model = archive->session->model;
  uint64_t total = 0;
  for (int i = 0; i < model->variable_count; i++) {
    const nnc_tensor *tensor = &model->variables[i].tensor;
    if (!nnc_checkpoint_has(archive->session, i, kinds)) continue;
    char header[NNC_NPY_HEADER];
    uint64_t bytes = (uint64_t)nnc_npy_header(header, tensor->dtype, tensor->rank, tensor->dim, 0) +
                     (uint64_t)data_bytes(tensor);
    total += bytes + 2 * (MAX_NAME + sizeof(Bytes));
    archive->members[archive->count++] = (Member){.tensor = tensor, .bytes = (uint32_t)bytes};
    if (strlen(tensor->name) <= MAX_NAME) continue;
    nnc_error("%s: the name of '%s' is too long for npz", path, tensor->name);
    return false;
  }
  if (total <= UINT32_MAX && archive->count <= MAX_MEMBERS) return true;
  nnc_error("%s: %.1f GB in %d tensors are too much for npz; use --format=safetensors", path,
            (double)total / 1e9, archive->count);
  return false;
}

bool nnc_npz_write(const nnc_session *session, const char *path, unsigned kinds) {
  Archive archive = {.session = session};
  archive.members = calloc((size_t)session->model->variable_count + 1, sizeof *archive.members);
  if (!archive.members) nnc_error("cannot allocate the list of variables");
  bool good = archive.members && list_members(&archive, path, kinds) &&
              nnc_replace_open(&archive.out, path) && write_archive(&archive);
  free(archive.members);
  return good;
}
