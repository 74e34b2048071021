/* The log file.  A resumed run cuts it back to what was logged when the checkpoint was written,
 * so that it reads as if the run had never stopped.  Several runs may have appended to one
 * file: a step that is not above the one before starts another run, and only the last is cut. */
#include "train/run_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/json.h"
#include "os/assert.h"
#include "os/message.h"
#include "os/stop.h"

/* --- Opening -------------------------------------------------------------------------------- */

/* A line of a log begins with a brace: what begins otherwise is another file of the user's. */
static bool is_log(const char *path) {
  struct stat status;
  FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
  int first = file ? getc(file) : EOF;
  if (file) fclose(file); /* only read from */
  if (first == EOF || first == '{') return true;
  nnc_error("%s is no log: nothing is appended to it", path);
  return false;
}

/* A pipe can be written when somebody reads it; the wait ends when the run is to stop. */
static int open_for_appending(const char *path) {
  enum { PAUSE = 50000000 }; /* nanoseconds */
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC;
  int fd = open(path, flags, 0666);
  if (fd < 0 && errno == ENXIO) nnc_note("waiting for a reader of %s", path);
  while (fd < 0 && errno == ENXIO && !nnc_stop_requested()) {
    nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
    fd = open(path, flags, 0666);
  }
  int status = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
  if (status >= 0 && fcntl(fd, F_SETFL, status & ~O_NONBLOCK) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

static FILE *append(const char *path) {
  int fd = open_for_appending(path);
  FILE *file = fd >= 0 ? fdopen(fd, "a") : NULL;
  if (fd >= 0 && !file) close(fd);
  return file;
}

/* --- Cutting -------------------------------------------------------------------------------- */

typedef struct Cut {
  int64_t step; /* of the checkpoint */
  bool keeps_step;
  int64_t last_step; /* of the line before */
  off_t at, end;     /* at: where the file is to end, -1: not known yet; end: of the line before */
  double seconds;
} Cut;

/* "step" and "seconds" of a line; false for a line that is none of ours.  Destroys the line. */
static bool read_line(char *line, size_t length, int64_t *step, double *seconds) {
  nnc_json_document document;
  char message[128];
  uint64_t number = 0;
  if (!nnc_json_parse(&document, line, length, message, sizeof message)) return false;
  const nnc_json *step_value = nnc_json_member(&document, document.values, "step");
  const nnc_json *seconds_value = nnc_json_member(&document, document.values, "seconds");
  bool good = step_value && nnc_json_unsigned(step_value, &number) && number <= INT64_MAX &&
              seconds_value && seconds_value->kind == NNC_JSON_NUMBER;
  double number_of_seconds = good ? strtod(seconds_value->text, NULL) : 0;
  if (good) *seconds = number_of_seconds >= 0 && number_of_seconds < 1e15 ? number_of_seconds : 0;
  *step = (int64_t)number;
  nnc_json_free(&document);
  return good;
}

static void cut_line(Cut *cut, char *line, size_t length) {
  int64_t step;
  double seconds;
  NNC_ASSERT(length > 0);
  off_t start = cut->end;
  bool is_whole = line[length - 1] == '\n';
  cut->end += (off_t)length;
  if (!is_whole) {
    if (cut->at < 0) cut->at = start;
    return;
  }
  if (!read_line(line, length - 1, &step, &seconds)) return;
  if (step <= cut->last_step) {
    cut->at = -1;
    cut->seconds = 0;
  }
  cut->last_step = step;
  bool stays = step < cut->step || (step == cut->step && cut->keeps_step);
  if (stays) cut->seconds = seconds;
  else if (cut->at < 0) cut->at = start;
}

bool nnc_log_cut(const char *path, int64_t step, bool keeps_step, double *seconds) {
  Cut cut = {.step = step, .keeps_step = keeps_step, .last_step = -1, .at = -1};
  struct stat status;
  *seconds = 0;
  if (stat(path, &status) != 0 && errno == ENOENT) return true;
  if (!is_log(path)) return false;
  FILE *file = fopen(path, "r+");
  if (!file || fstat(fileno(file), &status) != 0) {
    nnc_error_system("open the log", path);
    if (file) fclose(file);
    return false;
  }
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length = 0;
  bool good = true;
  while (S_ISREG(status.st_mode) && (length = getline(&line, &capacity, file)) > 0)
    cut_line(&cut, line, (size_t)length);
  if (ferror(file) || (cut.at >= 0 && ftruncate(fileno(file), cut.at) != 0)) {
    nnc_error_system("cut back the log", path);
    good = false;
  }
  free(line);
  fclose(file); /* nothing is buffered: it was only read and truncated */
  *seconds = cut.seconds;
  return good;
}

/* --- Writing -------------------------------------------------------------------------------- */

bool nnc_log_open(nnc_log *log, const char *path, const char *keep) {
  struct stat status;
  *log = (nnc_log){.path = path};
  if (!is_log(path)) return false;
  log->is_new = access(path, F_OK) != 0;
  log->file = append(path);
  if (log->file && fstat(fileno(log->file), &status) == 0) {
    log->is_regular = S_ISREG(status.st_mode);
    if (log->is_regular && status.st_size > 0) log->keep = keep;
    return true;
  }
  nnc_error_system("open the log", path);
  if (log->file) fclose(log->file);
  log->file = NULL;
  return false;
}

/* -1: unknown */
static off_t log_bytes(const nnc_log *log) {
  struct stat status;
  return log->is_regular && fstat(fileno(log->file), &status) == 0 ? status.st_size : -1;
}

/* The earlier run's lines get another name, and the file begins anew.  When that fails, lines are
 * appended to it. */
static void rotate(nnc_log *log) {
  const char *keep = log->keep;
  log->keep = NULL;
  FILE *fresh = rename(log->path, keep) == 0 ? append(log->path) : NULL;
  if (!fresh) {
    nnc_warning("cannot keep the earlier log as %s: %s", keep, strerror(errno));
    log->has_failed = true;
    return;
  }
  fclose(log->file); /* nothing is buffered */
  log->file = fresh;
}

void nnc_log_write(nnc_log *log, nnc_log_writer *writer, void *context) {
  if (log->keep) rotate(log);
  off_t before = log_bytes(log);
  writer(log->file, context);
  fputc('\n', log->file);
  if (fflush(log->file) == 0 && !ferror(log->file)) return;
  nnc_warning("cannot write a line of the log %s: %s", log->path, strerror(errno));
  log->has_failed = true;
  clearerr(log->file);
  if (before >= 0 && ftruncate(fileno(log->file), before) != 0)
    nnc_error_system("cut back the log", log->path);
}

/* A run that ends before its first line leaves no log where there was none. */
void nnc_log_close(nnc_log *log) {
  if (log->file && log->is_new && log_bytes(log) == 0) unlink(log->path);
  if (log->file && fclose(log->file) != 0) {
    nnc_error_system("close the log", log->path);
    log->has_failed = true;
  }
  log->file = NULL;
}
