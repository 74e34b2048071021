/* What requests are answered from: the state of the server, which its files share. */
#ifndef NNC_SERVER_CLIENT_H
#define NNC_SERVER_CLIENT_H

#include "server/document.h"
#include "server/transport.h"

/* A request that is answered by a process of its own. */
typedef struct Pending {
  struct Pending *next;
  Job job;
  json_t *id;
  bool is_answered;
} Pending;

typedef struct Server {
  Arena *arena; /* as long as the server */
  const char *version;
  Library *library;
  Transport transport;
  Encoding encoding;
  bool has_markdown, has_related, has_snippets;
  bool is_initialized, is_shut_down, is_over;
  Document *documents;
  Pending *pending;
} Server;

/* NULL where it is not open. */
Document *server_document(const Server *server, const char *uri);
/* The offset that `params` names in the document; false where there is none. */
bool server_offset(const Server *server, const Document *document, const json_t *params,
                   size_t *offset);

/* ---- requests ---- */

/* initialize.c: the result of `initialize`. */
json_t *server_initialize(Server *server, const json_t *params);

/* What answers a request about a document: the result, which may be JSON's null. */
typedef json_t *Answer(const Server *server, const Document *document, const json_t *params);

/* lookup.c: from the facts of the document's present text. */
Answer answer_hover, answer_definition, answer_references, answer_highlight, answer_prepare_rename,
    answer_rename, answer_symbols, answer_hints, answer_actions;
/* complete.c, format.c: in a process of their own. */
Answer answer_completion, answer_signature, answer_formatting;

#endif
