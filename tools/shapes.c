/* nnc-shapes: draws shapes before an uneven ground, as a data set of pictures or of masks.
 *
 *     nnc-shapes DIRECTORY [--coloured] [--train N] [--val N] [--size PIXELS] [--seed S]
 *     nnc-shapes DIRECTORY --masks [--train N] ...
 *     nnc-shapes DIRECTORY --boxes [--train N] ...
 *
 * The first writes PNG files in a folder for each class, train/CLASS/NUMBER.png and val/..., for
 * `image_folder`: one shape of any size, place and turn, the classes in turns.  Its colour says
 * nothing, or with --coloured is near one that its class has, before a dark ground, which makes the
 * classes easy to tell.  The second writes files in MNIST's format for segmentation:
 * {train,test}-images-idx3-ubyte, grey pictures with up to three shapes, and
 * {train,test}-masks-idx3-ubyte, 1 where a shape is and 0 elsewhere.  The third writes the first of these, with one
 * to three shapes apart from each other, and {train,test}-boxes.csv: of each shape its box, x1 y1 x2 y2 in pixels, and
 * its class's number; of a shape that is not there 0 0 0 0 and -1.
 *
 * A pixel's colour is the mean over 3 x 3 points, each of the shape's colour or the ground's, and
 * some noise; the ground fades between two colours.  Each picture has a random stream of its own,
 * keyed by seed, set and number, so the sets are disjoint and the pixels depend on nothing else. */
#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "random.h"

enum { CHANNELS = 3, POINTS = 3, MOST_SHAPES = 3, LEAST_SIZE = 8, MOST_SIZE = 4096 };

/* --- shapes ----------------------------------------------------------------------------------- */

/* Whether (u, v) is inside a shape of radius 1 around (0, 0). */
static bool in_cross(double u, double v) { return fmin(u, v) < 0.3 && fmax(u, v) < 0.95; }
static bool in_disc(double u, double v) { return u * u + v * v < 0.72; }
static bool in_ring(double u, double v) {
  double square = u * u + v * v;
  return square > 0.3 && square < 0.95;
}
static bool in_square(double u, double v) { return fmax(u, v) < 0.75; }
static bool in_star(double u, double v) { return sqrt(u) + sqrt(v) < 1.05; }

/* By classes in the order of their names; (u, v) are absolute but where the shape is not even. */
typedef struct ShapeClass {
  const char *name;
  double colour[CHANNELS];
  bool (*contains)(double u, double v); /* NULL: the triangle */
} ShapeClass;

static const ShapeClass classes[] = {
    {"cross", {220, 50, 50}, in_cross}, {"disc", {50, 220, 50}, in_disc},
    {"ring", {50, 50, 220}, in_ring},   {"square", {220, 220, 50}, in_square},
    {"star", {220, 50, 220}, in_star},  {"triangle", {50, 220, 220}, NULL},
};
enum { CLASSES = sizeof classes / sizeof *classes };

typedef struct Figure {
  const ShapeClass *class;
  double x, y, radius; /* pixels */
  double cosine, sine; /* of its turn */
  double colour[CHANNELS];
} Figure;

static bool figure_contains(const Figure *figure, double x, double y) {
  double dx = (x - figure->x) / figure->radius, dy = (y - figure->y) / figure->radius;
  double u = figure->cosine * dx + figure->sine * dy, v = figure->cosine * dy - figure->sine * dx;
  if (figure->class->contains) return figure->class->contains(fabs(u), fabs(v));
  return v > -0.5 && v + 1.7320508075688772 * fabs(u) < 1;
}

/* --- pictures --------------------------------------------------------------------------------- */

typedef struct Picture {
  int size, figures;
  bool coloured; /* figures have the colours of their classes */
  Figure figure[MOST_SHAPES];
  double ground[2][CHANNELS]; /* colours at the two ends */
  double slope_x, slope_y;
  unsigned char *pixels; /* [size, size, CHANNELS] */
  unsigned char *mask;   /* [size, size] */
} Picture;

static void random_colour(Random *random, double most, double *colour) {
  for (int c = 0; c < CHANNELS; c++) colour[c] = random_between(random, 0, most);
}

static void class_colour(Random *random, const ShapeClass *class, double *colour) {
  for (int c = 0; c < CHANNELS; c++) colour[c] = class->colour[c] + random_between(random, -35, 35);
}

/* Whether colours differ, and in their brightness too. */
static bool differ(const double *a, const double *b) {
  double apart = 0, brighter = 0;
  for (int c = 0; c < CHANNELS; c++) apart += fabs(a[c] - b[c]), brighter += a[c] - b[c];
  return apart > 180 && fabs(brighter) > 120;
}

