/* random_affine and random_erase: pixels against the forward map solved for each, what is erased and how
 * often, nothing outside of training, the same for the same epoch and row. */
#include <math.h>

#include <png.h>
#include <sys/stat.h>

#include "data/picture_affine.h"
#include "support.h"

enum { HEIGHT = 20, WIDTH = 30 };

static int shade(int y, int x, int channel) {
  return 20 + (5 * x + 3 * y * y + 40 * channel) % 200;
}

static void fill_picture(unsigned char bytes[HEIGHT][WIDTH][3]) {
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      for (int c = 0; c < 3; c++) bytes[y][x][c] = (unsigned char)shade(y, x, c);
}

/* The value at a place, of pixels with weights that fall to 0 a pixel away; 9 outside. */
static double value_at(double y, double x, int channel) {
  double sum = 0;
  for (int i = (int)floor(y); i <= (int)floor(y) + 1; i++)
    for (int k = (int)floor(x); k <= (int)floor(x) + 1; k++) {
      bool is_inside = i >= 0 && i < HEIGHT && k >= 0 && k < WIDTH;
      double weight = (1 - fabs(y - i)) * (1 - fabs(x - k));
      sum += weight * (is_inside ? shade(i, k, channel) : 9);
    }
  return sum;
}

static void test_pixels_come_from_where_they_were(void **state) {
  (void)state;
  static unsigned char source[HEIGHT][WIDTH][3], result[HEIGHT][WIDTH][3];
  fill_picture(source);
  Picture picture = {HEIGHT, WIDTH, 3, 3, &source[0][0][0]};
  const double cases[][5] = {{0, 0, 1, 0, 0},        {0, 0, 1, 3, -2},        {0.5, 0, 1, 0, 0},
                             {-1.2, 0.4, 1.3, 2, 5}, {3.1, -0.7, 0.6, -4, 1}, {0, 0, 2, 0, 0},
                             {0, 0, 0.01, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double *c = cases[i], s = c[2], t = tan(c[1]);
    /* forward: sheared, turned clockwise, scaled, moved */
    double xx = s * cos(c[0]), xy = s * (t * cos(c[0]) - sin(c[0]));
    double yx = s * sin(c[0]), yy = s * (t * sin(c[0]) + cos(c[0])), area = xx * yy - xy * yx;
    PictureMap map = data_affine_map(c[0], c[1], c[2], c[3], c[4]);
    data_affine_pixels(&picture, &map, false, 9, &result[0][0][0]);
    for (int row = 0; row < HEIGHT; row++)
      for (int column = 0; column < WIDTH; column++) {
        double x = column - (WIDTH - 1) / 2.0 - c[3], y = row - (HEIGHT - 1) / 2.0 - c[4];
        double from_x = (yy * x - xy * y) / area + (WIDTH - 1) / 2.0;
        double from_y = (xx * y - yx * x) / area + (HEIGHT - 1) / 2.0;
        bool is_far = fabs(from_x) > 50 || fabs(from_y) > 50;
        for (int k = 0; k < 3; k++) {
          double wanted = is_far ? 9 : value_at(from_y, from_x, k);
          assert_true(fabs(result[row][column][k] - wanted) <= 0.5 + 1e-6);
        }
      }
  }
  PictureMap half_turn = data_affine_map(acos(-1), 0, 1, 0, 0);
  data_affine_pixels(&picture, &half_turn, true, 9, &result[0][0][0]);
  for (int row = 0; row < HEIGHT; row++)
    for (int column = 0; column < WIDTH; column++)
      assert_memory_equal(result[row][column], source[HEIGHT - 1 - row][WIDTH - 1 - column], 3);
}

/* ---- stages ---- */

static void write_pictures(void) {
  static unsigned char bytes[HEIGHT][WIDTH][3];
  char path[256];
  fill_picture(bytes);
  snprintf(path, sizeof path, "%s/t", directory());
  mkdir(path, 0777);
  snprintf(path, sizeof path, "%s/t/c", directory());
  mkdir(path, 0777);
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/t/c/%d.png", directory(), i);
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT, .format = PNG_FORMAT_RGB};
    assert_true(png_image_write_to_file(&image, path, 0, bytes, 0, NULL));
  }
}

static void remove_pictures(void) {
  static const char *const names[] = {"t/c/0.png", "t/c/1.png", "t/c", "t"};
  char path[256];
  for (int i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "%s/%s", directory(), names[i]);
    remove(path);
  }
}

