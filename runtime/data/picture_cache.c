/* Making rows of pictures, with what --cache keeps of them.
 *
 * Of a picture is kept what the stages make of it that do the same in each visit: where these scale it, the pixels of
 * the result; else the part of its decoded pixels that they leave.  Stages from the first one that draws on act on
 * that, so the values are those that all stages make of the file.
 *
 *     image_folder("train") | resize(256) | random_crop(224) | random_flip
 *                                         ^ what is kept
 *
 * A file is known to be the same by its place, size and times; where these differ, or are too new to tell, it is read,
 * and its content compared. With `encoded` the files' bytes are kept, and decoded each time.
 *
 * The cache's file may be anybody's: an item is used where its notes are what these stages note of a picture of that
 * size, and its bytes are as many as that takes. Any other counts as missing. */
#include <string.h>
#include <time.h>

#include "data/cache.h"
#include "data/call.h"
#include "data/picture.h"
#include "data/picture_beside.h"
#include "data/picture_files.h"
#include "data/picture_stages.h"
#include "data/picture_view.h"
#include "data/scratch.h"
#include "os/assert.h"

/* Notes of an item: height and width of the file's picture; the part of it that the pixels are, and how far the file may
 * be reduced when it is decoded. Where the pixels are computed ones: all of these, and 0. */
enum { HEIGHT, WIDTH, TOP, LEFT, PART_HEIGHT, PART_WIDTH, DIVISOR, NOTES };
_Static_assert((int)NOTES <= (int)DATA_CACHE_NOTES, "notes");

/* One row that is made. */
typedef struct Making {
  const DataContext *context;
  const PictureStages *stages;
  const DataField *field;
  const DataVisit *visit;
  const PictureOrigin *origin;
  unsigned char *bytes; /* of the file; NULL: it is not read yet */
  size_t size;
  DataDigest key;
  int same; /* stages, from the first on, whose result is kept */
} Making;

static int read_bytes(Making *making) {
  if (making->bytes) return 0;
  making->bytes =
      making->origin->read(making->context, making->origin, making->visit->scratch, &making->size);
  data_scratch_mark(making->visit->scratch, NNC_DATA_READING);
  return making->bytes ? 0 : -1;
}

/* What the bytes say of the picture, and how the field takes it. */
static int look(const Making *making, const unsigned char *bytes, size_t size,
                PictureFile *picture) {
  if (data_picture_look(making->context, making->origin->name, bytes, size, picture) < 0) return -1;
  return making->field->palette == PALETTE_INDEX ? data_picture_take_indices(picture) : 0;
}

/* From the file's bytes, as without a cache. */
static int make_of_bytes(const Making *making, const unsigned char *bytes, size_t size,
                         unsigned char *row) {
  PictureFile picture;
  if (look(making, bytes, size, &picture) < 0) return -1;
  return data_picture_show(making->stages, &picture, making->field, making->visit, row);
}

/* ---- which file, and what is done to it ---- */

