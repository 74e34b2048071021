/* Fuzzing target: the file of --cache, with digests that are right, so that what is written there is believed as far as it
 * ever is.  A row is made of a picture by stages, with a cache of some records; it needs no more than the picture, which
 * is whole: so it is made, as without the cache, or it shows the pixels of a record that is right in itself.
 *
 *     choice      chain of stages, channels, whether stages draw, which picture, whether files are kept as they are
 *     records     what is right (bits), seven notes less what they should be, the size, so many bytes */
#include "fuzz_data.h"

#include <jpeglib.h>
#include <png.h>

#include "data/cache.c" /* its state begins anew with each file */
#include "data/picture_files.h"

enum { SIDE_DOWN = 8, SIDE_ACROSS = 10, CHAINS = 8, COMBINATIONS = 256, MOST_ROW = 3 * 8 * 10 };
enum { NOTES = 7, HEIGHT = 0, WIDTH, PART_HEIGHT = 4, PART_WIDTH, DIVISOR };
enum { FORGED = 200, MOST_BYTES = 1 << 16 };
enum { OWN_KEY = 1, OWN_CONTENT = 2, OWN_IDENTITY = 4, FITTING = 8, BROKEN = 16, AS_STORED = 32 };

#define SIZED(which, h, w)                                                                         \
  { .kind = PICTURE_##which, .height = (h), .width = (w) }
#define PART(which)                                                                                \
  {                                                                                                \
    .kind = PICTURE_##which, .height = SIDE_DOWN, .width = SIDE_ACROSS, .scale = {0.08, 1},        \
    .ratio = {                                                                                     \
      0.75,                                                                                        \
      1.33                                                                                         \
    }                                                                                              \
  }
#define PADDED(h, w)                                                                               \
  { .kind = PICTURE_PAD, .height = (h), .width = (w), .value = FORGED }
static const PictureStages chains[CHAINS] = {
    {1, {SIZED(RESIZE, SIDE_DOWN, SIDE_ACROSS)}, 0},
    {1, {SIZED(RANDOM_CROP, SIDE_DOWN, SIDE_ACROSS)}, 0},
    {2, {SIZED(RESIZE, 12, 0), SIZED(RANDOM_CROP, SIDE_DOWN, SIDE_ACROSS)}, 0},
    {2, {SIZED(CENTER_CROP, 9, 11), PART(RANDOM_RESIZED_CROP)}, 0},
    {3, {PADDED(2, 3), SIZED(RESIZE, 9, 12), SIZED(RANDOM_CROP, SIDE_DOWN, SIDE_ACROSS)}, 0},
    {2, {PART(RANDOM_RESIZED_CROP), PADDED(0, 0)}, 0},
    {3, {SIZED(CENTER_CROP, 6, 8), PADDED(1, 1), {.kind = PICTURE_RANDOM_FLIP}}, 0},
    {2, {{.kind = PICTURE_RANDOM_FLIP}, SIZED(RESIZE, SIDE_DOWN, SIDE_ACROSS)}, 0},
};

/* ---- pictures, dark ones ---- */

typedef struct Source {
  unsigned char *bytes;
  size_t size;
  int64_t height, width;
} Source;
static Source sources[2];

static void draw_png(Source *source, int height, int width) {
  static unsigned char pixels[64 * 64 * 3];
  for (int i = 0; i < height * width * 3; i++) pixels[i] = (unsigned char)(i % 97);
  png_alloc_size_t size = 1 << 14;
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (unsigned)width,
                     .height = (unsigned)height,
                     .format = PNG_FORMAT_RGB};
  *source = (Source){malloc(size), 0, height, width};
  if (!source->bytes ||
      !png_image_write_to_memory(&image, source->bytes, &size, 0, pixels, 0, NULL))
    abort();
  source->size = size;
}

