/* Columns of a text table by the names that another table's header has: training's, or that of a pattern's first file.
 *
 * Names are kept among what training taught, as "x.columns": the names of the columns of field x, in the order in which
 * the input has them. A field of whose columns two have one name has none. Private to csv*.c. */
#ifndef NNC_DATA_CSV_NAMES_H
#define NNC_DATA_CSV_NAMES_H
#include "core/fitted.h"
#include "data/csv_columns.h"

/* Chooses the columns of each field that has an input by the names in `known`, which are those of `owner`. 1, or 0: not
 * all are known, or the call states columns; or -1 with a message. Of a file that predict is given, columns that the
 * call counts are chosen by training's names, where its header has them. */
int csv_names_match(CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                    const nnc_fitted *known, const char *owner);
/* Adds the names of the columns that were chosen, and under ".columns" those of all. */
int csv_names_note(const CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                   nnc_fitted *names);
/* Adds to `fitted` what it does not have of the fields' names. */
int csv_names_learn(const DataContext *context, const DataTable *table, const nnc_fitted *names,
                    nnc_fitted *fitted);

#endif