typedef unsigned char Planes[2][3][HEIGHT][WIDTH];

/* Minibatches of the two pictures in so many epochs, and how the set reads them outside of training. */
static void read_epochs(nnc_call stage, int epochs, Planes *seen, Planes plain) {
  nnc_model model = MODEL(
      2, SET("train", PIPELINE(FIELDS("x"), SOURCE(image_folder, ARG("folder", STR("t"))), stage)));
  nnc_entry entry = ENTRY(2, INPUT("x", NNC_U8, 2, 3, HEIGHT, WIDTH));
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE];
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  nnc_loader_options options = {.batch = 2, .seed = 3, .prefetch = 1};
  nnc_loader *loader = nnc_loader_open(data, &options, message);
  assert_non_null(loader);
  for (int epoch = 0; epoch < epochs; epoch++)
    assert_int_equal(nnc_loader_next(loader, (void *[]){seen[epoch]}).count, 2);
  Planes again;
  nnc_loader_seek(loader, 1, 0);
  nnc_loader_next(loader, (void *[]){again});
  assert_memory_equal(again, seen[1], sizeof again);
  read_well(data, 0, 2, (void *[]){plain});
  nnc_loader_close(loader);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

static void assert_plain(Planes plain) {
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++) assert_int_equal(plain[0][c][y][x], shade(y, x, c));
}

static void test_erasing(void **state) {
  (void)state;
  enum { EPOCHS = 100 };
  static Planes seen[EPOCHS], plain;
  write_pictures();
  read_epochs(STAGE(random_erase, ARG("value", NUM(7)), ARG("scale", LIST(NUM(0.1), NUM(0.3)))),
              EPOCHS, seen, plain);
  assert_plain(plain);
  int erased = 0, tops[HEIGHT] = {0}, places = 0;
  for (int e = 0; e < 2 * EPOCHS; e++) {
    int top = HEIGHT, bottom = -1, left = WIDTH, right = -1, count = 0;
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++) {
        bool is_erased = seen[e / 2][e % 2][0][y][x] == 7;
        for (int c = 0; c < 3; c++)
          assert_int_equal(seen[e / 2][e % 2][c][y][x], is_erased ? 7 : shade(y, x, c));
        if (!is_erased) continue;
        count++;
        top = y < top ? y : top, bottom = y, left = x < left ? x : left;
        right = x > right ? x : right;
      }
    if (count == 0) continue;
    erased++;
    tops[top]++;
    int height = bottom - top + 1, width = right - left + 1;
    assert_int_equal(count, height * width); /* one rectangle */
    double share = (double)count / (HEIGHT * WIDTH), ratio = (double)width / height;
    assert_true(share > 0.08 && share < 0.33 && ratio > 0.25 && ratio < 4);
  }
  for (int y = 0; y < HEIGHT; y++) places += tops[y] > 0;
  assert_true(erased > 70 && erased < 130 && places > 8); /* half of them, anywhere */
  remove_pictures();
}

static void test_moving(void **state) {
  (void)state;
  enum { EPOCHS = 60 };
  static Planes seen[EPOCHS], plain;
  write_pictures();
  read_epochs(STAGE(random_affine, ARG("translate", NUM(0.1)), ARG("value", NUM(7))), EPOCHS, seen,
              plain);
  assert_plain(plain);
  int met[5][7] = {{0}}, different = 0;
  for (int e = 0; e < 2 * EPOCHS; e++) {
    /* moved by whole pixels, at most 2 down and 3 to the right: the place of what was in the middle */
    int found = 0;
    for (int down = -2; down <= 2; down++)
      for (int right = -3; right <= 3; right++) {
        bool fits = true;
        for (int y = 0; y < HEIGHT && fits; y++)
          for (int x = 0; x < WIDTH && fits; x++) {
            int i = y - down, k = x - right;
            bool is_inside = i >= 0 && i < HEIGHT && k >= 0 && k < WIDTH;
            fits = seen[e / 2][e % 2][1][y][x] == (is_inside ? shade(i, k, 1) : 7);
          }
        if (!fits) continue;
        found++;
        met[down + 2][right + 3]++;
      }
    assert_int_equal(found, 1);
  }
  for (int i = 0; i < 35; i++) different += met[i / 7][i % 7] > 0;
  assert_true(different > 20);
  remove_pictures();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pixels_come_from_where_they_were),
                                     cmocka_unit_test(test_erasing), cmocka_unit_test(test_moving)};
  return cmocka_run_group_tests_name("augment", tests, enter, leave);
}
