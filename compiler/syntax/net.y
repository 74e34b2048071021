/* The grammar of .net: LALR(1) without conflicts, reentrant.
 *
 * Its input is the repaired list of tokens (tokens.h).  Actions name the parts of a node; what there is to
 * decide and to check is in build.c.
 * After a syntax error the statement is dropped and parser_resume() moves to the separator or brace
 * that ends it; brackets always match, so that place is certain. */
%require "3.6"
%define api.pure full
%define api.prefix {net_}
%define api.token.prefix {T_}
%define api.location.type {Span}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param { Parser *parser }

%code requires {
#include "syntax/build.h"
}

%code provides {
int net_lex(NET_STYPE *value, Span *span, Parser *parser); /* parse.c */
void net_error(Span *span, Parser *parser, const char *message);
}

%code {
#define YYLLOC_DEFAULT(Result, Rhs, N) ((Result) = parser_join_spans((Rhs), (N)))
#define YYMAXDEPTH 20000
#define STMT(what, at, word, ...)                                                                  \
  build_stmt(parser, &(AstStmt){.kind = (what), .span = (at), .keyword = (word), __VA_ARGS__})
#define EXPR(what, at, ...)                                                                        \
  build_expr(parser, &(AstExpr){.kind = (what), .span = (at), __VA_ARGS__})
#define BINARY(op, at, op_at, left, right) EXPR(AST_BINARY, at, .binary = {(op), (op_at), (left), (right)})
#define NEW(type, ...) arena_copy(parser->arena, &(type){__VA_ARGS__}, sizeof(type))
#define NEW_LIST(type) ARENA_NEW(parser->arena, type)
#define PUSH(list, item) vec_push(parser->arena, (list), (item))
/* The statement or entry in which the error was is given up. */
#define RESUME()                                                                                   \
  do {                                                                                             \
    yyerrok;                                                                                       \
    yyclearin;                                                                                     \
    if (!parser_resume(parser)) YYABORT;                                                           \
  } while (0)
}

%union {
  Token *token;
  AstName *name;
  AstNames *names;
  AstExpr *expr;
  AstExprs *exprs;
  AstStmt *stmt;
  AstStmts *stmts;
  AstBlock *block;
  AstBinding *binding;
  AstBindings *bindings;
  AstType *type;
  AstFormal *formal;
  AstFormals *formals;
  AstGradient *gradient;
  AstEntry *entry;
  AstEntries *entries;
  AstArgument *argument;
  AstArguments *arguments;
  AstIndex *index;
  AstIndices *indices;
}

%token END 0
%token SEP COMMENT IGNORED BAD START_EXPR
%token <token> ID NUMBER STRING BOOL
%token <token> CONST DEF FOR IN IF ELSE RETURN YIELD SCAN WITH PARAM
%token <token> DATA INPUT STATE TRAIN PREDICT GENERATE OPTIMIZER ALONG INIT SCHEDULE STREAM PARAMS EXTERN OPTION
%token <token> RECOMPUTE GRADIENT
%token <token> CALL_NUMBER /* .0 in net.linear.0.w */
%token DOTDOT ELLIPSIS ARROW LE GE EQ NE AND OR FLOORDIV

%type <token> contextual opt_recompute
%type <name> name
%type <names> names pattern
%type <expr> stage expr ternary or and cmp range add mul unary power postfix primary scan
%type <expr> opt_expr opt_init opt_along opt_limits
%type <exprs> exprs opt_exprs dims strings stages
%type <stmt> stmt if_stmt
%type <stmts> stmts stmt_list
%type <block> block opt_else
%type <binding> binding
%type <bindings> bindings opt_with
%type <type> type opt_type
%type <formal> formal
%type <formals> formals formal_list
%type <gradient> opt_gradient
%type <entry> entry data_entry
%type <entries> entry_block data_block entries entry_list data_entries data_list
%type <argument> arg
%type <arguments> args arg_list
%type <index> index
%type <indices> indices index_list

%%

