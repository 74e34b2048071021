/* Replacing a file as a whole or not at all: the new content goes to PATH.tmp in the same
 * folder, is flushed to the disk, and takes the old one's name.  After any failure the old file
 * is as it was. */
#ifndef NNC_REPLACE_H
#define NNC_REPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nnc_replacement {
  const char *path; /* the caller's */
  char *temporary;
  int fd;
  uint64_t written;
} nnc_replacement;

/* Each returns false after a message; nnc_replace_write and _commit have then removed the
 * temporary. */
bool nnc_replace_open(nnc_replacement *replacement, const char *path);
bool nnc_replace_write(nnc_replacement *replacement, const void *bytes, size_t count);
/* With `keep` the old file, if there is one, first gets that name. */
bool nnc_replace_commit(nnc_replacement *replacement, const char *keep);
/* Gives the content of FROM, a file that is never written in place, the name TO as well, as a whole: as a
 * link, or as a copy where the file system has none.  False after a message. */
bool nnc_replace_link(const char *from, const char *to);
void nnc_replace_abandon(nnc_replacement *replacement);

/* Whether the file that the user names may be written: there is none, it is empty, or it has the
 * format's first bytes at its place, so that it is no loss.  False after a message. */
bool nnc_may_replace(const char *path, const char *what, size_t at, const char *beginning);

/* Creates the folder if it does not exist, with its parents.  *made: the length of the first path that
 * was created, 0 when all were there. */
bool nnc_make_folder(const char *path, size_t *made);
/* Takes back what nnc_make_folder created, as far as it is still empty. */
void nnc_remove_made(const char *path, size_t made);

/* malloc'ed "folder/name"; NULL after a message. */
char *nnc_path_join(const char *folder, const char *name);

#endif
