/* Writing files safely.  The name is changed last, after fsync of the content; fsync of the
 * folder makes the new name itself durable.  The temporary is always a new file: whatever has
 * its name, what a killed run left, a link that leads elsewhere, a pipe that nobody reads, goes. */
#include "os/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/assert.h"
#include "os/buffer.h"
#include "os/message.h"

enum { LARGEST_WRITE = NNC_BUFFER(1 << 30, 3) };

char *nnc_path_join(const char *folder, const char *name) {
  char *path = NULL;
  if (asprintf(&path, "%s/%s", folder, name) >= 0) return path;
  nnc_error("cannot allocate a path");
  return NULL;
}

bool nnc_may_replace(const char *path, const char *what, size_t at, const char *beginning) {
  char bytes[64];
  struct stat status;
  if (stat(path, &status) != 0) return true; /* writing it will say why not */
  bool is_full = S_ISREG(status.st_mode) && status.st_size > 0;
  FILE *file = is_full ? fopen(path, "rbe") : NULL;
  if (!file) return true;
  size_t count = fread(bytes, 1, sizeof bytes, file), length = strlen(beginning);
  fclose(file); /* only read from */
  if (count >= at + length && memcmp(bytes + at, beginning, length) == 0) return true;
  nnc_error("cannot write %s: the file that is there is no %s; remove it, or choose another name",
            path, what);
  return false;
}

bool nnc_make_folder(const char *path, size_t *made) {
  char *copy = strdup(path);
  *made = 0;
  if (!copy) {
    nnc_error("cannot allocate a path");
    return false;
  }
  bool good = true;
  for (char *slash = copy; good && slash;) {
    slash = strchr(slash + 1, '/');
    if (slash) *slash = '\0';
    bool is_new = mkdir(copy, 0777) == 0;
    good = is_new || errno == EEXIST;
    if (is_new && *made == 0) *made = strlen(copy);
    if (!good) nnc_error_system("create the folder", copy);
    if (slash) *slash = '/';
  }
  free(copy);
  struct stat status;
  if (good && (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))) {
    nnc_error("%s is not a folder", path);
    return false;
  }
  return good;
}

void nnc_remove_made(const char *path, size_t made) {
  char *copy = made > 0 ? strdup(path) : NULL;
  /* "a/b/" names "a/b" twice */
  while (copy && strlen(copy) >= made && (rmdir(copy) == 0 || errno == ENOENT)) {
    char *slash = strrchr(copy, '/');
    if (!slash) break;
    *slash = '\0';
  }
  free(copy);
}

static int create_new(const char *path) {
  enum { TRIES = 8 }; /* another may make one between the two calls */
  for (int i = 0; i < TRIES; i++) {
    if (unlink(path) != 0 && errno != ENOENT) return -1;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

bool nnc_replace_open(nnc_replacement *replacement, const char *path) {
  *replacement = (nnc_replacement){.path = path, .fd = -1};
  if (asprintf(&replacement->temporary, "%s.tmp", path) < 0) {
    nnc_error("cannot allocate a path");
    return false;
  }
  replacement->fd = create_new(replacement->temporary);
  if (replacement->fd >= 0) return true;
  nnc_error_system("create", replacement->temporary);
  free(replacement->temporary);
  return false;
}

void nnc_replace_abandon(nnc_replacement *replacement) {
  if (replacement->fd >= 0 && close(replacement->fd) != 0)
    nnc_error_system("close", replacement->temporary);
  if (unlink(replacement->temporary) != 0 && errno != ENOENT)
    nnc_error_system("remove", replacement->temporary);
  free(replacement->temporary);
  *replacement = (nnc_replacement){.fd = -1};
}

static bool give_up(nnc_replacement *replacement, const char *doing) {
  nnc_error_system(doing, replacement->temporary);
  nnc_replace_abandon(replacement);
  return false;
}

bool nnc_replace_write(nnc_replacement *replacement, const void *bytes, size_t count) {
  const char *from = bytes;
  NNC_ASSERT(replacement->fd >= 0);
  while (count > 0) {
    size_t some = count < LARGEST_WRITE ? count : LARGEST_WRITE;
    ssize_t done = write(replacement->fd, from, some);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return give_up(replacement, "write");
    from += done;
    count -= (size_t)done;
    replacement->written += (uint64_t)done;
  }
  return true;
}

static bool sync_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  if (!folder) {
    nnc_error("cannot allocate a path");
    return false;
  }
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  /* EINVAL: a file system whose folders need no fsync. */
  bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
  if (!good) nnc_error_system("flush the folder", folder);
  if (fd >= 0) close(fd);
  free(folder);
  return good;
}

bool nnc_replace_commit(nnc_replacement *replacement, const char *keep) {
  NNC_ASSERT(replacement->fd >= 0 && replacement->temporary);
  if (fsync(replacement->fd) != 0) return give_up(replacement, "flush");
  int fd = replacement->fd;
  replacement->fd = -1;
  if (close(fd) != 0) return give_up(replacement, "close");
  if (keep && rename(replacement->path, keep) != 0 && errno != ENOENT)
    return give_up(replacement, "keep the file that stands in the way of");
  if (rename(replacement->temporary, replacement->path) != 0) {
    int error = errno;
    if (keep) (void)rename(keep, replacement->path); /* ENOENT when nothing was kept */
    errno = error;
    return give_up(replacement, "rename");
  }
  free(replacement->temporary);
  replacement->temporary = NULL;
  return sync_folder(replacement->path);
}

static bool copy_from(int fd, const char *from, const char *to) {
  char piece[NNC_BUFFER(1 << 16, 1)];
  nnc_replacement replacement;
  if (!nnc_replace_open(&replacement, to)) return false;
  for (;;) {
    ssize_t count = read(fd, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) return nnc_replace_commit(&replacement, NULL);
    if (count < 0) {
      nnc_error_system("read", from);
      nnc_replace_abandon(&replacement);
      return false;
    }
    if (!nnc_replace_write(&replacement, piece, (size_t)count)) return false;
  }
}

static bool copy_file(const char *from, const char *to) {
  int fd = open(from, O_RDONLY | O_CLOEXEC);
  if (fd < 0) nnc_error_system("open", from);
  bool good = fd >= 0 && copy_from(fd, from, to);
  if (fd >= 0) close(fd); /* only read from */
  return good;
}

bool nnc_replace_link(const char *from, const char *to) {
  char *temporary = NULL;
  if (asprintf(&temporary, "%s.tmp", to) < 0) {
    nnc_error("cannot allocate a path");
    return false;
  }
  bool is_linked = (unlink(temporary) == 0 || errno == ENOENT) && link(from, temporary) == 0;
  if (!is_linked) {
    free(temporary);
    return copy_file(from, to);
  }
  bool good = rename(temporary, to) == 0;
  if (!good) nnc_error_system("rename", temporary);
  (void)unlink(temporary); /* it stays where both names were the same file already */
  free(temporary);
  return good && sync_folder(to);
}