start
  : stmts                        { parser->program->stmts = *$1; (void)yynerrs; }
  | START_EXPR expr opt_sep      { parser->expression = $2; }
  ;
opt_sep: %empty | SEP ;
opt_comma: %empty | ',' ;

stmts
  : %empty                       { $$ = NEW_LIST(AstStmts); }
  | stmt_list opt_sep
  ;
stmt_list
  : stmt                         { $$ = NEW_LIST(AstStmts); PUSH($$, $1); }
  | stmt_list SEP stmt           { PUSH($1, $3); $$ = $1; }
  | error                        { $$ = NEW_LIST(AstStmts); RESUME(); }
  | stmt_list SEP error          { $$ = $1; RESUME(); }
  ;
block: '{' stmts '}'             { $$ = build_block(parser, @$, $2); } ;

stmt
  : CONST bindings               { $$ = STMT(AST_CONST, @$, @1, .constants = *$2); }
  | OPTION name '=' expr opt_limits { $$ = STMT(AST_OPTION, @$, @1, .option = {*$2, $4, $5}); }
  | INPUT name ':' type          { $$ = STMT(AST_INPUT, @$, @1, .variable = {*$2, $4, NULL}); }
  | PARAM name opt_type opt_init { $$ = STMT(AST_PARAM, @$, @1, .variable = {*$2, $3, $4}); }
  | STATE name opt_type opt_init { $$ = STMT(AST_STATE, @$, @1, .variable = {*$2, $3, $4}); }
  | STREAM name opt_type opt_init { $$ = STMT(AST_STREAM, @$, @1, .variable = {*$2, $3, $4}); }
  | DATA name data_block         { $$ = STMT(AST_DATA, @$, @1, .section = {*$2, *$3}); }
  | TRAIN entry_block            { $$ = STMT(AST_TRAIN, @$, @1, .section.entries = *$2); }
  | PREDICT entry_block          { $$ = STMT(AST_PREDICT, @$, @1, .section.entries = *$2); }
  | GENERATE entry_block         { $$ = STMT(AST_GENERATE, @$, @1, .section.entries = *$2); }
  | DEF name '(' formals ')' block opt_gradient
      { $$ = STMT(AST_DEF, @$, @1, .function = {*$2, *$4, $6, .gradient = $7}); }
  | OPTIMIZER name '(' formals ')' block
      { $$ = STMT(AST_OPTIMIZER, @$, @1, .function = {*$2, *$4, .body = $6}); }
  | INIT name '(' formals ')' block
      { $$ = STMT(AST_INIT, @$, @1, .function = {*$2, *$4, .body = $6}); }
  | SCHEDULE name '(' formals ')' block
      { $$ = STMT(AST_SCHEDULE, @$, @1, .function = {*$2, *$4, .body = $6}); }
  | EXTERN name '(' formals ')' ':' type entry_block opt_gradient
      { $$ = STMT(AST_EXTERN, @$, @1, .function = {*$2, *$4, NULL, $9, $7, *$8}); }
  | names '=' expr               { $$ = STMT(AST_ASSIGN, @$, @2, .assignment = {*$1, $3}); }
  | names ARROW expr             { $$ = STMT(AST_STORE, @$, @2, .assignment = {*$1, $3}); }
  | FOR pattern IN expr block    { $$ = STMT(AST_FOR, @$, @1, .loop = {*$2, $4, $5}); }
  | if_stmt
  | RETURN exprs                 { $$ = STMT(AST_RETURN, @$, @1, .values = *$2); }
  | YIELD exprs                  { $$ = STMT(AST_YIELD, @$, @1, .values = *$2); }
  ;
if_stmt
  : IF expr block opt_else       { $$ = STMT(AST_IF, @$, @1, .branch = {$2, $3, $4, 0}); }
  | IF expr block ELSE if_stmt
      { $$ = STMT(AST_IF, @$, @1, .branch = {$2, $3, build_else_if(parser, $5), 1}); }
  ;
