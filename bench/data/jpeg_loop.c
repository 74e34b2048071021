/* Loading photographs without any framework: a plain loop over libjpeg-turbo, as one would write it by hand.
 *
 *     jpeg_loop decode FILE...         decodes each file whole, and does nothing else: the bound
 *     jpeg_loop crop FILE...           shorter side to 256, random crop of 224, flip; batches of bytes
 *     jpeg_loop resized FILE...        random resized crop of 224, flip; batches of normalized floats
 *                                      these print the seconds of the whole
 *     jpeg_loop middle SIDE FILE...    the part in the middle of SIDE x SIDE scaled to 224, normalized; writes the floats
 *
 * Files are decoded whole with the library's defaults. Scaling is Pillow's antialiased linear interpolation
 * in two passes over floats; it computes no more than what the crop keeps. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jpeglib.h>

enum { BATCH = 32, SIDE = 224, SHORTER = 256, CHANNELS = 3 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Memory that is kept from picture to picture. */
static void *room(void **block, size_t *has, size_t size) {
  if (*has < size) {
    free(*block);
    *block = malloc(size);
    *has = *block ? size : 0;
  }
  if (!*block) {
    fprintf(stderr, "no memory\n");
    exit(1);
  }
  return *block;
}

/* ---- files ---- */

static unsigned char *read_all(const char *name, size_t *size) {
  static void *block;
  static size_t has;
  FILE *file = fopen(name, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) {
    fprintf(stderr, "cannot read %s\n", name);
    exit(1);
  }
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = room(&block, &has, *size);
  if (fread(bytes, 1, *size, file) != *size) *size = 0;
  fclose(file);
  return bytes;
}

typedef struct Picture {
  int height, width;
  const unsigned char *pixels; /* red, green, blue */
} Picture;

static Picture decode(const char *name) {
  static void *block;
  static size_t has;
  size_t size;
  const unsigned char *bytes = read_all(name, &size);
  struct jpeg_decompress_struct decoder;
  struct jpeg_error_mgr errors;
  decoder.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&decoder);
  jpeg_mem_src(&decoder, bytes, size);
  jpeg_read_header(&decoder, TRUE);
  decoder.out_color_space = JCS_RGB;
  jpeg_start_decompress(&decoder);
  size_t row = (size_t)decoder.output_width * CHANNELS;
  unsigned char *pixels = room(&block, &has, row * decoder.output_height);
  while (decoder.output_scanline < decoder.output_height) {
    JSAMPROW line = pixels + row * decoder.output_scanline;
    jpeg_read_scanlines(&decoder, &line, 1);
  }
  Picture picture = {(int)decoder.output_height, (int)decoder.output_width, pixels};
  jpeg_finish_decompress(&decoder);
  jpeg_destroy_decompress(&decoder);
  return picture;
}

/* ---- scaling ---- */

/* Along one axis: which pixels each result is the weighted mean of. */
typedef struct Weights {
  int most; /* pixels of a result */
  int first[SIDE], count[SIDE];
  float *values; /* [SIDE][most] */
} Weights;

/* Results `skip` to `skip + SIDE` of `from .. from + extent` scaled to `to`. */
static void find_weights(Weights *weights, double from, double extent, double to, int skip) {
  double scale = extent / to, reach = scale > 1 ? scale : 1;
  weights->most = (int)ceil(reach) * 2 + 1;
  weights->values = realloc(weights->values, sizeof(float) * SIDE * (size_t)weights->most);
  for (int i = 0; i < SIDE; i++) {
    double center = (skip + i + 0.5) * scale, sum = 0;
    int low = (int)(center - reach + 0.5), high = (int)(center + reach + 0.5);
    if (low < 0) low = 0;
    if (high > (int)extent) high = (int)extent;
    float *values = weights->values + i * weights->most;
    for (int k = low; k < high; k++) {
      double weight = 1 - fabs((k + 0.5 - center) / reach);
      values[k - low] = (float)(weight > 0 ? weight : 0);
      sum += values[k - low];
    }
    for (int k = 0; k < high - low; k++) values[k] = (float)(values[k] / sum);
    weights->first[i] = low + (int)from;
    weights->count[i] = high - low;
  }
}

/* Rows that are needed, scaled across: planes [CHANNELS][rows][SIDE]. */
static float *scale_across(const Picture *picture, const Weights *across, int top, int rows) {
  static void *block;
  static size_t has;
  float *result = room(&block, &has, sizeof(float) * CHANNELS * (size_t)rows * SIDE);
  for (int y = 0; y < rows; y++) {
    const unsigned char *row = picture->pixels + (size_t)(top + y) * picture->width * CHANNELS;
    for (int x = 0; x < SIDE; x++) {
      const float *weight = across->values + x * across->most;
      const unsigned char *pixel = row + across->first[x] * CHANNELS;
      float red = 0, green = 0, blue = 0;
      for (int k = 0; k < across->count[x]; k++, pixel += CHANNELS) {
        red += weight[k] * pixel[0];
        green += weight[k] * pixel[1];
        blue += weight[k] * pixel[2];
      }
      result[y * SIDE + x] = red;
      result[(rows + y) * SIDE + x] = green;
      result[(2 * rows + y) * SIDE + x] = blue;
    }
  }
  return result;
}

/* What is to be seen of a picture: this part, scaled to height x width, and SIDE x SIDE of that. */
typedef struct View {
  int top, left, part_height, part_width, height, width, skip_top, skip_left;
  bool is_mirrored;
} View;