/* A colour that both ends of the ground differ from. */
static void striking_colour(Random *random, const Picture *picture, double *colour) {
  do random_colour(random, 255, colour);
  while (!differ(colour, picture->ground[0]) || !differ(colour, picture->ground[1]));
}

/* A unit vector: a point of the disc, drawn until it is one, and not too near the middle. */
static void random_turn(Random *random, Figure *figure) {
  double x, y, square;
  do {
    x = random_between(random, -1, 1), y = random_between(random, -1, 1);
    square = x * x + y * y;
  } while (square > 1 || square < 0.01);
  figure->cosine = x / sqrt(square), figure->sine = y / sqrt(square);
}

static void random_figure(Random *random, const Picture *picture, const ShapeClass *class,
                          double least, double most, Figure *figure) {
  figure->class = class;
  figure->radius = random_between(random, least, most) * picture->size;
  figure->x = random_between(random, figure->radius, picture->size - figure->radius);
  figure->y = random_between(random, figure->radius, picture->size - figure->radius);
  random_turn(random, figure);
  if (picture->coloured) class_colour(random, class, figure->colour);
  else striking_colour(random, picture, figure->colour);
}

static void random_ground(Random *random, Picture *picture) {
  random_colour(random, picture->coloured ? 120 : 255, picture->ground[0]);
  for (int c = 0; c < CHANNELS; c++) {
    double near = picture->ground[0][c] + random_between(random, -70, 70);
    picture->ground[1][c] = near < 0 ? 0 : near > 255 ? 255 : near;
  }
  picture->slope_x = random_between(random, 0, 1) / picture->size;
  picture->slope_y = random_between(random, 0, 1) / picture->size;
}

/* Adds the colour at a point to `sum`; gives whether a figure is there. */
static bool add_point(const Picture *picture, double x, double y, double *sum) {
  for (int i = picture->figures - 1; i >= 0; i--)
    if (figure_contains(&picture->figure[i], x, y)) {
      for (int c = 0; c < CHANNELS; c++) sum[c] += picture->figure[i].colour[c];
      return true;
    }
  double at = (x * picture->slope_x + y * picture->slope_y) / 2;
  for (int c = 0; c < CHANNELS; c++)
    sum[c] += picture->ground[0][c] * (1 - at) + picture->ground[1][c] * at;
  return false;
}

static void draw_pixel(Random *random, Picture *picture, int x, int y) {
  double sum[CHANNELS] = {0};
  int inside = 0;
  for (int i = 0; i < POINTS * POINTS; i++)
    inside +=
        add_point(picture, x + (i % POINTS + 0.5) / POINTS, y + (i / POINTS + 0.5) / POINTS, sum);
  int64_t at = (int64_t)y * picture->size + x;
  for (int c = 0; c < CHANNELS; c++) {
    double value = sum[c] / (POINTS * POINTS) + random_between(random, -20, 20);
    picture->pixels[at * CHANNELS + c] = value < 0 ? 0 : value > 255 ? 255 : (unsigned char)value;
  }
  picture->mask[at] = 2 * inside > POINTS * POINTS;
}

static void draw_picture(Random *random, Picture *picture) {
  for (int y = 0; y < picture->size; y++)
    for (int x = 0; x < picture->size; x++) draw_pixel(random, picture, x, y);
}

/* --- files ------------------------------------------------------------------------------------ */

static _Noreturn void fail(const char *doing, const char *what, const char *why) {
  fprintf(stderr, "nnc-shapes: cannot %s %s: %s\n", doing, what, why);
  exit(1);
}

static void make_folder(const char *path) {
  if (!folder_make(path)) fail("make the folder", path, strerror(errno));
}

static void join(char *path, size_t size, const char *folder, const char *name) {
  int length = snprintf(path, size, "%s/%s", folder, name);
  if (length < 0 || (size_t)length >= size) fail("write into", folder, strerror(ENAMETOOLONG));
}

static void write_png(const char *path, const Picture *picture) {
  png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
  image.width = image.height = (png_uint_32)picture->size;
  if (!png_image_write_to_file(&image, path, 0, picture->pixels, 0, NULL))
    fail("write", path, image.message);
}

