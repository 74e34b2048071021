/* nnc-digits: writes a data set of handwritten-like digits in MNIST's format and with its file
 * names.
 *
 *     nnc-digits DIRECTORY [--train N] [--test N] [--seed S]
 *
 * For machines without the real MNIST: `tools/fetch_mnist.sh` downloads that.  An image is a style
 * of its digit, written as strokes: splines through points, which are jittered, sent through a
 * smooth random field, sheared, rotated and scaled into a box of about 20 x 20 pixels, and drawn
 * with a round pen of random width and ink.  Each image has a random stream of its own, keyed by
 * seed, set and number, so the sets are disjoint and the bytes depend on nothing else: no function
 * of the mathematical library but the square root, which is exact everywhere, is used.  (Build it
 * with -ffp-contract=off where the machine has fused multiply-adds.) */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "random.h"

enum { SIDE = 28, MOST_POINTS = 64, STEPS = 8, FIELD = 4 };

/* Styles: points x y in [0, 100], y down; "/" lifts the pen; a point given twice is a corner. */
typedef struct Style {
  int digit;
  const char *strokes;
} Style;

static const Style styles[] = {
    {0, "50 2 22 15 12 50 22 85 50 98 78 85 88 50 78 15 50 2"},
    {0, "62 6 36 10 20 45 26 82 46 97 70 85 80 50 72 18 50 4 38 10"},
    {0, "40 3 24 30 26 72 44 97 66 80 72 40 60 8 40 3"},
    {1, "50 2 50 98"},
    {1, "30 24 52 3 52 3 52 98"},
    {1, "32 20 52 3 52 3 52 97 / 30 97 74 97"},
    {1, "54 2 50 50 48 98"},
    {2, "18 25 30 6 55 3 76 16 76 38 55 62 30 82 15 96 15 96 50 93 86 96"},
    {2, "20 22 40 4 68 8 75 32 58 62 30 88 20 92 18 80 32 76 55 88 85 94"},
    {2, "16 16 50 3 78 20 66 48 20 95 20 95 84 95"},
    {3, "20 12 45 3 70 12 72 32 48 46 48 46 76 56 80 78 55 97 25 95 14 84"},
    {3, "18 5 75 5 75 5 45 40 45 40 75 52 80 78 55 97 20 92"},
    {3, "22 10 60 3 74 22 58 44 34 48 60 50 80 70 66 94 30 97 16 88"},
    {4, "30 3 18 58 18 58 82 58 / 64 28 60 98"},
    {4, "66 98 66 3 66 3 14 66 14 66 88 66"},
    {4, "25 4 22 40 40 52 70 46 / 74 3 68 50 64 98"},
    {5, "76 5 30 5 30 5 24 45 24 45 55 38 80 60 74 86 45 98 15 88"},
    {5, "28 6 24 46 50 38 76 52 78 80 50 98 16 90 / 28 6 80 4"},
    {5, "70 8 34 10 30 44 60 48 74 74 52 96 20 94"},
    {6, "68 4 38 22 20 55 24 86 50 98 76 84 74 60 50 50 26 66"},
    {6, "55 2 30 35 22 72 36 95 62 94 76 74 60 56 36 62 24 78"},
    {6, "60 4 34 40 24 80 48 97 66 82 56 64 30 74"},
    {7, "14 6 84 6 84 6 60 45 44 98"},
    {7, "14 8 84 6 84 6 58 45 42 98 / 34 50 76 48"},
    {7, "14 22 16 6 16 6 50 10 84 5 84 5 62 40 46 97"},
    {8, "50 50 24 34 26 10 52 3 76 14 72 36 50 50 22 66 22 88 50 98 78 88 76 64 50 50"},
    {8, "74 16 50 3 26 16 36 40 64 58 76 80 52 98 26 84 36 60 64 40 76 20"},
    {8, "62 8 34 8 34 34 64 54 66 86 40 97 28 76 56 46 68 22 58 6"},
    {9, "74 30 60 6 34 6 22 28 34 50 60 46 74 28 74 28 72 60 60 97"},
    {9, "72 26 50 4 26 18 26 40 50 52 72 30 / 74 8 74 40 70 97"},
    {9, "74 30 56 5 28 14 26 42 54 50 74 26 76 64 60 92 30 94"},
};
enum { STYLES = sizeof styles / sizeof *styles };

/* About normal, deviation 1, never beyond 3.5: the sum of four even numbers. */
static double normal(Random *random) {
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += random_between(random, -1, 1);
  return sum * 0.8660254037844386;
}

