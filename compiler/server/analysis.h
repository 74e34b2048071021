/* What the server knows of one text of a document, as JSON: its mistakes, and of each name what to show and where it is defined.
 *
 * It is made in a process of its own (job.h): that may take its time, grow, and fail. */
#ifndef NNC_SERVER_ANALYSIS_H
#define NNC_SERVER_ANALYSIS_H

#include <jansson.h>
#include "server/library.h"
#include "server/positions.h"

typedef struct AnalysisText {
  const char *path; /* of the document's file, for messages */
  const char *uri;
  const char *text;
  size_t length;
  Encoding encoding;
  const Library *library;
  bool has_related; /* the client shows places that belong to a message */
} AnalysisText;

/* Gives `send` one or two objects, which it takes over. The first comes early, before the program is
 * elaborated for evaluation:
 *
 *   names       [{at, name, thing, binds, hover, target}], in the order of the text; `thing` numbers what they stand for
 *   symbols     DocumentSymbol[]
 *   hints       InlayHint[]
 *   values      {NAME: "f32[100, 10]"}; this and the next are missing where nothing was elaborated
 *   parameters  [{path, type}]
 *   diagnostics Diagnostic[], in the last one alone, which may lack all others where they have not changed */
void analysis_run(const AnalysisText *text, void (*send)(void *context, json_t *facts),
                  void *context);

/* ---- JSON of positions and texts ---- */

json_t *json_of_range(Range range);
/* Bytes that are not UTF-8 become '?'. */
json_t *json_of_text(const char *text);

#endif