static void write_classes(const char *directory, const char *set_name, int set, int64_t count,
                          uint64_t seed, Picture *picture) {
  char folder[4096], path[4096], name[64];
  join(folder, sizeof folder, directory, set_name);
  make_folder(folder);
  for (int c = 0; c < CLASSES; c++) {
    join(path, sizeof path, folder, classes[c].name);
    make_folder(path);
  }
  for (int64_t i = 0; i < count; i++) {
    Random random = random_stream(seed, set, i);
    const ShapeClass *class = &classes[i % CLASSES];
    random_ground(&random, picture);
    picture->figures = 1;
    random_figure(&random, picture, class, 0.25, 0.45, &picture->figure[0]);
    draw_picture(&random, picture);
    snprintf(name, sizeof name, "%s/%06lld.png", class->name, (long long)i);
    join(path, sizeof path, folder, name);
    write_png(path, picture);
  }
}

static FILE *open_idx(const char *path, int64_t count, int size) {
  FILE *file = fopen(path, "wb");
  if (!file) fail("create", path, strerror(errno));
  uint32_t header[4] = {0x0803, (uint32_t)count, (uint32_t)size, (uint32_t)size};
  for (int i = 0; i < 4; i++)
    for (int shift = 24; shift >= 0; shift -= 8)
      if (putc((int)(header[i] >> shift & 255), file) == EOF) fail("write", path, strerror(errno));
  return file;
}

static void put_grey(FILE *file, const Picture *picture, const char *path) {
  int64_t pixels = (int64_t)picture->size * picture->size;
  for (int64_t i = 0; i < pixels; i++) {
    const unsigned char *p = &picture->pixels[i * CHANNELS];
    if (putc((p[0] + p[1] + p[2]) / CHANNELS, file) == EOF) fail("write", path, strerror(errno));
  }
}

static void write_masks(const char *directory, const char *set_name, int set, int64_t count,
                        uint64_t seed, Picture *picture) {
  char images[4096], masks[4096], name[64];
  snprintf(name, sizeof name, "%s-images-idx3-ubyte", set_name);
  join(images, sizeof images, directory, name);
  snprintf(name, sizeof name, "%s-masks-idx3-ubyte", set_name);
  join(masks, sizeof masks, directory, name);
  FILE *image_file = open_idx(images, count, picture->size);
  FILE *mask_file = open_idx(masks, count, picture->size);
  size_t pixels = (size_t)picture->size * (size_t)picture->size;
  for (int64_t i = 0; i < count; i++) {
    Random random = random_stream(seed, set, i);
    random_ground(&random, picture);
    picture->figures = 1 + (int)(random_draw(&random) % MOST_SHAPES);
    for (int k = 0; k < picture->figures; k++)
      random_figure(&random, picture, &classes[random_draw(&random) % CLASSES], 0.12, 0.3,
                    &picture->figure[k]);
    draw_picture(&random, picture);
    put_grey(image_file, picture, images);
    if (fwrite(picture->mask, 1, pixels, mask_file) != pixels)
      fail("write", masks, strerror(errno));
  }
  if (fclose(image_file) != 0) fail("write", images, strerror(errno));
  if (fclose(mask_file) != 0) fail("write", masks, strerror(errno));
}

/* A figure that is apart from those before it; false if there is no room. */
static bool place_apart(Random *random, Picture *picture, int number) {
  Figure *figure = &picture->figure[number];
  for (int tries = 0; tries < 20; tries++) {
    random_figure(random, picture, &classes[random_draw(random) % CLASSES], 0.12, 0.22, figure);
    bool apart = true;
    for (int k = 0; k < number; k++) {
      const Figure *other = &picture->figure[k];
      double dx = figure->x - other->x, dy = figure->y - other->y;
      apart = apart && sqrt(dx * dx + dy * dy) > figure->radius + other->radius;
    }
    if (apart) return true;
  }
  return false;
}

static void put_box(FILE *file, const Picture *picture, const Figure *figure) {
  int box[4] = {picture->size * POINTS, picture->size * POINTS, 0, 0}; /* of points */
  for (int y = 0; y < picture->size * POINTS; y++)
    for (int x = 0; x < picture->size * POINTS; x++) {
      if (!figure_contains(figure, (x + 0.5) / POINTS, (y + 0.5) / POINTS)) continue;
      box[0] = x < box[0] ? x : box[0], box[2] = x + 1 > box[2] ? x + 1 : box[2];
      box[1] = y < box[1] ? y : box[1], box[3] = y + 1 > box[3] ? y + 1 : box[3];
    }
  for (int i = 0; i < 4; i++) fprintf(file, "%.2f,", (double)box[i] / POINTS);
}

