/* Decoding parts of JPEG files: with the bits of the whole picture, whatever its colours' sampling, scans
 * and restarts; reductions against means of pixels; pictures that lie on a side. */
#include <stdio.h>

#include <jpeglib.h>
#include <math.h>
#include <png.h>
#include <zlib.h>

#include "data/picture.h"
#include "data/picture_turn.h"
#include "data/picture_view.h"
#include "support.h"

static DataScratch scratch;

static int release(void **state) {
  (void)state;
  data_scratch_free(&scratch);
  return 0;
}

/* --- files in memory -------------------------------------------------------------------------- */

typedef struct Coding {
  int across, down; /* pixels for one of the colours' */
  bool is_grey, is_progressive;
  int restarts; /* blocks between them; 0: none */
  int quality;
  int orientation;    /* 0: no note */
  J_COLOR_SPACE inks; /* of four channels of printing; 0: there are none */
} Coding;

static void note_orientation(struct jpeg_compress_struct *encoder, int orientation) {
  unsigned char note[] = "Exif\0\0MM\0*\0\0\0\x08\0\x02\x01\x0f\0\x02\0\0\0\x01\0\0\0\0"
                         "\x01\x12\0\x03\0\0\0\x01\0?\0\0\0\0\0\0";
  note[sizeof note - 8] = (unsigned char)orientation;
  jpeg_write_marker(encoder, JPEG_APP0 + 1, (const unsigned char *)"http://ns.adobe.com/xap", 23);
  jpeg_write_marker(encoder, JPEG_APP0 + 1, note, sizeof note - 1);
}

/* The bytes are malloc'ed. */
static unsigned char *encode(const unsigned char *pixels, int height, int width,
                             const Coding *coding, size_t *size) {
  struct jpeg_compress_struct encoder;
  struct jpeg_error_mgr errors;
  unsigned char *bytes = NULL;
  unsigned long length = 0;
  int channels = coding->inks ? 4 : coding->is_grey ? 1 : 3;
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  jpeg_mem_dest(&encoder, &bytes, &length);
  encoder.image_height = (unsigned)height;
  encoder.image_width = (unsigned)width;
  encoder.input_components = channels;
  encoder.in_color_space = coding->inks ? JCS_CMYK : coding->is_grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  if (coding->inks) jpeg_set_colorspace(&encoder, coding->inks);
  jpeg_set_quality(&encoder, coding->quality, TRUE);
  encoder.comp_info[0].h_samp_factor = coding->across;
  encoder.comp_info[0].v_samp_factor = coding->down;
  for (int i = 3; i < channels; i++) { /* black, as fine as the first */
    encoder.comp_info[i].h_samp_factor = coding->across;
    encoder.comp_info[i].v_samp_factor = coding->down;
  }
  encoder.restart_interval = (unsigned)coding->restarts;
  if (coding->is_progressive) jpeg_simple_progression(&encoder);
  jpeg_start_compress(&encoder, TRUE);
  if (coding->orientation) note_orientation(&encoder, coding->orientation);
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW row =
        (JSAMPROW)pixels + encoder.next_scanline * encoder.image_width * (unsigned)channels;
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  *size = length;
  return bytes;
}

/* Shapes with edges, and noise: as much as makes every coefficient count. */
static unsigned char *draw(int height, int width, int channels, int noise) {
  unsigned char *pixels = malloc((size_t)(height * width * channels));
  uint32_t bits = 5;
  assert_non_null(pixels);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      for (int c = 0; c < channels; c++) {
        bits = bits * 1664525 + 1013904223;
        int shade = ((x / 9 + y / 13) % 2) * 90 + (x * (c + 1) + y * 2) / 3 % 100 + 30;
        pixels[(y * width + x) * channels + c] =
            (unsigned char)(shade + (int)(bits >> 24) * noise / 255);
      }
  return pixels;
}

/* Of a file, with its own context: as it is to be seen. */
typedef struct Seen {
  DataContext context;
  char message[NNC_MESSAGE];
  PictureFile file;
} Seen;

