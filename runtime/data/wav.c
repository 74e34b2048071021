/* Sounds of one channel in WAV files ("Multimedia Programming Interface and Data Specifications 1.0", IBM and Microsoft
 * 1991): PCM of 8, 16, 24 and 32 bits, which become numbers from -1 to 1, and floats of 32 and 64, which stay what they are.
 *
 * A file is a list of chunks, of which two count: what its samples are, and the samples.  Of these no more are read than
 * a row has. */
#include "data/wav.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/call.h"
#include "data/class.h"
#include "data/file.h"
#include "data/rows.h"
#include "data/scratch.h"
#include "data/visit.h"

static const char *const fits[WAV_FITS] = {"exact", "start", "middle", "random"};

typedef struct WavFiles {
  RowFiles files; /* the first */
  WavForm form;
} WavFiles;

/* ---- opening ---- */

/* [batch, samples], or with an axis for the channel. */
int data_wav_shape(const DataContext *context, DataField *field, int64_t count) {
  const nnc_tensor *input = field->input;
  bool is_float = input->dtype == NNC_F32 || input->dtype == NNC_F64 || input->dtype == NNC_BF16 ||
                  input->dtype == NNC_F16;
  if (!is_float || !(input->rank == 2 || (input->rank == 3 && input->dim[1] == 1)))
    return data_fail_call(context,
                          "the input %s must be floats, [batch, samples] or [batch, 1, samples]",
                          field->name);
  field->is_made = true;
  field->made_most = INT_MAX;
  field->dtype = input->dtype;
  field->rank = input->rank;
  memcpy(field->dim, input->dim, sizeof field->dim);
  field->dim[0] = count;
  field->width = field->step = input->dim[input->rank - 1];
  return 0;
}

static const RowFileKind wav_kind = {.what = "sounds",
                                     .one = "a sound",
                                     .ends = {".wav"},
                                     .ends_text = ".wav",
                                     .bytes = sizeof(WavFiles),
                                     .shape = data_wav_shape};

int data_wav_form(const DataContext *context, const char *const *formals, WavForm *form) {
  double rate = 0;
  if (data_argument_number(context, formals, "rate", 1, INT32_MAX, &rate) < 0) return -1;
  form->rate = (int64_t)rate;
  if (form->rate == 0) return data_fail_call(context, "%s needs the rate", context->call->function);
  const nnc_value *fit = data_argument(context->call, formals, "fit");
  if (!fit) return 0;
  for (int i = 0; i < WAV_FITS; i++) {
    form->fit = (enum WavFit)i;
    if (fit->kind == NNC_STRING && strcmp(fit->string, fits[i]) == 0) return 0;
  }
  return data_fail_call(context, "fit is \"exact\", \"start\", \"middle\" or \"random\"");
}

int data_wav_open(const DataContext *context, DataTable *table, const char *const *formals) {
  WavFiles *wav = (WavFiles *)data_files_open(context, table, &wav_kind, formals);
  return wav ? data_wav_form(context, formals, &wav->form) : -1;
}

/* ---- chunks ---- */

enum { FORMAT_PCM = 1, FORMAT_FLOAT = 3, FORMAT_EXTENSIBLE = 0xfffe };

/* A file whose chunks were looked at. */
typedef struct WavFile {
  const DataContext *context;
  const char *name;
  int descriptor;
  int64_t first; /* where it begins in what is open */
  int64_t size;
  bool has_format;
  int format, channels, bits;
  int64_t rate;
  int64_t start, bytes; /* of the samples; start 0: there are none yet */
} WavFile;

static uint32_t number(const unsigned char *bytes, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; i++) value |= (uint32_t)bytes[i] << 8 * i;
  return value;
}