/* Planes of the values that `finish` makes of 0 to 255. */
static void scale(const Picture *picture, const View *view, float planes[CHANNELS][SIDE * SIDE]) {
  static Weights across, down;
  find_weights(&across, view->left, view->part_width, view->width, view->skip_left);
  find_weights(&down, view->top, view->part_height, view->height, view->skip_top);
  int top = down.first[0], rows = down.first[SIDE - 1] + down.count[SIDE - 1] - top;
  const float *lines = scale_across(picture, &across, top, rows);
  for (int c = 0; c < CHANNELS; c++)
    for (int y = 0; y < SIDE; y++) {
      float sum[SIDE] = {0};
      for (int k = 0; k < down.count[y]; k++) {
        const float weight = down.values[y * down.most + k];
        const float *line = lines + (c * rows + down.first[y] - top + k) * SIDE;
        for (int x = 0; x < SIDE; x++) sum[x] += weight * line[x];
      }
      float *row = planes[c] + y * SIDE;
      if (view->is_mirrored)
        for (int x = 0; x < SIDE; x++) row[x] = sum[SIDE - 1 - x];
      else memcpy(row, sum, sizeof sum);
    }
}

static void normalize(float planes[CHANNELS][SIDE * SIDE]) {
  static const float mean[] = {0.485f, 0.456f, 0.406f}, deviation[] = {0.229f, 0.224f, 0.225f};
  for (int c = 0; c < CHANNELS; c++)
    for (int i = 0; i < SIDE * SIDE; i++)
      planes[c][i] = (planes[c][i] * (1 / 255.0f) - mean[c]) * (1 / deviation[c]);
}

/* ---- what is to be seen ---- */

static double draw(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) * 0x1p-53;
}

/* torchvision's RandomResizedCrop. */
static View draw_resized(const Picture *picture) {
  for (int i = 0; i < 10; i++) {
    double area = (0.08 + 0.92 * draw()) * picture->height * picture->width;
    double ratio = exp(log(3 / 4.0) + (log(4 / 3.0) - log(3 / 4.0)) * draw());
    int width = (int)lround(sqrt(area * ratio)), height = (int)lround(sqrt(area / ratio));
    if (width < 1 || height < 1 || width > picture->width || height > picture->height) continue;
    return (View){(int)(draw() * (picture->height - height + 1)),
                  (int)(draw() * (picture->width - width + 1)),
                  height,
                  width,
                  SIDE,
                  SIDE,
                  0,
                  0,
                  draw() < 0.5};
  }
  return (View){0, 0, picture->height, picture->width, SIDE, SIDE, 0, 0, draw() < 0.5};
}

static View draw_crop(const Picture *picture) {
  bool is_tall = picture->height > picture->width;
  int shorter = is_tall ? picture->width : picture->height;
  int height = is_tall ? (int)((int64_t)picture->height * SHORTER / shorter) : SHORTER;
  int width = is_tall ? SHORTER : (int)((int64_t)picture->width * SHORTER / shorter);
  return (View){0,
                0,
                picture->height,
                picture->width,
                height,
                width,
                (int)(draw() * (height - SIDE + 1)),
                (int)(draw() * (width - SIDE + 1)),
                draw() < 0.5};
}

static View view_middle(const Picture *picture, int side) {
  int top = (picture->height - side) / 2, left = (picture->width - side) / 2;
  if (side < 1 || top < 0 || left < 0) {
    fprintf(stderr, "a picture of %d x %d has no part of %d x %d\n", picture->height,
            picture->width, side, side);
    exit(1);
  }
  return (View){top, left, side, side, SIDE, SIDE, 0, 0, false};
}

/* ---- all ---- */

static float batch[BATCH][CHANNELS][SIDE * SIDE];
static unsigned char bytes[BATCH][CHANNELS][SIDE * SIDE];

static void load_resized(const char *name, int at) {
  Picture picture = decode(name);
  View view = draw_resized(&picture);
  scale(&picture, &view, batch[at]);
  normalize(batch[at]);
}

static void load_crop(const char *name, int at) {
  static float planes[CHANNELS][SIDE * SIDE];
  Picture picture = decode(name);
  View view = draw_crop(&picture);
  scale(&picture, &view, planes);
  for (int c = 0; c < CHANNELS; c++)
    for (int i = 0; i < SIDE * SIDE; i++) bytes[at][c][i] = (unsigned char)(planes[c][i] + 0.5f);
}

static void write_middle(const char *name, int side) {
  Picture picture = decode(name);
  View view = view_middle(&picture, side);
  scale(&picture, &view, batch[0]);
  normalize(batch[0]);
  fwrite(batch[0], sizeof batch[0], 1, stdout);
}

int main(int count, char **words) {
  const char *task = count > 2 ? words[1] : "";
  if (strcmp(task, "middle") == 0) {
    for (int i = 3; i < count; i++) write_middle(words[i], atoi(words[2]));
    return 0;
  }
  double start = now();
  for (int i = 2; i < count; i++) {
    if (strcmp(task, "resized") == 0) load_resized(words[i], (i - 2) % BATCH);
    else if (strcmp(task, "crop") == 0) load_crop(words[i], (i - 2) % BATCH);
    else decode(words[i]);
  }
  printf("%.6f\n", now() - start);
  return 0;
}