static void look(Seen *seen, const unsigned char *bytes, size_t size) {
  seen->context = (DataContext){.message = seen->message};
  if (data_picture_look(&seen->context, "a", bytes, size, &seen->file) < 0)
    fail_msg("%s", seen->message);
}

/* planes of the whole, malloc'ed */
static unsigned char *whole_planes(const Seen *seen, int channels) {
  PictureView view = data_view_file(&seen->file, channels, &scratch);
  unsigned char *planes = malloc((size_t)(view.part.height * view.part.width * channels));
  if (data_view_finish(&view, planes) < 0) fail_msg("%s", seen->message);
  return planes;
}

/* --- tests ------------------------------------------------------------------------------------ */

/* Of every reduction: the picture has the part that is wanted, and its pixels are those of the whole. */
static void check_part(const Seen *seen, int channels, int divisor, const Picture *all,
                       PicturePart wanted) {
  PicturePart part = wanted;
  Picture picture = {.channels = channels};
  if (data_picture_decode(&seen->file, divisor, &scratch, &picture, &part) < 0)
    fail_msg("%s", seen->message);
  assert_true(part.top <= wanted.top && part.left <= wanted.left);
  assert_true(part.top + part.height >= wanted.top + wanted.height);
  assert_true(part.left + part.width >= wanted.left + wanted.width);
  assert_true(picture.height == part.height && picture.width == part.width);
  for (int64_t y = wanted.top; y < wanted.top + wanted.height; y++)
    for (int64_t x = wanted.left; x < wanted.left + wanted.width; x++) {
      const unsigned char *found =
          picture.bytes + ((y - part.top) * part.width + x - part.left) * picture.pixel;
      assert_memory_equal(found, all->bytes + (y * all->width + x) * all->pixel, channels);
    }
}

static void check_parts(const Seen *seen, int channels, int divisor) {
  Picture all = {.channels = channels};
  PicturePart whole = {0, 0, (seen->file.height + divisor - 1) / divisor,
                       (seen->file.width + divisor - 1) / divisor};
  PicturePart got = whole;
  if (data_picture_decode(&seen->file, divisor, &scratch, &all, &got) < 0)
    fail_msg("%s", seen->message);
  assert_memory_equal(&got, &whole, sizeof got);
  size_t size = (size_t)(all.height * all.width * all.pixel);
  unsigned char *copy = malloc(size);
  memcpy(copy, all.bytes, size);
  all.bytes = copy;
  uint32_t bits = 11;
#define BELOW(n) ((int64_t)((bits = bits * 1664525 + 1013904223) >> 16) % (n))
  for (int i = 0; i < 40; i++) {
    PicturePart wanted = {0};
    wanted.top = BELOW(whole.height);
    wanted.left = BELOW(whole.width);
    wanted.height = 1 + BELOW(whole.height - wanted.top);
    wanted.width = 1 + BELOW(whole.width - wanted.left);
    check_part(seen, channels, divisor, &all, wanted);
  }
  free(copy);
}

static void test_parts_have_the_bits_of_the_whole(void **state) {
  (void)state;
  static const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}};
  static const int shapes[][2] = {{75, 131}, {64, 64}, {9, 200}, {133, 17}, {1, 1}};
  for (int s = 0; s < 6; s++)
    for (int h = 0; h < 5; h++)
      for (int way = 0; way < 8; way++) {
        Coding coding = {samplings[s][0],           samplings[s][1],
                         .is_progressive = way & 1, .restarts = way & 2 ? 3 : 0,
                         .is_grey = way & 4,        .quality = 85};
        if (coding.is_grey && s > 0) continue;
        int channels = coding.is_grey ? 1 : 3;
        unsigned char *pixels = draw(shapes[h][0], shapes[h][1], channels, 60);
        size_t size;
        unsigned char *bytes = encode(pixels, shapes[h][0], shapes[h][1], &coding, &size);
        Seen seen;
        look(&seen, bytes, size);
        for (int divisor = 1; divisor <= 8; divisor *= 2) {
          check_parts(&seen, channels, divisor);
          if (!coding.is_grey) check_parts(&seen, 1, divisor);
        }
        free(bytes);
        free(pixels);
      }
}

