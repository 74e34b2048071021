/* Pictures in a page: PNG (ISO/IEC 15948) with its pixels as they are, in stored blocks of deflate, since pictures here are
 * small and a compressor is large; as base64 (RFC 4648). */
#include <stdlib.h>
#include <string.h>

#include "core/png.h"
#include "os/message.h"
#include "report/page.h"

typedef struct Bytes {
  uint8_t *at;
  size_t count;
} Bytes;

static void add(Bytes *bytes, const void *from, size_t count) {
  memcpy(bytes->at + bytes->count, from, count);
  bytes->count += count;
}

static void add_number(Bytes *bytes, uint32_t number) {
  const uint8_t big[] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8),
                         (uint8_t)number};
  add(bytes, big, sizeof big);
}

/* A row, which has a filter's number (none) before it, is a block of its own. */
static void add_rows(Bytes *bytes, int height, size_t row_bytes, const uint8_t *pixels) {
  uint32_t a = 1, b = 0; /* Adler-32 */
  uint16_t length = (uint16_t)(row_bytes + 1), inverse = (uint16_t)~length;
  add(bytes, "\x78\x01", 2);
  for (int y = 0; y < height; y++) {
    const uint8_t *row = pixels + (size_t)y * row_bytes;
    uint8_t head[] = {y == height - 1,  (uint8_t)length,         (uint8_t)(length >> 8),
                      (uint8_t)inverse, (uint8_t)(inverse >> 8), 0};
    add(bytes, head, sizeof head);
    add(bytes, row, row_bytes);
    b = (b + a) % 65521;
    for (size_t i = 0; i < row_bytes; i++) {
      a = (a + row[i]) % 65521;
      b = (b + a) % 65521;
    }
  }
  add_number(bytes, b << 16 | a);
}

static void put_base64(FILE *file, const Bytes *bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes->count; i += 3) {
    uint32_t group = 0;
    size_t left = bytes->count - i;
    for (size_t k = 0; k < 3; k++) group = group << 8 | (k < left ? bytes->at[i + k] : 0);
    for (size_t k = 0; k < 4; k++) putc(k <= left ? digits[group >> (18 - 6 * k) & 63] : '=', file);
  }
}

void nnc_page_picture(FILE *file, int width, int height, int channels, const uint8_t *pixels) {
  size_t row_bytes = (size_t)width * (size_t)channels;
  Bytes bytes = {.at = malloc((row_bytes + 6) * (size_t)height + 100)};
  if (!bytes.at) {
    nnc_warning("no memory for a picture");
    return;
  }
  nnc_png_head(bytes.at, width, height, channels);
  bytes.count = NNC_PNG_HEAD + NNC_PNG_NAME;
  add_rows(&bytes, height, row_bytes, pixels);
  size_t pixel_bytes = bytes.count - NNC_PNG_HEAD - NNC_PNG_NAME;
  bytes.count = NNC_PNG_HEAD;
  bytes.count += nnc_png_chunk(bytes.at + bytes.count, "IDAT", pixel_bytes);
  bytes.count += nnc_png_chunk(bytes.at + bytes.count, "IEND", 0);
  fputs("data:image/png;base64,", file);
  put_base64(file, &bytes);
  free(bytes.at);
}
