/* Decoding by libjpeg-turbo and libpng. */
#include "data/picture.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>
#include <png.h>

#include "data/call.h"

/* A small file can claim gigabytes of pixels. */
static int check_size(const DataContext *context, const char *name, int64_t height, int64_t width) {
  if (height * width <= PICTURE_PIXELS) return 0;
  return data_fail(context, "%s: %lld x %lld pixels are more than %d, the most that are decoded",
                   name, (long long)height, (long long)width, PICTURE_PIXELS);
}

/* --- JPEG ------------------------------------------------------------------------------------- */

typedef struct JpegErrors {
  struct jpeg_error_mgr base;
  jmp_buf leave;
  char text[JMSG_LENGTH_MAX];
} JpegErrors;

static void jpeg_leave(j_common_ptr decoder) {
  JpegErrors *errors = (JpegErrors *)decoder->err;
  decoder->err->format_message(decoder, errors->text);
  longjmp(errors->leave, 1);
}

/* Of the warnings, those are errors that say that a part of the picture is missing. */
static void jpeg_message(j_common_ptr decoder, int level) {
  int code = decoder->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) jpeg_leave(decoder);
}

static int fail_decode(const DataContext *context, const char *name, const char *kind,
                       const char *reason) {
  return data_fail(context, "%s: cannot decode the %s: %s", name, kind, reason);
}

static int decode_jpeg(const DataContext *context, const char *name, const unsigned char *file,
                       size_t size, Picture *picture) {
  struct jpeg_decompress_struct decoder;
  JpegErrors errors;
  unsigned char *volatile bytes = NULL;
  decoder.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = jpeg_leave;
  errors.base.emit_message = jpeg_message;
  if (setjmp(errors.leave)) {
    jpeg_destroy_decompress(&decoder);
    free(bytes);
    return fail_decode(context, name, "JPEG", errors.text);
  }
  jpeg_create_decompress(&decoder);
  jpeg_mem_src(&decoder, file, size);
  jpeg_read_header(&decoder, TRUE);
  if (decoder.jpeg_color_space == JCS_CMYK || decoder.jpeg_color_space == JCS_YCCK) {
    jpeg_destroy_decompress(&decoder);
    return fail_decode(context, name, "JPEG", "it has the four channels of printing (CMYK)");
  }
  if (check_size(context, name, decoder.image_height, decoder.image_width) < 0) {
    jpeg_destroy_decompress(&decoder);
    return -1;
  }
  decoder.out_color_space = picture->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&decoder);
  picture->height = decoder.output_height;
  picture->width = decoder.output_width;
  size_t row = (size_t)picture->width * (size_t)picture->channels;
  bytes = malloc(row * (size_t)picture->height);
  if (!bytes) {
    jpeg_destroy_decompress(&decoder);
    return data_fail_memory(context, name, (int64_t)row * picture->height);
  }
  while (decoder.output_scanline < decoder.output_height) {
    JSAMPROW line = bytes + row * decoder.output_scanline;
    jpeg_read_scanlines(&decoder, &line, 1);
  }
  jpeg_finish_decompress(&decoder);
  jpeg_destroy_decompress(&decoder);
  picture->bytes = bytes;
  return 0;
}

/* --- PNG -------------------------------------------------------------------------------------- */

static int decode_png(const DataContext *context, const char *name, const unsigned char *file,
                      size_t size, Picture *picture) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  png_color black = {0, 0, 0};
  if (!png_image_begin_read_from_memory(&image, file, size))
    return fail_decode(context, name, "PNG", image.message);
  if (check_size(context, name, image.height, image.width) < 0) {
    png_image_free(&image);
    return -1;
  }
  image.format = picture->channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  picture->height = image.height;
  picture->width = image.width;
  picture->bytes = malloc(PNG_IMAGE_SIZE(image));
  if (!picture->bytes) {
    png_image_free(&image);
    return data_fail_memory(context, name, (int64_t)image.height * image.width * 3);
  }
  if (png_image_finish_read(&image, &black, picture->bytes, 0, NULL)) return 0;
  free(picture->bytes);
  picture->bytes = NULL;
  return fail_decode(context, name, "PNG", image.message);
}

int data_picture_decode(const DataContext *context, const char *name, const unsigned char *file,
                        size_t size, int channels, Picture *picture) {
  *picture = (Picture){.channels = channels};
  if (size >= 3 && memcmp(file, "\xff\xd8\xff", 3) == 0)
    return decode_jpeg(context, name, file, size, picture);
  if (size >= 8 && memcmp(file, "\x89PNG\r\n\x1a\n", 8) == 0)
    return decode_png(context, name, file, size, picture);
  return data_fail(context, "%s: neither a JPEG nor a PNG file", name);
}
