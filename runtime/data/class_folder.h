/* Files in a folder for each class, or, where no field is their class, in the folder itself:
 *
 *     train/cat/1.jpg  train/cat/2.png  train/dog/1.jpg       train/1.jpg  train/2.png
 *
 * Fields are the file's row and, where there is a second, its class: the folders' names in sorted order, learnt from
 * the training set like the classes of a `categories` stage.  Files count when their names end as those of their kind
 * and do not begin with a dot; their order is that of the classes, then of the names. */
#ifndef NNC_DATA_CLASS_FOLDER_H
#define NNC_DATA_CLASS_FOLDER_H

#include "data/row_files.h"

/* Loads a source with the arguments `folder` and `on_error`, whose state is open. */
int data_class_folder_load(const DataContext *context, DataTable *table,
                           const char *const *formals);

#endif