/* --- strokes --------------------------------------------------------------------------------- */

typedef struct Point {
  double x, y;
} Point;

typedef struct Curve {
  int count;
  Point point[MOST_POINTS * STEPS];
  bool starts[MOST_POINTS * STEPS]; /* the pen is lifted before this point */
} Curve;

/* The shape of one image's distortions. */
typedef struct Hand {
  double a, b, c, d;         /* rotation, shear and scale: x' = a x + b y, y' = c x + d y */
  double jitter;             /* of points, in the units of the styles */
  Point field[FIELD][FIELD]; /* displacements at the nodes of a grid over the style */
  double pen;                /* radius in pixels */
  double ink;                /* 0 to 1 */
  double soft;               /* width of the pen's edge in pixels */
  Point shift;               /* pixels */
  double box;                /* pixels of the longer side */
} Hand;

static Point random_point(Random *random, double deviation) {
  double x = deviation * normal(random), y = deviation * normal(random);
  return (Point){x, y};
}

static Hand random_hand(Random *random) {
  Hand hand;
  double turn = 0.13 * normal(random), shear = 0.18 * normal(random);
  double wide = random_between(random, 0.72, 1.12);
  double sine = turn - turn * turn * turn / 6, cosine = 1 - turn * turn / 2;
  hand.a = cosine * wide;
  hand.b = shear * cosine - sine;
  hand.c = sine * wide;
  hand.d = shear * sine + cosine;
  hand.jitter = 3.3;
  for (int i = 0; i < FIELD; i++)
    for (int j = 0; j < FIELD; j++) hand.field[i][j] = random_point(random, 5.2);
  hand.pen = random_between(random, 0.8, 1.8);
  hand.ink = random_between(random, 0.75, 1.0);
  hand.soft = random_between(random, 0.8, 1.4);
  hand.shift = random_point(random, 0.65);
  hand.box = random_between(random, 17, 21.5);
  return hand;
}

/* The displacement at (x, y): the grid's, smoothly interpolated. */
static Point field_at(const Hand *hand, double x, double y) {
  double u = x / 100 * (FIELD - 1), v = y / 100 * (FIELD - 1);
  if (u < 0) u = 0;
  if (v < 0) v = 0;
  if (u > FIELD - 1.001) u = FIELD - 1.001;
  if (v > FIELD - 1.001) v = FIELD - 1.001;
  int i = (int)v, j = (int)u;
  double s = u - j, t = v - i;
  s = s * s * (3 - 2 * s);
  t = t * t * (3 - 2 * t);
  const Point *p = &hand->field[i][j], *q = &hand->field[i + 1][j];
  return (Point){(p[0].x * (1 - s) + p[1].x * s) * (1 - t) + (q[0].x * (1 - s) + q[1].x * s) * t,
                 (p[0].y * (1 - s) + p[1].y * s) * (1 - t) + (q[0].y * (1 - s) + q[1].y * s) * t};
}

static Point bend(const Hand *hand, Point p) {
  Point by = field_at(hand, p.x, p.y);
  double x = p.x + by.x - 50, y = p.y + by.y - 50;
  return (Point){hand->a * x + hand->b * y, hand->c * x + hand->d * y};
}

/* Catmull and Rom's spline through b and c. */
static double spline(double a, double b, double c, double d, double t) {
  return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t +
                (3 * b - a - 3 * c + d) * t * t * t);
}

static void add_stroke(Curve *curve, const Hand *hand, const Point *points, int count) {
  for (int i = 0; i + 1 < count; i++) {
    Point a = points[i ? i - 1 : 0], b = points[i], c = points[i + 1];
    Point d = points[i + 2 < count ? i + 2 : count - 1];
    for (int k = 0; k < STEPS + (i + 2 == count); k++) {
      double t = (double)k / STEPS;
      curve->starts[curve->count] = i == 0 && k == 0;
      Point p = {spline(a.x, b.x, c.x, d.x, t), spline(a.y, b.y, c.y, d.y, t)};
      curve->point[curve->count++] = bend(hand, p);
    }
  }
}

/* Ends may fall short or overshoot by a part of the last piece. */
static void move_end(Random *random, Point *end, Point inner) {
  double by = random_between(random, -0.3, 0.2);
  end->x += by * (end->x - inner.x);
  end->y += by * (end->y - inner.y);
}

