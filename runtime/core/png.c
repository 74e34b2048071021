/* The frame of a PNG file: see png.h. */
#include "core/png.h"

#include <string.h>
#include <zlib.h>

static void put_number(uint8_t *at, uint32_t number) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(number >> (24 - 8 * i));
}

size_t nnc_png_chunk(uint8_t *at, const char *name, size_t bytes) {
  put_number(at, (uint32_t)bytes);
  memcpy(at + 4, name, 4);
  put_number(at + NNC_PNG_NAME + bytes, (uint32_t)crc32_z(0, at + 4, bytes + 4));
  return bytes + NNC_PNG_CHUNK;
}

void nnc_png_head(uint8_t *at, int64_t width, int64_t height, int channels) {
  static const uint8_t colors[] = {[1] = 0, [3] = 2, [4] = 6};
  memcpy(at, "\x89PNG\r\n\x1a\n", 8);
  uint8_t *const head = at + 8 + NNC_PNG_NAME;
  put_number(head, (uint32_t)width);
  put_number(head + 4, (uint32_t)height);
  memcpy(head + 8, (const uint8_t[]){8, colors[channels], 0, 0, 0}, 5);
  nnc_png_chunk(at + 8, "IHDR", 13);
}
