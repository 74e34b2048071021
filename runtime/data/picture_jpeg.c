/* JPEG files, by libjpeg-turbo: only the rows and columns that are wanted are computed, and a
 * reduction by 2, 4 or 8 is taken from the coefficients of the blocks.
 *
 * The pixels have the bits that they have when all is decoded: a margin stands around the part,
 * because colours of fewer pixels are interpolated between neighbours. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "data/picture.h"
#include "data/picture_turn.h"
#include "os/assert.h"

enum { MARGIN = 4, EXIF_MARKER = JPEG_APP0 + 1, NOTES = 6 };

typedef struct Decoder {
  struct jpeg_decompress_struct base;
  struct jpeg_error_mgr errors;
  jmp_buf leave;
  char text[JMSG_LENGTH_MAX];
} Decoder;

static void leave(j_common_ptr base) {
  Decoder *decoder = (Decoder *)base;
  base->err->format_message(base, decoder->text);
  longjmp(decoder->leave, 1);
}

/* Of the warnings, those are errors that say that pixels are missing or wrong. */
static void hear(j_common_ptr base, int level) {
  static const int errors[] = {JWRN_JPEG_EOF, JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE,
                               JWRN_MUST_RESYNC};
  for (size_t i = 0; level < 0 && i < sizeof errors / sizeof *errors; i++)
    if (base->err->msg_code == errors[i]) leave(base);
}

/* After setjmp(decoder->leave), which must stand in a function that stays. */
static void start(Decoder *decoder, const PictureFile *file) {
  jpeg_create_decompress(&decoder->base);
  jpeg_mem_src(&decoder->base, file->bytes, file->size);
}

static void set_errors(Decoder *decoder) {
  decoder->base.err = jpeg_std_error(&decoder->errors);
  decoder->errors.error_exit = leave;
  decoder->errors.emit_message = hear;
}

/* --- what the file says ----------------------------------------------------------------------- */

static int find_orientation(const struct jpeg_decompress_struct *base) {
  for (jpeg_saved_marker_ptr marker = base->marker_list; marker; marker = marker->next)
    if (marker->data_length >= NOTES && memcmp(marker->data, "Exif\0\0", NOTES) == 0)
      return data_turn_read(marker->data + NOTES, marker->data_length - NOTES);
  return 1;
}

static int read_head(PictureFile *file) {
  Decoder decoder;
  set_errors(&decoder);
  if (setjmp(decoder.leave)) {
    jpeg_destroy_decompress(&decoder.base);
    return data_picture_fail(file, decoder.text);
  }
  start(&decoder, file);
  jpeg_save_markers(&decoder.base, EXIF_MARKER, 0xffff);
  jpeg_read_header(&decoder.base, TRUE);
  file->unindexed = "a JPEG file";
  file->height = decoder.base.image_height;
  file->width = decoder.base.image_width;
  file->orientation = find_orientation(&decoder.base);
  jpeg_destroy_decompress(&decoder.base);
  return data_picture_check_size(file, file->height, file->width);
}

/* --- pixels ----------------------------------------------------------------------------------- */

/* Colours of fewer than half the pixels across are interpolated otherwise when they are reduced: then all
 * is decoded. */
static bool has_parts(const struct jpeg_decompress_struct *base) {
  bool is_reduced = base->scale_denom != base->scale_num;
  return !is_reduced || (base->max_h_samp_factor <= 2 && base->max_v_samp_factor <= 2);
}

static void choose_part(struct jpeg_decompress_struct *base, const PicturePart *wanted,
                        PicturePart *part) {
  int64_t height = base->output_height, width = base->output_width;
  int64_t top = wanted->top - MARGIN, left = wanted->left - MARGIN;
  int64_t bottom = wanted->top + wanted->height + MARGIN;
  int64_t right = wanted->left + wanted->width + MARGIN;
  if (!has_parts(base)) top = left = 0, bottom = height, right = width;
  if (top < 0) top = 0;
  if (bottom > height) bottom = height;
  JDIMENSION first = left > 0 ? (JDIMENSION)left : 0;
  JDIMENSION count = (JDIMENSION)(right < width ? right : width) - first;
  if (count < width) jpeg_crop_scanline(base, &first, &count);
  *part = (PicturePart){top, first, bottom - top, count};
}

