/* The least that loading photographs takes: libjpeg-turbo decodes each file whole to red, green, blue.
 *
 *     jpeg_loop FILE...      prints seconds of the whole */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <jpeglib.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static unsigned char *read_all(const char *name, size_t *size) {
  FILE *file = fopen(name, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*size);
  if (bytes && fread(bytes, 1, *size, file) != *size) *size = 0;
  fclose(file);
  return bytes;
}

static void decode(const unsigned char *bytes, size_t size) {
  struct jpeg_decompress_struct decoder;
  struct jpeg_error_mgr errors;
  decoder.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&decoder);
  jpeg_mem_src(&decoder, bytes, size);
  jpeg_read_header(&decoder, TRUE);
  decoder.out_color_space = JCS_RGB;
  jpeg_start_decompress(&decoder);
  size_t row = (size_t)decoder.output_width * 3;
  unsigned char *pixels = malloc(row * decoder.output_height);
  while (decoder.output_scanline < decoder.output_height) {
    JSAMPROW line = pixels + row * decoder.output_scanline;
    jpeg_read_scanlines(&decoder, &line, 1);
  }
  jpeg_finish_decompress(&decoder);
  jpeg_destroy_decompress(&decoder);
  free(pixels);
}

int main(int count, char **names) {
  double start = now();
  for (int i = 1; i < count; i++) {
    size_t size = 0;
    unsigned char *bytes = read_all(names[i], &size);
    if (!bytes || !size) {
      fprintf(stderr, "cannot read %s\n", names[i]);
      return 1;
    }
    decode(bytes, size);
    free(bytes);
  }
  printf("%.6f\n", now() - start);
  return 0;
}
