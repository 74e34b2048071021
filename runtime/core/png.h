/* The frame of a PNG file (ISO/IEC 15948) of 8 bits a channel: all but the compressed pixels. */
#ifndef NNC_PNG_H
#define NNC_PNG_H

#include <stddef.h>
#include <stdint.h>

enum { NNC_PNG_HEAD = 33, NNC_PNG_NAME = 8, NNC_PNG_CHUNK = 12 };

/* What a file begins with, NNC_PNG_HEAD bytes; channels: 1, 3 or 4. */
void nnc_png_head(uint8_t *at, int64_t width, int64_t height, int channels);
/* Closes a chunk whose content stands NNC_PNG_NAME bytes after its start; its length: NNC_PNG_CHUNK more than the content. */
size_t nnc_png_chunk(uint8_t *at, const char *name, size_t bytes);

#endif