static void write_strokes(Random *random, const Hand *hand, const char *strokes, Curve *curve) {
  Point points[MOST_POINTS];
  int count = 0;
  long last_x = -1, last_y = -1;
  curve->count = 0;
  for (const char *at = strokes;; at++) {
    char *end;
    long x = strtol(at, &end, 10);
    if (end != at) {
      long y = strtol(end, &end, 10);
      bool is_corner = x == last_x && y == last_y;
      Point by = random_point(random, hand->jitter);
      points[count] = is_corner ? points[count - 1] : (Point){(double)x + by.x, (double)y + by.y};
      count++;
      last_x = x;
      last_y = y;
      at = end;
    }
    if (*at && *at != '/') continue;
    move_end(random, &points[0], points[1]);
    move_end(random, &points[count - 1], points[count - 2]);
    add_stroke(curve, hand, points, count);
    count = 0;
    if (!*at) return;
  }
}

/* --- drawing --------------------------------------------------------------------------------- */

/* Scales the curve into the box and centers it. */
static void place(Curve *curve, const Hand *hand) {
  Point low = curve->point[0], high = low;
  for (int i = 1; i < curve->count; i++) {
    Point p = curve->point[i];
    if (p.x < low.x) low.x = p.x;
    if (p.y < low.y) low.y = p.y;
    if (p.x > high.x) high.x = p.x;
    if (p.y > high.y) high.y = p.y;
  }
  double extent = high.x - low.x > high.y - low.y ? high.x - low.x : high.y - low.y;
  double scale = (hand->box - 2 * hand->pen) / extent;
  for (int i = 0; i < curve->count; i++) {
    Point *p = &curve->point[i];
    p->x = (p->x - (low.x + high.x) / 2) * scale + SIDE / 2.0 + hand->shift.x;
    p->y = (p->y - (low.y + high.y) / 2) * scale + SIDE / 2.0 + hand->shift.y;
  }
}

static int clamp(double pixel) { return pixel < 0 ? 0 : pixel > SIDE ? SIDE : (int)pixel; }

/* Keeps, at each pixel near the piece from p to q, the least squared distance of its center. */
static void draw_piece(double distance[SIDE][SIDE], Point p, Point q, double reach) {
  int left = clamp((p.x < q.x ? p.x : q.x) - reach),
      right = clamp((p.x > q.x ? p.x : q.x) + reach + 1);
  int top = clamp((p.y < q.y ? p.y : q.y) - reach),
      bottom = clamp((p.y > q.y ? p.y : q.y) + reach + 1);
  double dx = q.x - p.x, dy = q.y - p.y, length = dx * dx + dy * dy;
  for (int y = top; y < bottom; y++)
    for (int x = left; x < right; x++) {
      double px = x + 0.5 - p.x, py = y + 0.5 - p.y;
      double t = length > 0 ? (px * dx + py * dy) / length : 0;
      t = t < 0 ? 0 : t > 1 ? 1 : t;
      double ex = px - t * dx, ey = py - t * dy, square = ex * ex + ey * ey;
      if (square < distance[y][x]) distance[y][x] = square;
    }
}

static void draw_curve(Random *random, const Curve *curve, const Hand *hand, unsigned char *image) {
  double distance[SIDE][SIDE];
  for (int i = 0; i < SIDE * SIDE; i++) distance[i / SIDE][i % SIDE] = 1e9;
  double reach = hand->pen + hand->soft;
  for (int i = 1; i < curve->count; i++)
    if (!curve->starts[i]) draw_piece(distance, curve->point[i - 1], curve->point[i], reach);
  for (int i = 0; i < SIDE * SIDE; i++) {
    double square = distance[i / SIDE][i % SIDE];
    double cover = square < reach * reach ? (hand->pen - sqrt(square)) / hand->soft + 0.5 : 0;
    if (cover <= 0) continue;
    double value = 255 * hand->ink * (cover < 1 ? cover : 1) + 6 * normal(random);
    image[i] = value < 0 ? 0 : value > 255 ? 255 : (unsigned char)value;
  }
}

static unsigned char make_digit(uint64_t seed, int set, int64_t number, unsigned char *image) {
  Random random = random_stream(seed, set, number);
  int digit = (int)(random_draw(&random) % 10), chosen[STYLES], count = 0;
  for (int i = 0; i < STYLES; i++)
    if (styles[i].digit == digit) chosen[count++] = i;
  const char *strokes = styles[chosen[random_draw(&random) % (uint64_t)count]].strokes;
  Hand hand = random_hand(&random);
  Curve curve;
  write_strokes(&random, &hand, strokes, &curve);
  place(&curve, &hand);
  memset(image, 0, SIDE * SIDE);
  draw_curve(&random, &curve, &hand, image);
  return (unsigned char)digit;
}

