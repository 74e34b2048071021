/* What to do about a text table that cannot be read: ends of messages; private to csv*.c. */
#ifndef NNC_DATA_CSV_HINTS_H
#define NNC_DATA_CSV_HINTS_H
#include "data/csv_reader.h"

/* For a table that seems to have one column: whether another separator divides its record. */
CsvHint csv_hint_record(const CsvReader *reader);
/* For a cell that is no number, of a field of that name. `may_be_header`: no header and no row stand before it. */
CsvHint csv_hint_number(const CsvReader *reader, int64_t column, const char *field,
                        bool may_be_header);

/* What to do where a header is expected and the first line has numbers: to the program, or to a file that predict is
 * given. */
const char *csv_hint_header(const DataContext *context);

#endif