/* A reduction stands in for a part of the scaling where a factor of 2.5 is left for it: what comes out is
 * what all pixels give, to 1.5 of 255 in the mean and 12 anywhere in this drawing, which is all edges. */
static void test_reductions(void **state) {
  (void)state;
  for (int s = 0; s < 3; s++) {
    Coding coding = {s ? 2 : 1, s == 2 ? 2 : 1, .quality = 90};
    unsigned char *pixels = draw(1100, 900, 3, 40);
    size_t size;
    unsigned char *bytes = encode(pixels, 1100, 900, &coding, &size);
    Seen seen;
    look(&seen, bytes, size);
    PictureFormat whole_format = data_picture_jpeg;
    whole_format.most_divisor = 1;
    for (int64_t to = 40; to <= 230; to += 38) {
      static unsigned char found[2][3 * 230 * 230];
      int64_t values = 3 * to * to;
      for (int k = 0; k < 2; k++) {
        PictureFile file = seen.file;
        if (k) file.format = &whole_format;
        PictureView view = data_view_file(&file, 3, &scratch);
        data_view_crop(&view, (PicturePart){13, 21, 1001, 851});
        assert_int_equal(data_view_scale(&view, to, to), 0);
        assert_int_equal(data_view_finish(&view, found[k]), 0);
      }
      double sum = 0, most = 0;
      for (int64_t i = 0; i < values; i++) {
        double error = abs(found[0][i] - found[1][i]);
        sum += error;
        most = fmax(most, error);
      }
      if (getenv("SHOW")) printf("%d %d: %g %g\n", s, (int)to, sum / (double)values, most);
      assert_true(sum / (double)values < 1.5 && most <= 12);
      if (to > 170) assert_memory_equal(found[0], found[1], values); /* all is decoded */
    }
    free(bytes);
    free(pixels);
  }
}

/* Where pixel (y, x) of what is to be seen is stored, by the words of the Exif standard: the stored row 0 is
 * the seen top, top, bottom, bottom, left, right, right, left; column 0 left, right, right, left,
 * top, top, bottom, bottom. */
static void find_stored(int orientation, int height, int width, int y, int x, int *row,
                        int *column) {
  int from_bottom = height - 1 - y, from_right = width - 1 - x;
  const int rows[] = {y, y, from_bottom, from_bottom, x, from_right, from_right, x};
  const int columns[] = {x, from_right, from_right, x, y, y, from_bottom, from_bottom};
  *row = rows[orientation - 1];
  *column = columns[orientation - 1];
}

static void check_turned(const Seen *seen, int orientation, const unsigned char *stored,
                         int stored_width, int error) {
  enum { HEIGHT = 41, WIDTH = 26 };
  assert_true(seen->file.orientation == orientation);
  assert_true(seen->file.height == HEIGHT && seen->file.width == WIDTH);
  unsigned char *planes = whole_planes(seen, 3);
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      for (int c = 0; c < 3; c++) {
        int row, column;
        find_stored(orientation, HEIGHT, WIDTH, y, x, &row, &column);
        int difference =
            planes[(c * HEIGHT + y) * WIDTH + x] - stored[(row * stored_width + column) * 3 + c];
        assert_true(abs(difference) <= error);
      }
  PictureView view = data_view_file(&seen->file, 3, &scratch);
  static unsigned char part[3 * 7 * 5];
  data_view_crop(&view, (PicturePart){30, 4, 7, 5});
  assert_int_equal(data_view_finish(&view, part), 0);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < 7; y++)
      assert_memory_equal(part + (c * 7 + y) * 5, planes + (c * HEIGHT + 30 + y) * WIDTH + 4, 5);
  free(planes);
}

static unsigned char *add_chunk(unsigned char *at, const char *kind, const unsigned char *data,
                                uint32_t size) {
  unsigned char head[8] = {0, 0, (unsigned char)(size >> 8), (unsigned char)size};
  memcpy(head + 4, kind, 4);
  memcpy(at, head, 8);
  if (size) memcpy(at + 8, data, size);
  uint32_t check = (uint32_t)crc32(0, at + 4, 4 + size);
  for (uint32_t i = 0; i < 4; i++) at[8 + size + i] = (unsigned char)(check >> (24 - 8 * i));
  return at + 12 + size;
}