opt_else
  : %empty                       { $$ = NULL; }
  | ELSE block                   { $$ = $2; }
  ;
opt_gradient
  : %empty                       { $$ = NULL; }
  | GRADIENT '(' formals ')' block { $$ = NEW(AstGradient, *$3, $5, @1); }
  ;
bindings
  : binding                      { $$ = NEW_LIST(AstBindings); PUSH($$, *$1); }
  | bindings ',' binding         { PUSH($1, *$3); $$ = $1; }
  ;
binding: name '=' expr           { $$ = NEW(AstBinding, *$1, $3); } ;

names
  : name                         { $$ = NEW_LIST(AstNames); PUSH($$, *$1); }
  | names ',' name               { PUSH($1, *$3); $$ = $1; }
  ;
pattern: names | '(' names ')'   { $$ = $2; } ;

/* Words that are keywords only where a statement or a clause begins; elsewhere ordinary names. */
name
  : ID                           { $$ = NEW(AstName, $1->name, $1->span); }
  | contextual                   { $$ = NEW(AstName, $1->name, $1->span); }
  ;
contextual
  : DATA | INPUT | STATE | TRAIN | PREDICT | GENERATE | OPTIMIZER | ALONG | INIT | SCHEDULE | STREAM | PARAMS
  | EXTERN | RECOMPUTE | GRADIENT | OPTION
  ;

opt_init: %empty                 { $$ = NULL; }
  | '=' expr                     { $$ = $2; }
  ;
opt_limits: %empty               { $$ = NULL; }
  | IN expr                      { $$ = $2; }
  ;
opt_type: %empty                 { $$ = NULL; }
  | ':' type                     { $$ = $2; }
  ;
type
  : ID                           { $$ = build_type(parser, @$, $1, NULL); }
  | ID '[' dims ']'              { $$ = build_type(parser, @$, $1, $3); }
  | '[' dims ']'                 { $$ = build_type(parser, @$, NULL, $2); }
  ;
dims                             /* NULL stands for any shape */
  : opt_exprs
  | ELLIPSIS                     { $$ = NULL; }
  ;

formals
  : %empty                       { $$ = NEW_LIST(AstFormals); }
  | formal_list opt_comma
  ;
formal_list
  : formal                       { $$ = build_formals(parser, NULL, $1); }
  | formal_list ',' formal       { $$ = build_formals(parser, $1, $3); }
  ;
formal: name opt_type opt_init   { $$ = NEW(AstFormal, *$1, $2, $3, @$); } ;

/* A brace must not stay on the stack longer than its partner: recovery would go back into the block. */
entry_block: '{' entries '}'     { $$ = $2; } ;
data_block: '{' data_entries '}' { $$ = $2; } ;
entries
  : %empty                       { $$ = NEW_LIST(AstEntries); }
  | entry_list opt_end
  ;
opt_end: opt_sep | ',' ;
between: SEP | ',' ;
entry_list
  : entry                        { $$ = NEW_LIST(AstEntries); PUSH($$, *$1); }
  | entry_list between entry     { PUSH($1, *$3); $$ = $1; }
  | error                        { $$ = NEW_LIST(AstEntries); RESUME(); }
  | entry_list between error     { $$ = $1; RESUME(); }
  ;
entry
  : names '=' expr               { $$ = NEW(AstEntry, .span = @$, .names = *$1, .value = $3); }
  | PARAMS strings entry_block
      { $$ = NEW(AstEntry, AST_ENTRY_PARAMS, @$, .patterns = *$2, .entries = *$3); }
  ;
strings
  : STRING                       { $$ = NEW_LIST(AstExprs); PUSH($$, build_literal(parser, $1)); }
  | strings ',' STRING           { PUSH($1, build_literal(parser, $3)); $$ = $1; }
  ;
data_entries
  : %empty                       { $$ = NEW_LIST(AstEntries); }
  | data_list opt_end
  ;