static void write_boxes(const char *directory, const char *set_name, int set, int64_t count,
                        uint64_t seed, Picture *picture) {
  char images[4096], boxes[4096], name[64];
  snprintf(name, sizeof name, "%s-images-idx3-ubyte", set_name);
  join(images, sizeof images, directory, name);
  snprintf(name, sizeof name, "%s-boxes.csv", set_name);
  join(boxes, sizeof boxes, directory, name);
  FILE *image_file = open_idx(images, count, picture->size);
  FILE *box_file = fopen(boxes, "w");
  if (!box_file) fail("create", boxes, strerror(errno));
  for (int64_t i = 0; i < count; i++) {
    Random random = random_stream(seed, set, i);
    random_ground(&random, picture);
    int wanted = 1 + (int)(random_draw(&random) % MOST_SHAPES);
    for (picture->figures = 0; picture->figures < wanted; picture->figures++)
      if (!place_apart(&random, picture, picture->figures)) break;
    draw_picture(&random, picture);
    put_grey(image_file, picture, images);
    for (int k = 0; k < MOST_SHAPES; k++)
      if (k < picture->figures) put_box(box_file, picture, &picture->figure[k]);
      else fputs("0,0,0,0,", box_file);
    for (int k = 0; k < MOST_SHAPES; k++)
      fprintf(box_file, "%d%c",
              k < picture->figures ? (int)(picture->figure[k].class - classes) : -1,
              k + 1 < MOST_SHAPES ? ',' : '\n');
  }
  if (fclose(image_file) != 0) fail("write", images, strerror(errno));
  if (fclose(box_file) != 0) fail("write", boxes, strerror(errno));
}

/* --- the command line ------------------------------------------------------------------------- */

static _Noreturn void usage(int status) {
  fputs("usage: nnc-shapes DIRECTORY [--coloured | --masks | --boxes] [--train N]\n"
        "                  [--val N] [--size PIXELS] [--seed S]\n"
        "Draws shapes: pictures in a folder for each of six classes (train/CLASS/*.png, val/...),\n"
        "each class in a colour of its own with --coloured; or with --masks grey pictures and\n"
        "masks in MNIST's format (train-*, test-*), with --boxes such pictures and tables of the\n"
        "boxes of their shapes.  3000 and 600 pictures of 64 x 64 unless\n"
        "told otherwise.\n",
        status ? stderr : stdout);
  exit(status);
}

static int64_t number_of(const char *option, const char *text, int64_t least, int64_t most) {
  char *end = NULL;
  errno = 0;
  long long number = text ? strtoll(text, &end, 10) : 0;
  if (text && *text && !*end && errno == 0 && number >= least && number <= most) return number;
  fprintf(stderr, "nnc-shapes: %s needs a number from %lld to %lld, not '%s'\n", option,
          (long long)least, (long long)most, text ? text : "");
  exit(2);
}

typedef struct Option {
  const char *name;
  int64_t value, least, most;
} Option;

int main(int argc, char **argv) {
  Option train = {"--train", 3000, 1, INT32_MAX}, val = {"--val", 600, 1, INT32_MAX};
  Option size = {"--size", 64, LEAST_SIZE, MOST_SIZE}, seed = {"--seed", 1, 0, INT32_MAX};
  Option *options[] = {&train, &val, &size, &seed};
  const char *directory = NULL;
  bool masks = false, coloured = false, boxes = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) usage(0);
    Option *option = NULL;
    for (int k = 0; k < 4; k++)
      if (strcmp(argv[i], options[k]->name) == 0) option = options[k];
    if (option) {
      option->value = number_of(option->name, argv[i + 1], option->least, option->most);
      i++;
    } else if (strcmp(argv[i], "--masks") == 0) {
      masks = true;
    } else if (strcmp(argv[i], "--boxes") == 0) {
      boxes = true;
    } else if (strcmp(argv[i], "--coloured") == 0) {
      coloured = true;
    } else if (!directory && argv[i][0] != '-') {
      directory = argv[i];
    } else {
      usage(2);
    }
  }
  if (!directory) usage(2);
  make_folder(directory);
  size_t pixels = (size_t)(size.value * size.value);
  Picture picture = {.size = (int)size.value, .coloured = coloured};
  picture.pixels = malloc(pixels * (CHANNELS + 1));
  if (!picture.pixels) fail("make", "a picture", strerror(errno));
  picture.mask = picture.pixels + pixels * CHANNELS;
  void (*write)(const char *, const char *, int, int64_t, uint64_t, Picture *) =
      boxes   ? write_boxes
      : masks ? write_masks
              : write_classes;
  write(directory, "train", 0, train.value, (uint64_t)seed.value, &picture);
  write(directory, masks || boxes ? "test" : "val", 1, val.value, (uint64_t)seed.value, &picture);
  free(picture.pixels);
  return 0;
}
