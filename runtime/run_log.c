/* The log file.  A resumed run cuts it back to the length it had when the checkpoint was written, so that it
 * reads as if the run had never stopped. */
#include "run_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

bool nnc_log_open(nnc_log *log, const char *path, int64_t keep_bytes) {
  *log = (nnc_log){.path = path};
  struct stat status;
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0 || fstat(fd, &status) != 0) {
    nnc_error_system("open the log", path);
    if (fd >= 0) close(fd);
    return false;
  }
  log->is_regular = S_ISREG(status.st_mode);
  bool cut = log->is_regular && keep_bytes >= 0 && status.st_size > keep_bytes;
  if (cut && ftruncate(fd, (off_t)keep_bytes) != 0) {
    nnc_error_system("cut back the log", path);
    close(fd);
    return false;
  }
  log->file = fdopen(fd, "a");
  if (log->file) return true;
  nnc_error_system("open the log", path);
  close(fd);
  return false;
}

int64_t nnc_log_bytes(const nnc_log *log) {
  struct stat status;
  if (!log->is_regular || fstat(fileno(log->file), &status) != 0) return -1;
  return status.st_size;
}

void nnc_log_write(nnc_log *log, nnc_log_writer *writer, void *context) {
  int64_t before = nnc_log_bytes(log);
  writer(log->file, context);
  fputc('\n', log->file);
  if (fflush(log->file) == 0 && !ferror(log->file)) return;
  nnc_warning("cannot write a line of the log %s: %s", log->path, strerror(errno));
  log->has_failed = true;
  clearerr(log->file);
  if (before >= 0 && ftruncate(fileno(log->file), (off_t)before) != 0)
    nnc_error_system("cut back the log", log->path);
}

void nnc_log_close(nnc_log *log) {
  if (log->file && fclose(log->file) != 0) {
    nnc_error_system("close the log", log->path);
    log->has_failed = true;
  }
  log->file = NULL;
}
