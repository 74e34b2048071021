/* The documents that the client has open: their texts, and what is known of them. */
#ifndef NNC_SERVER_DOCUMENT_H
#define NNC_SERVER_DOCUMENT_H

#include "server/analysis.h"
#include "server/job.h"

/* A request that waits for the facts of the text as it is. */
typedef struct Waiting {
  struct Waiting *next;
  json_t *request;
} Waiting;

typedef struct Document {
  struct Document *next;
  char *uri, *path;
  Text text;
  json_t *version;
  bool is_library;   /* a file of the library, of which nothing is checked */
  bool is_unchecked; /* the text has changed since an analysis was begun */
  bool is_known;     /* `facts` are those of this text */
  json_t *facts;     /* NULL until there are some; of an older text while a new one is analysed */
  Job job;           /* the analysis */
  Waiting *waiting;  /* in the order of their arrival */
} Document;

Document *document_create(const char *uri, const Library *library);
void document_destroy(Document *document);
void document_set_text(Document *document, const char *text, size_t length);
/* A TextDocumentContentChangeEvent; false where it is none. */
bool document_change(Document *document, Encoding encoding, const json_t *change);
/* Lasts until the text changes or the arena goes. */
Lines *document_lines(Arena *arena, const Document *document, Encoding encoding);
/* {line, character}; false where `json` is none. */
bool document_read_place(const json_t *json, Place *place);
/* The word at the place, or that ends there: [*from, *to) of the text. */
bool document_word(const Document *document, size_t offset, size_t *from, size_t *to);
/* Whether that is in no comment and no string. */
bool document_is_code(const Document *document, size_t offset);

#endif
