/* initialize: what client and server agree on. */
#include <string.h>
#include "server/client.h"

/* A value deep inside of an object: path "a/b/c". */
static json_t *get_deep(const json_t *json, const char *path) {
  char key[64];
  while (json && *path) {
    size_t length = strcspn(path, "/");
    if (length >= sizeof key) return NULL;
    memcpy(key, path, length);
    key[length] = 0;
    json = json_object_get(json, key);
    path += length + (path[length] == '/');
  }
  return (json_t *)json;
}

static bool has_text(const json_t *list, const char *wanted) {
  size_t i;
  json_t *item;
  json_array_foreach(list, i, item) if (json_is_string(item) &&
                                        strcmp(json_string_value(item), wanted) == 0) return true;
  return false;
}

/* The first of the client's encodings that the server knows; without any it is UTF-16. */
static Encoding choose_encoding(const json_t *offered) {
  size_t i;
  json_t *item;
  json_array_foreach(offered, i, item) for (int encoding = 0; encoding < ENCODING_COUNT;
                                            encoding++) if (json_is_string(item) &&
                                                            strcmp(json_string_value(item),
                                                                   encoding_names[encoding]) ==
                                                                0) return (Encoding)encoding;
  return ENCODING_UTF16;
}

static json_t *capabilities(const Server *server) {
  json_t *all = json_pack("{s:s, s:{s:b, s:i, s:{s:b}}}", "positionEncoding",
                          encoding_names[server->encoding], "textDocumentSync", "openClose", true,
                          "change", 2, "save", "includeText", false);
  static const char *const plain[] = {"hoverProvider",          "definitionProvider",
                                      "referencesProvider",     "documentHighlightProvider",
                                      "documentSymbolProvider", "documentFormattingProvider",
                                      "inlayHintProvider"};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    json_object_set_new(all, plain[i], json_true());
  json_object_set_new(all, "renameProvider", json_pack("{s:b}", "prepareProvider", true));
  json_object_set_new(all, "codeActionProvider",
                      json_pack("{s:[s]}", "codeActionKinds", "quickfix"));
  json_object_set_new(all, "completionProvider",
                      json_pack("{s:[s, s, s]}", "triggerCharacters", ".", "|", "("));
  json_object_set_new(all, "signatureHelpProvider",
                      json_pack("{s:[s, s]}", "triggerCharacters", "(", ","));
  return all;
}

json_t *server_initialize(Server *server, const json_t *params) {
  const json_t *client = json_object_get(params, "capabilities");
  const json_t *document = json_object_get(client, "textDocument");
  server->encoding = choose_encoding(get_deep(client, "general/positionEncodings"));
  server->has_markdown = has_text(get_deep(document, "hover/contentFormat"), "markdown");
  server->has_related = json_is_true(get_deep(document, "publishDiagnostics/relatedInformation"));
  server->has_snippets =
      json_is_true(get_deep(document, "completion/completionItem/snippetSupport"));
  return json_pack("{s:o, s:{s:s, s:s}}", "capabilities", capabilities(server), "serverInfo",
                   "name", "nnc", "version", server->version);
}
