/* Names of pictures and of their masks: see picture_pairs.h.
 *
 * A name is compared without folder and ending, and without words that say what the file is (`_mask`, `img_`). Names that
 * have nothing in common are nobody's mistake: they are told only where some rows agree, or where the first mask that
 * differs has the name of another picture, or its picture that of another mask. */
#include "data/picture_pairs.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/class.h"
#include "data/file.h"
#include "os/message.h"

enum { LONGEST = 256 };

static bool is_kind(const char *word, size_t length) {
  static const char *const kinds[] = {
      "mask",        "masks",      "label",   "labels",   "gt",          "seg",   "segmentation",
      "groundtruth", "annotation", "trimap",  "labelids", "trainids",    "image", "images",
      "img",         "photo",      "picture", "rgb",      "leftimg8bit", "gtfine"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strlen(kinds[i]) == length && strncasecmp(word, kinds[i], length) == 0) return true;
  return false;
}

/* The words of a name between `_`, `-`, `.` and blanks, but for those of the kind: "a/img_07_mask.png" is "07". */
static void find_key(char key[LONGEST], const char *path) {
  static const char between[] = "_-. ";
  const char *name = data_path_last(path);
  const char *dot = strrchr(name, '.'), *end = dot && dot > name ? dot : name + strlen(name);
  size_t used = 0;
  while (name < end) {
    size_t length = strcspn(name, between);
    if (length > (size_t)(end - name)) length = (size_t)(end - name);
    if (length > 0 && !is_kind(name, length) && used + length + 2 < LONGEST) {
      if (used > 0) key[used++] = '_';
      memcpy(key + used, name, length);
      used += length;
    }
    name += length + 1;
  }
  key[used] = 0;
}

static bool has_key(const DataTable *table, const char *wanted) {
  char key[LONGEST];
  for (int64_t row = 0; row < table->rows; row++) {
    find_key(key, table->source->row_name(table, row));
    if (strcmp(key, wanted) == 0) return true;
  }
  return false;
}

static bool has_names(const DataTable *table) {
  return table->source->row_name && strcmp(table->source->name, "image_folder") == 0;
}

void data_picture_compare_names(const DataTable *masks, const DataTable *pictures) {
  char key[LONGEST], its_key[LONGEST];
  int64_t agree = 0, first = -1;
  if (!has_names(masks) || !has_names(pictures) || masks->rows != pictures->rows) return;
  for (int64_t row = 0; row < masks->rows; row++) {
    find_key(key, masks->source->row_name(masks, row));
    find_key(its_key, pictures->source->row_name(pictures, row));
    if (strcmp(key, its_key) == 0) agree++;
    else if (first < 0) first = row;
  }
  if (first < 0) return;
  const char *mask = masks->source->row_name(masks, first);
  const char *picture = pictures->source->row_name(pictures, first);
  find_key(key, mask);
  find_key(its_key, picture);
  if (agree == 0 && !has_key(pictures, key) && !has_key(masks, its_key)) return;
  nnc_warning("%s is the mask of %s, since files are paired in the order of their names: these "
              "differ in %lld of %lld pairs, so pictures or masks may be missing",
              mask, picture, (long long)(masks->rows - agree), (long long)masks->rows);
}

bool data_picture_first_apart(const DataTable *one, const DataTable *other, const char *names[2]) {
  char key[LONGEST], its_key[LONGEST];
  if (!has_names(one) || !has_names(other) || one->rows == other->rows) return false;
  int64_t row = 0, least = one->rows < other->rows ? one->rows : other->rows;
  for (; row < least; row++) {
    find_key(key, one->source->row_name(one, row));
    find_key(its_key, other->source->row_name(other, row));
    if (strcmp(key, its_key) != 0) break;
  }
  if (row == 0 && (least == 0 || (!has_key(other, key) && !has_key(one, its_key)))) return false;
  names[0] = row < one->rows ? one->source->row_name(one, row) : NULL;
  names[1] = row < other->rows ? other->source->row_name(other, row) : NULL;
  return true;
}
