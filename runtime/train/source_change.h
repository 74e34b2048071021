/* Telling what changed between the .net source in a checkpoint and the program's own. */
#ifndef NNC_SOURCE_CHANGE_H
#define NNC_SOURCE_CHANGE_H

/* Warns, with the lines, when the texts differ. */
void nnc_warn_source_change(const char *path, const char *before, const char *now);

#endif