/* Of the file as it is now; 0 where it could change within what its times tell. *size: its bytes are no more. */
static uint64_t identify(const PictureOrigin *origin, int64_t *size) {
  enum { SETTLED = 2 }; /* seconds */
  struct stat status;
  struct timespec now;
  if (origin->look(origin, &status) < 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
  *size = status.st_size;
  int64_t changed =
      status.st_ctim.tv_sec > status.st_mtim.tv_sec ? status.st_ctim.tv_sec : status.st_mtim.tv_sec;
  if (changed > now.tv_sec - SETTLED) return 0;
  const int64_t known[] = {(int64_t)status.st_dev, (int64_t)status.st_ino, status.st_size,
                           status.st_mtim.tv_sec,  status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                           status.st_ctim.tv_nsec};
  return data_digest(known, sizeof known, 0).parts[0] | 1;
}

static DataDigest digest_stage(const PictureStage *stage, uint64_t seed) {
  const double numbers[] = {stage->kind,        (double)stage->height, (double)stage->width,
                            stage->probability, stage->scale[0],       stage->scale[1],
                            stage->ratio[0],    stage->ratio[1],       stage->value,
                            stage->degrees,     stage->shear,          stage->translate};
  return data_digest(numbers, sizeof numbers, seed);
}

static int channels_of(const Making *making) {
  const nnc_tensor *input = making->field->input;
  return input->rank == 4 ? (int)input->dim[1] : 1;
}

static void set_key(Making *making) {
  bool keeps_files = data_cache_keeps_files();
  const int64_t kind[] = {keeps_files, keeps_files ? 0 : channels_of(making),
                          !keeps_files && making->visit->is_index,
                          !keeps_files && making->field->palette == PALETTE_INDEX};
  uint64_t known = data_digest(kind, sizeof kind, 0).parts[0];
  making->same = keeps_files ? 0 : data_picture_same(making->stages, making->visit);
  for (int i = 0; i < making->same; i++)
    known = digest_stage(&making->stages->stages[i], known).parts[0];
  making->key = data_digest(making->origin->name, strlen(making->origin->name), known);
}

/* ---- what is noted ---- */

/* Notes what the stages that are the same leave of the file's picture, and lets the view see it; -1: nothing that is
 * kept. */
static int take_notes(const Making *making, PictureView *view, int64_t notes[NOTES]) {
  const PictureFile *file = view->file;
  PicturePart part;
  PictureStages stages = *making->stages;
  stages.count = making->same;
  if (data_picture_apply(making->context, &stages, making->visit, view) < 0) return -1;
  bool is_of_file = data_view_is_part(view, &part);
  if (!is_of_file) part = (PicturePart){0, 0, view->part.height, view->part.width};
  if (part.height <= 0 || part.width <= 0 || part.height > PICTURE_PIXELS / part.width) return -1;
  const int64_t taken[NOTES] = {file->height,
                                file->width,
                                part.top,
                                part.left,
                                part.height,
                                part.width,
                                is_of_file ? file->format->most_divisor : 0};
  memcpy(notes, taken, sizeof taken);
  return 0;
}

static int64_t count_bytes(const Making *making, const int64_t notes[NOTES]) {
  return notes[PART_HEIGHT] * notes[PART_WIDTH] * channels_of(making);
}

/* Whether an item can be of a file of at most so many bytes. */
static bool fits(const Making *making, const DataCacheItem *item, int64_t most) {
  const int64_t *notes = item->notes, divisor = notes[DIVISOR];
  int64_t taken[NOTES];
  if (data_cache_keeps_files())
    return item->size <= most && data_digest_equal(&item->stored, &item->content);
  bool is_picture = notes[HEIGHT] > 0 && notes[WIDTH] > 0 &&
                    notes[HEIGHT] <= PICTURE_PIXELS / notes[WIDTH] &&
                    (divisor == 0 || divisor == data_picture_png.most_divisor ||
                     divisor == data_picture_jpeg.most_divisor);
  if (!is_picture) return false;
  PictureFormat format = {.color_pixel = 3, .most_divisor = divisor ? (int)divisor : 1};
  PictureFile file = {.context = making->context,
                      .name = making->origin->name,
                      .format = &format,
                      .height = notes[HEIGHT],
                      .width = notes[WIDTH],
                      .orientation = 1};
  PictureView view = data_picture_view(&file, making->field, making->visit);
  view.is_sizes = true;
  return take_notes(making, &view, taken) == 0 && memcmp(taken, notes, sizeof taken) == 0 &&
         item->size == count_bytes(making, taken);
}

/* ---- pixels that are kept ---- */

/* What a view takes for a file. */
typedef struct KeptPicture {
  PictureFile file; /* the first; its bytes are pixels */
  PicturePart part;
  const Making *making;
} KeptPicture;

/* The pixels; of a reduced picture those of the file. */
static int decode(const PictureFile *file, int divisor, const PicturePart *wanted,
                  DataScratch *scratch, Picture *picture, PicturePart *stored) {
  const KeptPicture *kept = (const KeptPicture *)file;
  int channels = picture->channels;
  if (divisor > 1) {
    Making making = *kept->making;
    PictureFile whole;
    if (read_bytes(&making) < 0 || look(&making, making.bytes, making.size, &whole) < 0) return -1;
    if (whole.height != file->height || whole.width != file->width ||
        whole.format->most_divisor != file->format->most_divisor)
      return -1; /* it is not what the item says of it */
    *stored = *wanted;
    return data_picture_decode(&whole, divisor, scratch, picture, stored);
  }
  const PicturePart *part = &kept->part;
  NNC_ASSERT(wanted->top >= part->top && wanted->left >= part->left);
  NNC_ASSERT(wanted->top + wanted->height <= part->top + part->height);
  NNC_ASSERT(wanted->left + wanted->width <= part->left + part->width);
  *picture = (Picture){part->height, part->width, channels, channels, file->bytes};
  *stored = *part;
  return 0;
}

/* Of an item that fits. */
static int make_of_item(const Making *making, const DataCacheItem *item, const unsigned char *bytes,
                        unsigned char *row) {
  const int64_t *notes = item->notes;
  if (data_cache_keeps_files()) return make_of_bytes(making, bytes, (size_t)item->size, row);
  bool is_of_file = notes[DIVISOR] > 0;
  PictureFormat format = {.name = "cache",
                          .decode = decode,
                          .color_pixel = 3,
                          .most_divisor = is_of_file ? (int)notes[DIVISOR] : 1};
  KeptPicture kept = {.file = {.context = making->context,
                               .name = making->origin->name,
                               .bytes = bytes,
                               .size = (size_t)item->size,
                               .format = &format,
                               .height = notes[is_of_file ? HEIGHT : PART_HEIGHT],
                               .width = notes[is_of_file ? WIDTH : PART_WIDTH],
                               .orientation = 1},
                      .part = {notes[TOP], notes[LEFT], notes[PART_HEIGHT], notes[PART_WIDTH]},
                      .making = making};
  PictureStages stages = *making->stages;
  if (!is_of_file) stages.first = making->same;
  return data_picture_show(&stages, &kept.file, making->field, making->visit, row);
}

/* The pixels of the part, side by side. */
static void pack(const Picture *picture, const PicturePart *part, unsigned char *bytes) {
  int channels = picture->channels, pixel = picture->pixel;
  for (int64_t y = 0; y < part->height; y++) {
    const unsigned char *from =
        picture->bytes + ((part->top + y) * picture->width + part->left) * pixel;
    unsigned char *to = bytes + y * part->width * channels;
    if (channels == pixel) memcpy(to, from, (size_t)(part->width * channels));
    for (int64_t x = 0; channels != pixel && x < part->width; x++)
      for (int c = 0; c < channels; c++) to[x * channels + c] = from[x * pixel + c];
  }
}

/* ---- keeping ---- */

/* Fills the bytes with what is seen and noted. */
static int fill(PictureView *view, const int64_t notes[NOTES], unsigned char *bytes) {
  PicturePart part = {notes[TOP], notes[LEFT], notes[PART_HEIGHT], notes[PART_WIDTH]};
  Picture picture = view->picture;
  PicturePart found = part;
  if (notes[DIVISOR] > 0) {
    if (data_picture_decode(view->file, 1, view->scratch, &picture, &found) < 0) return -1;
    data_scratch_mark(view->scratch, NNC_DATA_DECODING);
    part.top -= found.top;
    part.left -= found.left;
  } else {
    if (data_view_settle(view) < 0) return -1;
    picture = view->picture;
  }
  pack(&picture, &part, bytes);
  return 0;
}

/* Keeps the pixels of what the stages that are the same make; NULL: they are not kept. What is wrong with the file
 * is told when the row is made of it as without a cache. */
static unsigned char *keep_pixels(const Making *making, DataCacheItem *item) {
  PictureFile file;
  if (look(making, making->bytes, making->size, &file) < 0) return NULL;
  PictureView view = data_picture_view(&file, making->field, making->visit);
  if (take_notes(making, &view, item->notes) < 0) return NULL;
  item->size = count_bytes(making, item->notes);
  unsigned char *bytes = data_cache_claim(item->size, making->visit->scratch);
  if (!bytes || fill(&view, item->notes, bytes) == 0) return bytes;
  data_cache_give_back(item->size, bytes);
  return NULL;
}

static unsigned char *keep_file(const Making *making, DataCacheItem *item) {
  item->size = (int64_t)making->size;
  item->stored = item->content;
  unsigned char *bytes = data_cache_claim(item->size, making->visit->scratch);
  if (bytes) memcpy(bytes, making->bytes, making->size);
  return bytes;
}

/* The item, of the file as it is: that of the cache (*was_kept), or a new one. NULL: it has none, or the file cannot
 * be read. */
static const unsigned char *find_item(Making *making, DataCacheItem *item, bool *was_kept) {
  DataScratch *scratch = making->visit->scratch;
  int64_t most = 0;
  uint64_t identity = identify(making->origin, &most);
  bool is_there = data_cache_find(&making->key, item) && fits(making, item, most);
  const unsigned char *bytes = NULL;
  if (is_there && identity && identity == item->identity) bytes = data_cache_bytes(item, scratch);
  if (!bytes && read_bytes(making) < 0) return NULL;
  DataDigest content = {{0}};
  if (!bytes) content = data_digest(making->bytes, making->size, 0);
  if (!bytes && is_there && data_digest_equal(&content, &item->content)) {
    bytes = data_cache_bytes(item, scratch);
    if (bytes && identity) data_cache_confirm(&making->key, identity);
  }
  *was_kept = bytes != NULL;
  if (bytes) {
    data_scratch_mark(scratch, NNC_DATA_READING);
    return bytes;
  }
  *item = (DataCacheItem){.key = making->key, .content = content, .identity = identity};
  unsigned char *kept =
      data_cache_keeps_files() ? keep_file(making, item) : keep_pixels(making, item);
  if (kept) data_cache_add(item, kept);
  return kept;
}

/* By the cache; -1 without a word: the row is to be made of the file. */
static int make_cached(Making *making, unsigned char *row) {
  char message[NNC_MESSAGE];
  DataContext quiet = *making->context;
  const DataContext *context = making->context;
  DataCacheItem item;
  bool was_kept = false;
  quiet.message = message;
  making->context = &quiet;
  set_key(making);
  const unsigned char *kept = find_item(making, &item, &was_kept);
  int result = kept ? make_of_item(making, &item, kept, row) : -1;
  making->context = context;
  if (result == 0 && was_kept) making->visit->scratch->found++;
  return result;
}

int data_picture_make_of(const DataContext *context, const DataTable *table, const DataField *field,
                         const DataVisit *visit, const PictureOrigin *origin, unsigned char *row) {
  DataVisit own = data_picture_visit(table, visit);
  own.is_index = own.is_index || field->palette == PALETTE_INDEX;
  if (data_picture_compare(context, table, visit) < 0) return -1;
  Making making = {.context = context,
                   .stages = data_picture_stages(table),
                   .field = field,
                   .visit = &own,
                   .origin = origin};
  if (data_cache_is_open() && make_cached(&making, row) == 0) return 0;
  return read_bytes(&making) < 0 ? -1 : make_of_bytes(&making, making.bytes, making.size, row);
}
