/* The folder that a generator of data writes into. */
#ifndef NNC_TOOLS_FOLDER_H
#define NNC_TOOLS_FOLDER_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Makes the folder, and its parents where they are missing; false with errno. */
static inline bool folder_make(const char *path) {
  char *part = strdup(path);
  if (!part) return false;
  bool good = true;
  for (char *slash = part; good && slash;) {
    slash = strchr(slash + 1, '/');
    if (slash) *slash = '\0';
    good = mkdir(part, 0777) == 0 || errno == EEXIST;
    if (slash) *slash = '/';
  }
  int reason = errno;
  free(part);
  struct stat status;
  if (!good) errno = reason;
  else if (stat(path, &status) != 0) good = false;
  else if (!S_ISDIR(status.st_mode)) good = false, errno = ENOTDIR;
  return good;
}

#endif
