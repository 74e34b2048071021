/* See folders.h. */
#include "folders.h"

#include <jpeglib.h>
#include <png.h>
#include <sys/stat.h>

char *path_to(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", directory(), name);
  return path;
}

void make_folder(const char *name) { assert_int_equal(mkdir(path_to(name), 0777), 0); }

/* Smooth enough for a JPEG of high quality to stay near it. */
void paint(unsigned char *bytes, int height, int width, int channels, int shade) {
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      for (int c = 0; c < channels; c++)
        bytes[(y * width + x) * channels + c] =
            (unsigned char)(shade + 2 * y + (c == 1 ? 3 : 1) * x + 20 * c);
}

void write_png(const char *name, int height, int width, int channels, int shade) {
  unsigned char bytes[MOST];
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (unsigned)width,
                     .height = (unsigned)height,
                     .format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB};
  paint(bytes, height, width, channels, shade);
  assert_true(png_image_write_to_file(&image, path_to(name), 0, bytes, 0, NULL));
}

void write_jpeg(const char *name, int height, int width, int channels, int shade) {
  unsigned char bytes[MOST];
  struct jpeg_compress_struct encoder;
  struct jpeg_error_mgr errors;
  FILE *file = fopen(path_to(name), "wb");
  assert_non_null(file);
  paint(bytes, height, width, channels, shade);
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  jpeg_stdio_dest(&encoder, file);
  encoder.image_height = (unsigned)height;
  encoder.image_width = (unsigned)width;
  encoder.input_components = channels;
  encoder.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, 98, TRUE);
  for (int i = 0; i < channels; i++)
    encoder.comp_info[i].h_samp_factor = encoder.comp_info[i].v_samp_factor = 1;
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW row = bytes + encoder.next_scanline * encoder.image_width * (unsigned)channels;
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  assert_int_equal(fclose(file), 0);
}

int leave_folders(void **state) {
  static const char *const names[] = {"kept",        "t/b/2.jpg",     "t/b/1.png", "t/b/x.txt",
                                      "t/a/big.PNG", "t/a/grey.jpeg", "t/b",       "t/a",
                                      "t",           "v/c/1.png",     "v/c",       "v"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(path_to(names[i]));
  return leave(state);
}

/* a: a grey JPEG and a larger PNG; b: a PNG and a JPEG, and a file that is none. */
int enter_folders(void **state) {
  if (enter(state) < 0) return -1;
  make_folder("t");
  make_folder("t/a");
  make_folder("t/b");
  write_png("t/a/big.PNG", 20, 30, 3, 10);
  write_jpeg("t/a/grey.jpeg", 8, 10, 1, 40);
  write_png("t/b/1.png", 8, 10, 3, 70);
  write_jpeg("t/b/2.jpg", 8, 10, 3, 100);
  write_text("t/b/x.txt", "no picture");
  return 0;
}