/* --- files ----------------------------------------------------------------------------------- */

typedef struct Output {
  char name[4096], temporary[4096 + 8];
  FILE *file;
} Output;

static _Noreturn void fail(const char *doing, const char *what) {
  fprintf(stderr, "nnc-digits: cannot %s %s: %s\n", doing, what, strerror(errno));
  exit(1);
}

static void put_number(Output *output, int64_t number) {
  unsigned char bytes[4] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                            (unsigned char)(number >> 8), (unsigned char)number};
  if (fwrite(bytes, 1, 4, output->file) != 4) fail("write", output->temporary);
}

static void output_open(Output *output, const char *directory, const char *name, int rank,
                        int64_t count) {
  int length = snprintf(output->name, sizeof output->name, "%s/%s", directory, name);
  if (length < 0 || (size_t)length >= sizeof output->name) {
    errno = ENAMETOOLONG;
    fail("write into", directory);
  }
  snprintf(output->temporary, sizeof output->temporary, "%s.part", output->name);
  output->file = fopen(output->temporary, "wb");
  if (!output->file) fail("create", output->temporary);
  put_number(output, 0x0800 + rank); /* IDX: unsigned bytes */
  put_number(output, count);
  for (int i = 1; i < rank; i++) put_number(output, SIDE);
}

static void output_put(Output *output, const unsigned char *bytes, size_t size) {
  if (fwrite(bytes, 1, size, output->file) != size) fail("write", output->temporary);
}

/* The file appears whole or not at all. */
static void output_close(Output *output) {
  if (fclose(output->file) != 0) fail("write", output->temporary);
  if (rename(output->temporary, output->name) != 0) fail("rename", output->temporary);
}

static void write_set(const char *directory, const char *name, int set, int64_t count,
                      uint64_t seed) {
  char images_name[64], labels_name[64];
  snprintf(images_name, sizeof images_name, "%s-images-idx3-ubyte", name);
  snprintf(labels_name, sizeof labels_name, "%s-labels-idx1-ubyte", name);
  Output images, labels;
  output_open(&images, directory, images_name, 3, count);
  output_open(&labels, directory, labels_name, 1, count);
  for (int64_t i = 0; i < count; i++) {
    unsigned char image[SIDE * SIDE], label = make_digit(seed, set, i, image);
    output_put(&images, image, sizeof image);
    output_put(&labels, &label, 1);
    if ((i + 1) % 10000 == 0 || i + 1 == count)
      fprintf(stderr, "%s: %lld of %lld\n", images_name, (long long)(i + 1), (long long)count);
  }
  output_close(&images);
  output_close(&labels);
}

static _Noreturn void usage(int status) {
  fputs("usage: nnc-digits DIRECTORY [--train N] [--test N] [--seed S]\n"
        "Writes handwritten-like digits in MNIST's format and with its file names\n"
        "(60000 and 10000 images unless told otherwise).\n",
        status ? stderr : stdout);
  exit(status);
}

static int64_t number_of(const char *option, const char *text, int64_t least) {
  char *end;
  errno = 0;
  long long number = text ? strtoll(text, &end, 10) : 0;
  if (text && *text && !*end && errno == 0 && number >= least && number <= INT32_MAX) return number;
  fprintf(stderr, "nnc-digits: %s needs a number from %lld to %d, not '%s'\n", option,
          (long long)least, INT32_MAX, text ? text : "");
  exit(2);
}

int main(int argc, char **argv) {
  int64_t train = 60000, test = 10000, seed = 1;
  const char *directory = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) usage(0);
    int64_t *number = strcmp(argv[i], "--train") == 0  ? &train
                      : strcmp(argv[i], "--test") == 0 ? &test
                      : strcmp(argv[i], "--seed") == 0 ? &seed
                                                       : NULL;
    if (number) {
      *number = number_of(argv[i], argv[i + 1], number == &seed ? 0 : 1);
      i++;
    } else if (!directory && argv[i][0] != '-') {
      directory = argv[i];
    } else {
      usage(2);
    }
  }
  if (!directory) usage(2);
  if (!folder_make(directory)) fail("make the folder", directory);
  write_set(directory, "train", 0, train, (uint64_t)seed);
  write_set(directory, "t10k", 1, test, (uint64_t)seed);
  return 0;
}