data_list
  : data_entry                   { $$ = NEW_LIST(AstEntries); PUSH($$, *$1); }
  | data_list between data_entry { PUSH($1, *$3); $$ = $1; }
  | error                        { $$ = NEW_LIST(AstEntries); RESUME(); }
  | data_list between error      { $$ = $1; RESUME(); }
  ;
data_entry
  : names '=' expr               { $$ = NEW(AstEntry, .span = @$, .names = *$1, .value = $3); }
  | names '=' expr stages
      { $$ = NEW(AstEntry, .span = @$, .names = *$1, .value = $3, .stages = *$4); }
  ;
stages
  : '|' stage                    { $$ = NEW_LIST(AstExprs); PUSH($$, $2); }
  | stages '|' stage             { PUSH($1, $3); $$ = $1; }
  ;
/* `with` is a hard word, and a stage as well. */
stage: expr
  | WITH                         { $$ = build_name(parser, &(AstName){$1->name, $1->span}); }
  | WITH '(' args ')'
      { $$ = EXPR(AST_CALL, @$, .call = {build_name(parser, &(AstName){$1->name, $1->span}), *$3, span_join(@2, @4)}); }
  ;

expr: ternary | scan ;
ternary
  : or
  | or '?' expr ':' expr         { $$ = EXPR(AST_TERNARY, @$, .ternary = {$1, $3, $5, @2}); }
  ;
or: and
  | or OR and                    { $$ = BINARY(AST_OR, @$, @2, $1, $3); }
  ;
and: cmp
  | and AND cmp                  { $$ = BINARY(AST_AND, @$, @2, $1, $3); }
  ;
cmp: range
  | range EQ range               { $$ = BINARY(AST_EQ, @$, @2, $1, $3); }
  | range NE range               { $$ = BINARY(AST_NE, @$, @2, $1, $3); }
  | range '<' range              { $$ = BINARY(AST_LT, @$, @2, $1, $3); }
  | range '>' range              { $$ = BINARY(AST_GT, @$, @2, $1, $3); }
  | range LE range               { $$ = BINARY(AST_LE, @$, @2, $1, $3); }
  | range GE range               { $$ = BINARY(AST_GE, @$, @2, $1, $3); }
  ;
range: add
  | add DOTDOT add               { $$ = EXPR(AST_RANGE, @$, .range = {$1, $3, @2}); }
  ;
add: mul
  | add '+' mul                  { $$ = BINARY(AST_ADD, @$, @2, $1, $3); }
  | add '-' mul                  { $$ = BINARY(AST_SUB, @$, @2, $1, $3); }
  ;
mul: unary
  | mul '*' unary                { $$ = BINARY(AST_MUL, @$, @2, $1, $3); }
  | mul '/' unary                { $$ = BINARY(AST_DIV, @$, @2, $1, $3); }
  | mul FLOORDIV unary           { $$ = BINARY(AST_FLOORDIV, @$, @2, $1, $3); }
  | mul '%' unary                { $$ = BINARY(AST_MOD, @$, @2, $1, $3); }
  | mul '@' unary                { $$ = BINARY(AST_MATMUL, @$, @2, $1, $3); }
  ;
unary: power
  | '-' unary                    { $$ = EXPR(AST_UNARY, @$, .unary = {AST_NEG, @1, $2}); }
  | '!' unary                    { $$ = EXPR(AST_UNARY, @$, .unary = {AST_NOT, @1, $2}); }
  ;
power: postfix
  | postfix '^' unary            { $$ = BINARY(AST_POW, @$, @2, $1, $3); }
  ;
postfix: primary
  | postfix '.' name             { $$ = EXPR(AST_MEMBER, @$, .member = {$1, *$3}); }
  | postfix CALL_NUMBER          { $$ = EXPR(AST_MEMBER, @$, .member = {$1, {$2->name, $2->span}}); }
  | postfix '(' args ')'         { $$ = EXPR(AST_CALL, @$, .call = {$1, *$3, span_join(@2, @4)}); }
  | postfix '[' indices ']'      { $$ = EXPR(AST_INDEX, @$, .index = {$1, *$3, span_join(@2, @4)}); }
  ;