static void draw_jpeg(Source *source, int height, int width) {
  struct jpeg_compress_struct encoder;
  struct jpeg_error_mgr errors;
  unsigned char row[3 * 64];
  unsigned long size = 0;
  *source = (Source){NULL, 0, height, width};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  jpeg_mem_dest(&encoder, &source->bytes, &size);
  encoder.image_height = (unsigned)height;
  encoder.image_width = (unsigned)width;
  encoder.input_components = 3;
  encoder.in_color_space = JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_start_compress(&encoder, TRUE);
  for (int y = 0; y < height; y++) {
    JSAMPROW rows = row;
    for (int x = 0; x < 3 * width; x++) row[x] = (unsigned char)(y + x / 6);
    jpeg_write_scanlines(&encoder, &rows, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  source->size = size;
}

/* As of a file that was written long ago. */
static int look(const PictureOrigin *origin, struct stat *status) {
  const Source *source = origin->state;
  *status = (struct stat){.st_ino = 1, .st_size = (off_t)source->size, .st_mtim = {1, 0}};
  return 0;
}

static unsigned char *read_source(const DataContext *context, const PictureOrigin *origin,
                                  DataScratch *scratch, size_t *size) {
  const Source *source = origin->state;
  unsigned char *bytes = data_scratch_take(scratch, DATA_BUFFER_FILE, source->size);
  (void)context;
  if (!bytes) abort();
  memcpy(bytes, source->bytes, source->size);
  *size = source->size;
  return bytes;
}

/* ---- rows ---- */

static size_t row_bytes(uint8_t choice) {
  return (size_t)(choice & 8 ? 3 : 1) * SIDE_DOWN * SIDE_ACROSS;
}

static const Source *source_of(uint8_t choice) {
  if (!sources[0].bytes) {
    draw_png(&sources[0], 13, 17);
    draw_jpeg(&sources[1], 64, 60);
  }
  return &sources[choice >> 5 & 1];
}

static bool is_encoded(uint8_t choice) { return choice >> 6 == 3; }

static void make_row(uint8_t choice, unsigned char *row) {
  char message[NNC_MESSAGE];
  DataScratch scratch = {0};
  DataContext context = {.message = message};
  PictureRows rows = {.stages = chains[choice & 7]};
  nnc_tensor input = {.name = "x",
                      .dtype = NNC_U8,
                      .rank = 4,
                      .dim = {1, choice & 8 ? 3 : 1, SIDE_DOWN, SIDE_ACROSS}};
  DataField field = {.name = "x", .input = &input};
  DataTable table = {.pictures = &rows};
  DataVisit visit = {
      .seed = 7, .epoch = 2, .draws = choice & 16, .row = 3, .number = 3, .scratch = &scratch};
  PictureOrigin origin = {"x.png", source_of(choice), look, read_source};
  if (data_picture_make_of(&context, &table, &field, &visit, &origin, row) < 0) abort();
  data_scratch_free(&scratch);
}

/* ---- caches ---- */

static void open_cache(const char *path, bool keeps_files) {
  char text[128], message[NNC_MESSAGE];
  snprintf(text, sizeof text, "1M%s,in=%s", keeps_files ? ",encoded" : "", path);
  if (data_cache_open(text, message) < 0) abort();
}

static void close_cache(void) {
  if (cache.descriptor >= 0) close(cache.descriptor);
  free(cache.name);
  free(cache.items);
  cache.name = NULL;
  cache.items = NULL;
  cache.descriptor = -1;
  cache.count = cache.capacity = cache.used = cache.end = 0;
  cache.is_open = cache.keeps_files = cache.adds = false;
}

/* What a row is without a cache, and the item that is kept of it. */
typedef struct Right {
  bool is_known;
  DataCacheItem item;
  unsigned char *bytes;
  unsigned char row[MOST_ROW];
} Right;

static const Right *right_of(uint8_t choice) {
  static Right rights[COMBINATIONS];
  Right *right = &rights[choice];
  Record record;
  char path[64];
  if (right->is_known) return right;
  make_row(choice, right->row);
  int file = fuzz_file((const uint8_t *)"", 0, path);
  open_cache(path, is_encoded(choice));
  unsigned char row[MOST_ROW];
  make_row(choice, row);
  if (memcmp(row, right->row, row_bytes(choice)) != 0 ||
      pread(file, &record, sizeof record, sizeof title) != sizeof record)
    abort();
  right->item = record.item;
  right->bytes = malloc((size_t)record.item.size);
  if (!right->bytes ||
      pread(file, right->bytes, (size_t)record.item.size, record.item.at) != record.item.size)
    abort();
  close_cache();
  close(file);
  right->is_known = true;
  return right;
}

/* ---- forged files ---- */

typedef struct Forger {
  const uint8_t *at, *end;
  const Right *right;
  const Source *source;
  bool encoded, may_show; /* a record may be shown, whose pixels are not the picture's */
  size_t size;
  unsigned char bytes[1 << 18];
} Forger;

static uint64_t take(Forger *forger, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count && forger->at < forger->end; i++)
    value |= (uint64_t)*forger->at++ << 8 * i;
  return value;
}

/* Of pixels of that part; -1: more than are tried. */
static int64_t size_of_part(const Forger *forger, const int64_t *notes) {
  const DataCacheItem *right = &forger->right->item;
  int64_t down = notes[PART_HEIGHT], across = notes[PART_WIDTH];
  if (down < 1 || across < 1 || down > MOST_BYTES || across > MOST_BYTES / 3 / down) return -1;
  return right->size / (right->notes[PART_HEIGHT] * right->notes[PART_WIDTH]) * down * across;
}

static int64_t choose_size(Forger *forger, int flags, const DataCacheItem *item) {
  int64_t right = forger->right->item.size, more = (int64_t)(int32_t)take(forger, 4);
  int64_t fitting = forger->encoded ? -1 : size_of_part(forger, item->notes);
  if (!(flags & FITTING)) return right + more;
  return fitting < 0 ? right : fitting;
}

/* The last says how far a file of that kind may be reduced, 1 or 8: where nothing is decoded it makes no difference. */
static bool has_right_notes(const int64_t *notes, const int64_t *right) {
  bool is_file = notes[DIVISOR] == 1 || notes[DIVISOR] == 8;
  return memcmp(notes, right, DIVISOR * sizeof *notes) == 0 &&
         (right[DIVISOR] == 0 ? notes[DIVISOR] == 0 : is_file);
}

static void add_item(Forger *forger) {
  int flags = (int)take(forger, 1);
  const DataCacheItem *right = &forger->right->item;
  Record record = {.item = *right};
  DataCacheItem *item = &record.item;
  for (int i = 0; i < NOTES; i++)
    item->notes[i] = (int64_t)((uint64_t)item->notes[i] + take(forger, 8));
  item->size = choose_size(forger, flags, item);
  int64_t there = item->size < 0 ? 0 : item->size > MOST_BYTES ? MOST_BYTES : item->size;
  if (forger->size + sizeof record + (size_t)there > sizeof forger->bytes) return;
  unsigned char *bytes = forger->bytes + forger->size + sizeof record;
  memset(bytes, FORGED, (size_t)there);
  if (forger->encoded)
    memcpy(bytes, forger->right->bytes, (size_t)(there < right->size ? there : right->size));
  for (int i = 0; forger->encoded && i < 4 && there > 0; i++) {
    uint64_t at = take(forger, 2) % (uint64_t)there;
    bytes[at] ^= (unsigned char)take(forger, 1);
  }
  item->stored = data_digest(bytes, (size_t)there, 0);
  item->at = (int64_t)(forger->size + sizeof record);
  if (!(flags & OWN_KEY)) item->key.parts[0]++;
  if (!(flags & OWN_CONTENT)) item->content = flags & AS_STORED ? item->stored : item->key;
  if (!(flags & OWN_IDENTITY)) item->identity++;
  record.self = record_digest(&record) + !!(flags & BROKEN);
  memcpy(bytes - sizeof record, &record, sizeof record);
  forger->size += sizeof record + (size_t)there;
  bool is_of_another =
      item->notes[HEIGHT] != forger->source->height || item->notes[WIDTH] != forger->source->width;
  bool is_right = has_right_notes(item->notes, right->notes);
  bool may_show = forger->encoded ? (flags & AS_STORED) != 0
                                  : (is_of_another || is_right) &&
                                        item->size == size_of_part(forger, item->notes);
  forger->may_show |= may_show;
}

static void judge(const Forger *forger, const unsigned char *row, size_t size) {
  if (memcmp(row, forger->right->row, size) == 0) return;
  if (!forger->may_show) abort();
  for (size_t i = 0; !forger->encoded && i < size; i++)
    if (row[i] != FORGED) abort(); /* neither the picture nor the record, or some of both */
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static Forger forger;
  char path[64];
  if (size < 2) return 0;
  uint8_t choice = bytes[0];
  forger.right = right_of(choice);
  forger.source = source_of(choice);
  forger.encoded = is_encoded(choice);
  forger.may_show = false;
  forger.at = bytes + 1;
  forger.end = bytes + size;
  forger.size = sizeof title;
  memcpy(forger.bytes, title, sizeof title);
  for (int i = 0; i < 3 && forger.at < forger.end; i++) add_item(&forger);
  int file = fuzz_file(forger.bytes, forger.size, path);
  size_t count = row_bytes(choice);
  unsigned char *row = malloc(count); /* so that the sanitizer sees its end */
  if (!row) abort();
  open_cache(path, forger.encoded);
  for (int visit = 0; visit < 2; visit++) {
    memset(row, 1, count);
    make_row(choice, row);
    judge(&forger, row, count);
  }
  close_cache();
  close(file);
  free(row);
  return 0;
}
