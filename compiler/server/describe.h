/* What an editor shows about a name: markdown. */
#ifndef NNC_SERVER_DESCRIBE_H
#define NNC_SERVER_DESCRIBE_H

#include "server/observe.h"
#include "server/resolve.h"

/* False where there is nothing to say. */
bool describe_mention(Text *out, Sights *sights, const Mention *mention);
/* What the name is bound to, in a few words: "f32[100, 1000]", "12"; NULL. In the arena of the sights. */
const char *describe_short(const Sights *sights, const Sight *sight);
/* The head of a function of the program: "def block(x, width = 8)". */
const char *describe_head(Arena *arena, const AstStmt *stmt);

#endif