static void test_turned_pictures(void **state) {
  (void)state;
  for (int orientation = 1; orientation <= 8; orientation++) {
    int height = orientation < 5 ? 41 : 26, width = orientation < 5 ? 26 : 41;
    unsigned char *pixels = malloc((size_t)(height * width * 3));
    for (int i = 0; i < height * width; i++)
      for (int c = 0; c < 3; c++)
        pixels[3 * i + c] = (unsigned char)(i / width * 4 + i % width * (c + 1) + 10 * c);
    Coding coding = {1, 1, .quality = 99, .orientation = orientation};
    size_t size;
    unsigned char *bytes = encode(pixels, height, width, &coding, &size);
    Seen seen;
    look(&seen, bytes, size);
    check_turned(&seen, orientation, pixels, width, 5);
    free(bytes);
    static unsigned char png[16384], turned[16384];
    png_alloc_size_t length = sizeof png;
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (unsigned)width,
                       .height = (unsigned)height,
                       .format = PNG_FORMAT_RGB};
    assert_true(png_image_write_to_memory(&image, png, &length, 0, pixels, 0, NULL));
    unsigned char note[] = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0?\0\0\0";
    note[18] = (unsigned char)orientation;
    memcpy(turned, png, 33); /* the signature and the header */
    unsigned char *end = add_chunk(turned + 33, "eXIf", note, sizeof note - 1);
    memcpy(end, png + 33, length - 33);
    look(&seen, turned, (size_t)(end - turned) + length - 33);
    check_turned(&seen, orientation, pixels, width, 0);
    free(pixels);
  }
}

/* A PNG file of colours or of a palette, read as grey: .299 red + .587 green + .114 blue, as a JPEG file's is; grey stays. */
static void test_greys_of_png_files(void **state) {
  (void)state;
  enum { SIDE = 16 };
  static const double shares[] = {.299, .587, .114};
  static unsigned char png[8192], palette[256 * 3], places[SIDE * SIDE];
  unsigned char *pixels = draw(SIDE, SIDE, 3, 255);
  for (int i = 0; i < SIDE * SIDE; i++) {
    places[i] = (unsigned char)i;
    for (int c = 0; i % 5 == 0 && c < 3; c++) pixels[3 * i + c] = (i / 5 % 4 == c) * 255;
    for (int c = 0; i % 7 == 0 && c < 3; c++) pixels[3 * i + c] = (unsigned char)i;
  }
  memcpy(palette, pixels, sizeof palette);
  for (int by_palette = 0; by_palette < 2; by_palette++) {
    png_alloc_size_t size = sizeof png;
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = SIDE,
                       .height = SIDE,
                       .format = by_palette ? PNG_FORMAT_RGB_COLORMAP : PNG_FORMAT_RGB,
                       .colormap_entries = by_palette ? 256 : 0};
    assert_true(png_image_write_to_memory(&image, png, &size, 0, by_palette ? places : pixels, 0,
                                          by_palette ? palette : NULL));
    Seen seen;
    look(&seen, png, size);
    unsigned char *greys = whole_planes(&seen, 1);
    for (int i = 0; i < SIDE * SIDE; i++) {
      double wanted = 0;
      for (int c = 0; c < 3; c++) wanted += shares[c] * pixels[3 * i + c];
      assert_true(fabs(greys[i] - wanted) <= .51);
      if (i % 7 == 0) assert_int_equal(greys[i], i);
    }
    free(greys);
  }
  free(pixels);
}

