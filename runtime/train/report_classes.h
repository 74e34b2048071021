/* What the classes of a set were taken for, as a section of the page about a run. */
#ifndef NNC_REPORT_CLASSES_H
#define NNC_REPORT_CLASSES_H

#include <stdio.h>

#include "train/classes.h"

/* `set`: its name. */
void nnc_report_put_classes(FILE *file, const nnc_classes *classes, const char *set);

#endif