static void read_rows(struct jpeg_decompress_struct *base, const PicturePart *part,
                      unsigned char *bytes, size_t row) {
  int64_t read = 0;
  if (part->top > 0) jpeg_skip_scanlines(base, (JDIMENSION)part->top);
  while (read < part->height) {
    JSAMPROW line = bytes + row * (size_t)read;
    read += jpeg_read_scanlines(base, &line, 1);
  }
}

/* The four inks of printing become light: libjpeg gives how much of it each leaves, as Adobe's files store it.  What
 * was four bytes of a pixel is red, green and blue, or grey in one. */
static void mix_inks(unsigned char *bytes, int64_t pixels, int channels) {
  for (int64_t i = 0; i < pixels; i++) {
    unsigned char *inks = bytes + 4 * i;
    for (int c = 0; c < 3; c++) inks[c] = (unsigned char)((inks[c] * inks[3] + 127) / 255);
    if (channels == 1) /* as libjpeg weighs colours */
      bytes[i] =
          (unsigned char)((inks[0] * 19595 + inks[1] * 38470 + inks[2] * 7471 + 32768) >> 16);
  }
}

/* Of a file that is cut off the picture may be missing below what was read. Within the compressed
 * data a byte 255 is never followed by the code of a marker. */
static bool has_end(const struct jpeg_decompress_struct *base) {
  if (jpeg_input_complete((j_decompress_ptr)base)) return true;
  const unsigned char *at = base->src->next_input_byte, *end = at + base->src->bytes_in_buffer;
  while (at < end && (at = memchr(at, 0xff, (size_t)(end - at))))
    if (++at < end && *at == JPEG_EOI) return true;
  return base->unread_marker == JPEG_EOI;
}

static int decode(const PictureFile *file, int divisor, const PicturePart *wanted,
                  DataScratch *scratch, Picture *picture, PicturePart *part) {
  Decoder decoder;
  struct jpeg_decompress_struct *base = &decoder.base;
  set_errors(&decoder);
  if (setjmp(decoder.leave)) {
    jpeg_destroy_decompress(base);
    return data_picture_fail(file, decoder.text);
  }
  start(&decoder, file);
  jpeg_read_header(base, TRUE);
  bool has_inks = base->jpeg_color_space == JCS_CMYK || base->jpeg_color_space == JCS_YCCK;
  bool is_grey = picture->channels == 1;
  int pixel = is_grey && !has_inks ? 1 : data_picture_jpeg.color_pixel;
  base->out_color_space = has_inks ? JCS_CMYK : is_grey ? JCS_GRAYSCALE : JCS_EXT_RGBX;
  base->scale_num = 1;
  base->scale_denom = (unsigned)divisor;
  jpeg_start_decompress(base);
  choose_part(base, wanted, part);
  size_t row = (size_t)part->width * (size_t)pixel;
  unsigned char *bytes =
      data_scratch_take(scratch, DATA_BUFFER_DECODED, row * (size_t)part->height);
  if (!bytes) {
    jpeg_destroy_decompress(base);
    return data_fail_memory(file->context, file->name, (int64_t)row * part->height);
  }
  read_rows(base, part, bytes, row);
  bool is_whole = has_end(base);
  jpeg_destroy_decompress(base);
  if (!is_whole) return data_picture_fail(file, "Premature end of JPEG file");
  if (has_inks) mix_inks(bytes, part->height * part->width, picture->channels);
  picture->pixel = is_grey ? 1 : pixel;
  picture->height = part->height;
  picture->width = part->width;
  picture->bytes = bytes;
  return 0;
}

const PictureFormat data_picture_jpeg = {"JPEG", read_head, decode, 4, 8};
