/* make_jpeg FILE WIDTH HEIGHT [progressive]: writes a picture of gradients, for files that damage it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  FILE *file = fopen(argv[1], "wb");
  if (!file) return 1;
  struct jpeg_compress_struct jpeg;
  struct jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  jpeg_stdio_dest(&jpeg, file);
  jpeg.image_width = (JDIMENSION)atoi(argv[2]);
  jpeg.image_height = (JDIMENSION)atoi(argv[3]);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  if (argc > 4 && strcmp(argv[4], "progressive") == 0) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  JSAMPLE *row = malloc(3 * jpeg.image_width);
  if (!row) return 1;
  while (jpeg.next_scanline < jpeg.image_height) {
    for (JDIMENSION x = 0; x < jpeg.image_width; x++) {
      row[3 * x] = (JSAMPLE)(255 * x / jpeg.image_width);
      row[3 * x + 1] = (JSAMPLE)(255 * jpeg.next_scanline / jpeg.image_height);
      row[3 * x + 2] = (JSAMPLE)(x * jpeg.next_scanline);
    }
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  free(row);
  return fclose(file) != 0;
}