primary
  : name                         { $$ = build_name(parser, $1); }
  | NUMBER                       { $$ = build_literal(parser, $1); }
  | STRING                       { $$ = build_literal(parser, $1); }
  | BOOL                         { $$ = build_literal(parser, $1); }
  | NUMBER ID
      { $$ = EXPR(AST_QUANTITY, @$, .quantity = {build_literal(parser, $1), {$2->name, $2->span}}); }
  | '(' expr ')'                 { $$ = $2; }
  | '(' expr ',' opt_exprs ')'
      { $$ = EXPR(AST_TUPLE, @$, .items = *build_items(parser, $2, $4)); }
  | '[' opt_exprs ']'            { $$ = EXPR(AST_LIST, @$, .items = *$2); }
  ;
exprs
  : expr                         { $$ = NEW_LIST(AstExprs); PUSH($$, $1); }
  | exprs ',' expr               { PUSH($1, $3); $$ = $1; }
  ;
opt_exprs
  : %empty                       { $$ = NEW_LIST(AstExprs); }
  | exprs opt_comma
  ;
args
  : %empty                       { $$ = NEW_LIST(AstArguments); }
  | arg_list opt_comma
  ;
arg_list
  : arg                          { $$ = build_arguments(parser, NULL, $1); }
  | arg_list ',' arg             { $$ = build_arguments(parser, $1, $3); }
  ;
arg
  : expr                         { $$ = NEW(AstArgument, .value = $1, .span = @$); }
  | name '=' expr                { $$ = NEW(AstArgument, *$1, $3, @$); }
  | WITH '=' expr                { $$ = NEW(AstArgument, {$1->name, $1->span}, $3, @$); }
  ;
indices: index_list opt_comma ;
index_list
  : index                        { $$ = build_indices(parser, NULL, $1); }
  | index_list ',' index         { $$ = build_indices(parser, $1, $3); }
  ;
index
  : expr                         { $$ = build_at(parser, @$, $1); }
  | ELLIPSIS                     { $$ = NEW(AstIndex, AST_ELLIPSIS, .span = @$); }
  | opt_expr ':' opt_expr        { $$ = NEW(AstIndex, AST_SLICE, NULL, $1, $3, NULL, @$); }
  | opt_expr ':' opt_expr ':' opt_expr
                                 { $$ = NEW(AstIndex, AST_SLICE, NULL, $1, $3, $5, @$); }
  ;
opt_expr: %empty                 { $$ = NULL; }
  | expr
  ;

scan: SCAN pattern IN exprs opt_along opt_recompute opt_with block
                                 { $$ = EXPR(AST_SCAN, @$, .scan = NEW(AstScan, *$2, *$4, $5, $6 != NULL, *$7, $8, @1)); } ;
opt_along: %empty                { $$ = NULL; }
  | ALONG unary                  { $$ = $2; }
  ;
opt_recompute: %empty            { $$ = NULL; }
  | RECOMPUTE
  ;
opt_with: %empty                 { $$ = NEW_LIST(AstBindings); }
  | WITH bindings                { $$ = $2; }
  ;

%%

/* The number of the token that stands for a symbol of the grammar. */
static int token_of_symbol(yysymbol_kind_t symbol) {
  for (int token = 0; token <= YYMAXUTOK; token++)
    if (YYTRANSLATE(token) == symbol) return token;
  return T_BAD;
}

static int yyreport_syntax_error(const yypcontext_t *context, Parser *parser) {
  yysymbol_kind_t symbols[YYNTOKENS];
  int tokens[YYNTOKENS];
  int count = yypcontext_expected_tokens(context, symbols, YYNTOKENS);
  if (count < 0) return count;
  for (int i = 0; i < count; i++) tokens[i] = token_of_symbol(symbols[i]);
  parser_syntax_error(parser, tokens, count);
  return 0;
}
