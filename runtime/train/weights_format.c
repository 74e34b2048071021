/* Formats of weights: see weights_format.h. */
#include "train/weights_format.h"

#include <string.h>
#include <strings.h>

#include "os/message.h"
#include "os/replace.h"

const char *const nnc_weights_format_names[NNC_WEIGHTS_FORMATS] = {"safetensors", "npz"};

enum Way { WAY_NONE, WAY_TORCH, WAY_NUMPY };

/* Endings of what others write. */
static const struct {
  char ending[12], what[16];
  enum Way way; /* from a file that can be written to one of these */
} foreign[] = {
    {".onnx", "ONNX", WAY_NONE},      {".gguf", "GGUF", WAY_NONE},
    {".pb", "TensorFlow", WAY_NONE},  {".tflite", "TensorFlow", WAY_NONE},
    {".h5", "HDF5", WAY_NUMPY},       {".hdf5", "HDF5", WAY_NUMPY},
    {".keras", "Keras", WAY_NUMPY},   {".msgpack", "Flax", WAY_NUMPY},
    {".pt", "PyTorch", WAY_TORCH},    {".pth", "PyTorch", WAY_TORCH},
    {".ckpt", "PyTorch", WAY_TORCH},  {".bin", "PyTorch", WAY_TORCH},
    {".pkl", "pickle", WAY_NUMPY},    {".pickle", "pickle", WAY_NUMPY},
    {".npy", "one array", WAY_NUMPY}, {".mat", "MATLAB", WAY_NUMPY},
    {".csv", "a table", WAY_NUMPY},   {".json", "JSON", WAY_NUMPY},
};

static bool ends_in(const char *path, const char *ending) {
  size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcasecmp(path + length - tail, ending) == 0;
}

/* What reads the file that can be written, and writes the other. */
static void tell_way(enum Way way, bool has_npz, const char *path) {
  if (way == WAY_TORCH)
    nnc_note("PyTorch makes one of a safetensors file: torch.save(safetensors.torch.load_file("
             "'weights.safetensors'), '%s')",
             path);
  if (way == WAY_NUMPY)
    nnc_note("Python reads the weights by their names: %s",
             has_npz ? "numpy.load('weights.npz')"
                     : "safetensors.numpy.load_file('weights.safetensors')");
}

static int refuse(const char *command, const char *path, int number, bool only_safetensors) {
  nnc_error("cannot write %s: %s writes %s, not %s; choose a name that ends in .safetensors%s",
            path, command, only_safetensors ? "safetensors" : "safetensors and npz",
            foreign[number].what, only_safetensors ? "" : " or .npz, or give --format");
  tell_way(foreign[number].way, !only_safetensors, path);
  return -1;
}

static bool says(const char *path, enum nnc_weights_format format) {
  return ends_in(path, format == NNC_NPZ ? ".npz" : ".safetensors");
}

int nnc_weights_format_of(const char *path, const char *command, bool only_safetensors) {
  for (int i = 0; i < (int)(sizeof foreign / sizeof *foreign); i++)
    if (ends_in(path, foreign[i].ending)) return refuse(command, path, i, only_safetensors);
  if (!says(path, NNC_NPZ)) return NNC_SAFETENSORS;
  if (!only_safetensors) return NNC_NPZ;
  nnc_error("cannot write %s: %s writes safetensors files; choose a name that ends in .safetensors",
            path, command);
  return -1;
}

const char *nnc_weights_format_note(const char *path, enum nnc_weights_format format) {
  if (says(path, format)) return "";
  return format == NNC_NPZ ? ", which is an npz file" : ", which is a safetensors file";
}

bool nnc_weights_may_replace(const char *path, enum nnc_weights_format format) {
  return format == NNC_NPZ ? nnc_may_replace(path, "npz file", 0, "PK")
                           : nnc_may_replace(path, "safetensors file", 8, "{");
}