/* Blocks that are no Exif, or cut off, are no note. */
static void test_notes_that_are_none(void **state) {
  (void)state;
  static const unsigned char good[] = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0";
  assert_int_equal(data_turn_read(good, sizeof good - 1), 6);
  for (size_t size = 0; size < 22; size++) assert_int_equal(data_turn_read(good, size), 1);
  for (size_t at = 0; at < sizeof good - 1; at++)
    for (int value = 0; value < 256; value++) {
      unsigned char other[sizeof good];
      memcpy(other, good, sizeof good);
      other[at] = (unsigned char)value;
      int found = data_turn_read(other, sizeof good - 1);
      assert_true(found >= 1 && found <= 8);
    }
}

/* --- damaged files ---------------------------------------------------------------------------- */

/* What a file shows through a view of the part, or a message: 0 or -1, and never a crash. */
static int show(const unsigned char *bytes, size_t size, const PicturePart *part,
                unsigned char *planes) {
  char message[NNC_MESSAGE] = "";
  DataContext context = {.message = message};
  PictureFile file;
  unsigned char *copy = malloc(size + 1); /* of just this size: a step beyond is noticed */
  unsigned char *held = realloc(copy, size ? size : 1);
  memcpy(held, bytes, size);
  int result = data_picture_look(&context, "a", held, size, &file);
  if (result == 0 && file.height >= 40 && file.width >= 50) {
    PictureView view = data_view_file(&file, 3, &scratch);
    data_view_crop(&view, *part);
    result = data_view_finish(&view, planes);
  } else if (result == 0) {
    result = -1; /* the damage is in the size; the stages tell of it */
    snprintf(message, sizeof message, "a: small");
  }
  if (result < 0) assert_true(strncmp(message, "a: ", 3) == 0 && message[3]);
  free(held);
  return result;
}

/* A file that is cut off before `end`, the first byte after the pixels', is an error, whichever part of the
 * picture is kept; beyond that it is, or the picture is right. */
static void check_cuts(const unsigned char *bytes, size_t size, size_t end) {
  static const PicturePart parts[] = {
      {0, 0, 40, 50}, {0, 0, 8, 9}, {13, 20, 9, 11}, {32, 40, 8, 10}};
  static unsigned char whole[3 * 40 * 50], found[3 * 40 * 50];
  for (int p = 0; p < 4; p++) {
    size_t length = (size_t)(3 * parts[p].height * parts[p].width);
    assert_int_equal(show(bytes, size, &parts[p], whole), 0);
    for (size_t cut = 0; cut < size; cut++) {
      bool is_shown = show(bytes, cut, &parts[p], found) == 0;
      if (is_shown) assert_true(cut >= end && memcmp(found, whole, length) == 0);
    }
  }
}

/* Bytes changed at random: an error, or some picture. */
static void check_changes(const unsigned char *bytes, size_t size, int count) {
  static unsigned char found[3 * 40 * 50], other[65536];
  uint32_t bits = 3;
  assert_true(size <= sizeof other);
  for (int i = 0; i < count; i++) {
    memcpy(other, bytes, size);
    for (int k = 0; k <= i % 4; k++) {
      bits = bits * 1664525 + 1013904223;
      size_t at = (bits >> 8) % size;
      other[at] = (unsigned char)(i % 3 == 0 ? 255 : bits >> 5);
    }
    show(other, size, &(PicturePart){3, 4, 30, 31}, found);
  }
}

/* Four inks, as stored or turned to brightness and colours: what each leaves of the light, times what black leaves. */
static void test_pictures_for_printing(void **state) {
  (void)state;
  enum { HEIGHT = 70, WIDTH = 90, PIXELS = HEIGHT * WIDTH };
  static const J_COLOR_SPACE spaces[] = {JCS_CMYK, JCS_YCCK};
  unsigned char *pixels = draw(HEIGHT, WIDTH, 4, 0);
  for (int s = 0; s < 2; s++) {
    Coding coding = {1, 1, .quality = 100, .inks = spaces[s]};
    size_t size;
    Seen seen;
    unsigned char *bytes = encode(pixels, HEIGHT, WIDTH, &coding, &size);
    look(&seen, bytes, size);
    unsigned char *colors = whole_planes(&seen, 3), *greys = whole_planes(&seen, 1);
    for (int i = 0; i < PIXELS; i++) {
      const unsigned char *inks = pixels + 4 * i;
      double grey = 0;
      for (int c = 0; c < 3; c++) {
        double wanted = inks[c] * inks[3] / 255.0;
        assert_true(fabs(colors[c * PIXELS + i] - wanted) <= 4);
        grey += colors[c * PIXELS + i] * (c == 0 ? 0.299 : c == 1 ? 0.587 : 0.114);
      }
      assert_true(fabs(greys[i] - grey) <= 0.51);
    }
    for (int divisor = 1; divisor <= 8; divisor *= 2)
      for (int channels = 1; channels <= 3; channels += 2) check_parts(&seen, channels, divisor);
    check_cuts(bytes, size, size);
    free(colors);
    free(greys);
    free(bytes);
  }
  free(pixels);
}

