/* The export command: parameters and states in the plain layout, as safetensors or NumPy's npz. */
#include <string.h>

#include "checkpoint.h"
#include "commands.h"
#include "message.h"
#include "npz.h"

static const char *const formats[] = {"safetensors", "npz"};
enum { FORMAT_SAFETENSORS, FORMAT_NPZ, FORMAT_COUNT };

/* By --format, else by the file's ending; -1 after a message. */
static int choose_format(const nnc_options *options) {
  const char *path = options->arguments[0];
  for (int i = 0; i < FORMAT_COUNT; i++)
    if (options->format && strcmp(options->format, formats[i]) == 0) return i;
  if (!options->format) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npz") == 0 ? FORMAT_NPZ : FORMAT_SAFETENSORS;
  }
  const char *nearest = nnc_nearest(options->format, FORMAT_COUNT, formats);
  nnc_error("unknown --format '%s'%s%s%s; export knows safetensors and npz", options->format,
            nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  return -1;
}

static bool export_model(nnc_session *session, int format) {
  const char *path = session->options->arguments[0];
  nnc_position position;
  nnc_session_initialize(session);
  if (!nnc_checkpoint_load(session, &position)) return false;
  bool good = format == FORMAT_NPZ
                  ? nnc_npz_write(session, path, NNC_WEIGHTS)
                  : nnc_checkpoint_save(session, path, NULL, NNC_WEIGHTS, NULL, NULL);
  if (good) nnc_note("wrote %s", path);
  return good;
}

int nnc_export_command(const nnc_options *options) {
  nnc_session session;
  int format = choose_format(options);
  if (format < 0) return NNC_EXIT_USAGE;
  if (!nnc_session_open(&session, options)) return NNC_EXIT_FAILURE;
  bool good = export_model(&session, format);
  nnc_session_close(&session);
  return good ? NNC_EXIT_OK : NNC_EXIT_FAILURE;
}