static int read_at(const WavFile *file, void *bytes, int64_t size, int64_t at) {
  for (int64_t done = 0; done < size;) {
    ssize_t got = pread(file->descriptor, (char *)bytes + done, (size_t)(size - done),
                        file->first + at + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return data_fail(file->context, "cannot read %s: %s", file->name,
                       got < 0 ? strerror(errno) : "the file has become shorter");
    done += got;
  }
  return 0;
}

static int fail_damaged(const WavFile *file, const char *what) {
  return data_fail(file->context, "%s: damaged WAV file: %s", file->name, what);
}

/* The chunk `fmt `; of an extensible one the format is the beginning of a longer number. */
static int read_format(WavFile *file, int64_t at, int64_t size) {
  unsigned char bytes[40];
  enum { LEAST = 16, EXTENDED = 40, SUBFORMAT = 24 };
  if (size < LEAST) return fail_damaged(file, "its chunk 'fmt ' is too short");
  if (read_at(file, bytes, size < EXTENDED ? LEAST : EXTENDED, at) < 0) return -1;
  file->format = (int)number(bytes, 2);
  if (file->format == FORMAT_EXTENSIBLE && size >= EXTENDED)
    file->format = (int)number(bytes + SUBFORMAT, 2);
  file->channels = (int)number(bytes + 2, 2);
  file->rate = number(bytes + 4, 4);
  file->bits = (int)number(bytes + 14, 2);
  if ((int64_t)number(bytes + 12, 2) * 8 == (int64_t)file->channels * file->bits) return 0;
  return fail_damaged(file, "the bytes of a sample are not those of its bits");
}

static int read_chunks(WavFile *file) {
  unsigned char head[12];
  if (file->size < (int64_t)sizeof head)
    return data_fail(file->context, "%s: no WAV file", file->name);
  if (read_at(file, head, sizeof head, 0) < 0) return -1;
  if (memcmp(head, "RIFF", 4) != 0 || memcmp(head + 8, "WAVE", 4) != 0)
    return data_fail(file->context, "%s: no WAV file: it does not begin with RIFF and WAVE",
                     file->name);
  for (int64_t at = sizeof head; file->start == 0;) {
    if (file->size - at < 8) return fail_damaged(file, "it ends before its samples");
    if (read_at(file, head, 8, at) < 0) return -1;
    int64_t size = number(head + 4, 4);
    at += 8;
    if (size > file->size - at)
      return fail_damaged(file, "a chunk goes beyond the end of the file");
    bool is_format = memcmp(head, "fmt ", 4) == 0, is_data = memcmp(head, "data", 4) == 0;
    if (is_format && read_format(file, at, size) < 0) return -1;
    if (is_data && !file->has_format) return fail_damaged(file, "its samples come before 'fmt '");
    file->has_format = file->has_format || is_format;
    if (is_data) {
      file->start = at;
      file->bytes = size;
    }
    at += size + (size & 1); /* chunks begin at even places */
  }
  return 0;
}

static int check_format(const WavFile *file, const WavForm *form) {
  bool is_pcm = file->format == FORMAT_PCM &&
                (file->bits == 8 || file->bits == 16 || file->bits == 24 || file->bits == 32);
  bool is_float = file->format == FORMAT_FLOAT && (file->bits == 32 || file->bits == 64);
  if (!is_pcm && !is_float)
    return data_fail(file->context,
                     "%s: samples of format %d with %d bits; PCM (1) of 8, 16, 24 or 32 bits and "
                     "floats (3) of 32 or 64 are read",
                     file->name, file->format, file->bits);
  if (file->channels != 1)
    return data_fail(file->context, "%s has %d channels; sounds of one are read", file->name,
                     file->channels);
  if (file->rate != form->rate)
    return data_fail(file->context, "%s has %lld samples a second, but rate = %lld is stated",
                     file->name, (long long)file->rate, (long long)form->rate);
  if (file->bytes % (file->bits / 8) == 0) return 0;
  return fail_damaged(file, "it ends within a sample");
}

/* ---- samples ---- */

static double sample(const WavFile *file, const unsigned char *bytes) {
  float single;
  double value;
  if (file->format == FORMAT_FLOAT && file->bits == 32) {
    memcpy(&single, bytes, sizeof single);
    return single;
  }
  if (file->format == FORMAT_FLOAT) {
    memcpy(&value, bytes, sizeof value);
    return value;
  }
  if (file->bits == 8) return ((double)bytes[0] - 128) / 128;
  uint32_t whole = number(bytes, file->bits / 8) << (32 - file->bits);
  return (double)(int32_t)whole / 0x1p31;
}

/* The first sample of the row; what is shorter begins with its first. */
static int place(const WavFile *file, const WavForm *form, const DataField *field,
                 const DataVisit *visit, int64_t *first) {
  enum { STREAM = 1 << 20 }; /* beyond those of pictures' stages */
  int64_t count = file->bytes / (file->bits / 8), spare = count - field->width;
  *first = 0;
  if (form->fit == WAV_EXACT && spare != 0)
    return data_fail(
        file->context,
        "%s has %lld samples, but a row of the input %s has %lld; fit = \"start\", "
        "\"middle\" or \"random\" cuts what is longer and adds zeros to what is shorter",
        file->name, (long long)count, field->name, (long long)field->width);
  if (spare <= 0 || form->fit == WAV_START) return 0;
  bool draws = form->fit == WAV_RANDOM && visit->draws;
  *first = draws ? data_random_below(visit, STREAM, 0, spare + 1) : spare / 2;
  return 0;
}

static int make_row(const WavFile *file, const WavForm *form, const DataField *field,
                    const DataVisit *visit, unsigned char *row) {
  int64_t first, size = file->bits / 8, width = field->width;
  if (check_format(file, form) < 0 || place(file, form, field, visit, &first) < 0) return -1;
  int64_t count = file->bytes / size - first;
  if (count > width) count = width;
  unsigned char *bytes =
      data_scratch_take(visit->scratch, DATA_BUFFER_FILE, (size_t)(count * size) + 1);
  double *values =
      data_scratch_take(visit->scratch, DATA_BUFFER_DECODED, ((size_t)width + 1) * sizeof *values);
  if (!bytes || !values) return data_fail_memory(file->context, file->name, width * 8);
  if (read_at(file, bytes, count * size, file->start + first * size) < 0) return -1;
  data_scratch_mark(visit->scratch, NNC_DATA_READING);
  for (int64_t i = 0; i < count; i++) values[i] = sample(file, bytes + i * size);
  for (int64_t i = count; i < width; i++) values[i] = 0;
  return data_field_store_row(file->context, field, file->name, NNC_F64, values, row);
}

int data_wav_read(const DataContext *context, const WavForm *form, const DataField *field,
                  const DataVisit *visit, const WavOrigin *origin, unsigned char *row) {
  WavFile file = {.context = context,
                  .name = origin->name,
                  .descriptor = origin->descriptor,
                  .first = origin->at,
                  .size = origin->size};
  return read_chunks(&file) < 0 ? -1 : make_row(&file, form, field, visit, row);
}

int data_wav_make(const DataContext *context, const DataTable *table, const DataField *field,
                  const DataVisit *visit, unsigned char *row) {
  const WavFiles *wav = table->state;
  struct stat status;
  WavOrigin origin = {.name = wav->files.names.items[visit->row]};
  const char *kind = stat(origin.name, &status) == 0 ? data_file_kind(status.st_mode) : NULL;
  if (kind) /* before it is opened: a pipe would wait for its other end */
    return data_fail(context, "cannot read %s: it is %s", origin.name, kind);
  origin.descriptor = open(origin.name, O_RDONLY | O_CLOEXEC);
  if (origin.descriptor < 0 || fstat(origin.descriptor, &status) < 0) {
    data_fail(context, "cannot read %s: %s", origin.name, strerror(errno));
    if (origin.descriptor >= 0) close(origin.descriptor);
    return -1;
  }
  origin.size = status.st_size;
  int result = data_wav_read(context, &wav->form, field, visit, &origin, row);
  close(origin.descriptor);
  return result;
}
