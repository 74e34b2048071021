/* How a picture lies in its file, and what a camera noted about it.
 *
 * Exif (CIPA DC-008, 4.6.4 A, Orientation) counts: 1 as it is to be seen, 2 mirrored, 3 upside down, 4
 * upside down and mirrored; 5 to 8 lie on a side: 5 transposed, 6 to be turned a quarter to the
 * right, 7 transposed along the other diagonal, 8 to be turned a quarter to the left. */
#ifndef NNC_DATA_PICTURE_TURN_H
#define NNC_DATA_PICTURE_TURN_H

#include <stdbool.h>
#include <stddef.h>

#include "data/pixels.h"

/* The orientation in a block of Exif, which begins with the header of TIFF; 1 where there is none. */
int data_turn_read(const unsigned char *exif, size_t size);

static inline bool data_turn_swaps(int orientation) { return orientation >= 5; }

/* Where a part of the picture that is to be seen, of height x width, is stored; and where a part of
 * the stored one, of height x width, is to be seen. */
PicturePart data_turn_back(int orientation, int64_t height, int64_t width, const PicturePart *part);
PicturePart data_turn_forth(int orientation, int64_t height, int64_t width,
                            const PicturePart *part);

/* The stored pixels as they are to be seen, in `turned`, which becomes the picture's. */
void data_turn_pixels(int orientation, Picture *picture, unsigned char *turned);

#endif
