/* Folders of pictures, for the tests of what is read from them. */
#ifndef TESTS_DATA_FOLDERS_H
#define TESTS_DATA_FOLDERS_H

#include "support.h"

enum { MOST = 64 * 64 * 3 };

char *path_to(const char *name); /* lives until the next call */
void make_folder(const char *name);
void paint(unsigned char *bytes, int height, int width, int channels, int shade);
/* A picture as painted. */
void write_png(const char *name, int height, int width, int channels, int shade);
void write_jpeg(const char *name, int height, int width, int channels, int shade);
int enter_folders(void **state);
int leave_folders(void **state);

#define FOLDER(...) SOURCE(image_folder, ARG("folder", STR("t")), __VA_ARGS__)
#define THREADS(n) ARG("workers", NUM(n))
#define CROP(kind, h, w) STAGE(kind, ARG("height", NUM(h)), ARG("width", NUM(w)))
#define XY FIELDS("x", "y")
#define ENTRY_OF(type, batch, channels, h, w)                                                      \
  ENTRY(batch, INPUT("x", type, batch, channels, h, w), INPUT("y", NNC_I32, batch))

#endif
