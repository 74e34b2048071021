/* Locks by flock(2). A file system that cannot lock is trusted. */
#include "os/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "os/message.h"

bool nnc_lock_try(int descriptor) {
  return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool nnc_folder_lock(const char *folder, int *lock) {
  *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*lock < 0) {
    nnc_error_system("open the folder", folder);
    return false;
  }
  if (nnc_lock_try(*lock)) return true;
  nnc_error("another run is writing to %s; choose another folder with --out", folder);
  return false;
}

void nnc_folder_unlock(int lock) {
  if (lock >= 0) close(lock); /* only locked: nothing can be lost */
}