static void test_damaged_jpeg_files(void **state) {
  (void)state;
  unsigned char *pixels = draw(40, 50, 3, 60);
  for (int way = 0; way < 6; way++) {
    Coding coding = {1 + way % 2,
                     1 + way / 2 % 2,
                     .is_progressive = way >= 3,
                     .restarts = way % 3 == 2 ? 2 : 0,
                     .quality = 60,
                     .orientation = way};
    size_t size;
    unsigned char *bytes = encode(pixels, 40, 50, &coding, &size);
    if (way < 5) check_cuts(bytes, size, size); /* turned, the part would be another */
    check_changes(bytes, size, 1500);
    free(bytes);
  }
  free(pixels);
}

static void test_damaged_png_files(void **state) {
  (void)state;
  static unsigned char png[65536];
  unsigned char *pixels = draw(40, 50, 4, 60);
  static const png_uint_32 formats[] = {PNG_FORMAT_RGB, PNG_FORMAT_RGBA, PNG_FORMAT_GRAY};
  for (int f = 0; f < 3; f++) {
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = 50, .height = 40, .format = formats[f]};
    png_alloc_size_t size = sizeof png;
    assert_true(png_image_write_to_memory(&image, png, &size, 0, pixels, 0, NULL));
    check_cuts(png, size, size - 16); /* the last chunk, and the checksum before it */
    check_changes(png, size, 1500);
  }
  free(pixels);
}

/* The smallest and the widest; what claims more than there is, or than there may be. */
static void test_extreme_sizes(void **state) {
  (void)state;
  static const int shapes[][2] = {{1, 1}, {1, 65000}, {65000, 1}, {3, 65500}};
  for (int s = 0; s < 4; s++) {
    Coding coding = {2, 2, .quality = 75};
    int height = shapes[s][0], width = shapes[s][1];
    unsigned char *pixels = draw(height, width, 3, 20);
    size_t size;
    unsigned char *bytes = encode(pixels, height, width, &coding, &size);
    Seen seen;
    static unsigned char planes[3 * 9 * 9];
    look(&seen, bytes, size);
    assert_true(seen.file.height == height && seen.file.width == width);
    PictureView view = data_view_file(&seen.file, 3, &scratch);
    assert_int_equal(data_view_scale(&view, 9, 9), 0);
    assert_int_equal(data_view_finish(&view, planes), 0);
    for (size_t i = 0; i + 9 < size; i++) /* the start of the frame: more rows than there are */
      if (bytes[i] == 0xff && bytes[i + 1] == 0xc0) memcpy(bytes + i + 5, "\x20\0\x20\0", 4);
    look(&seen, bytes, size);
    view = data_view_file(&seen.file, 3, &scratch);
    assert_int_equal(data_view_scale(&view, 9, 9), 0);
    assert_int_equal(data_view_finish(&view, planes), -1);
    free(bytes);
    free(pixels);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parts_have_the_bits_of_the_whole),
      cmocka_unit_test(test_pictures_for_printing),
      cmocka_unit_test(test_reductions),
      cmocka_unit_test(test_turned_pictures),
      cmocka_unit_test(test_greys_of_png_files),
      cmocka_unit_test(test_notes_that_are_none),
      cmocka_unit_test(test_damaged_jpeg_files),
      cmocka_unit_test(test_damaged_png_files),
      cmocka_unit_test(test_extreme_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, release);
}
