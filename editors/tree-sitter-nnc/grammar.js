// The grammar of nnc programs for tree-sitter: that of compiler/syntax/net.y, without its messages for mistakes.
//
// Newlines end statements where they may; src/scanner.c decides that as compiler/syntax/layout.c does. Some words begin a
// statement or a clause and are ordinary names elsewhere; they are in `contextual`.

const PREC = { ternary: 1, or: 2, and: 3, compare: 4, range: 5, add: 6, multiply: 7, unary: 8, power: 9, postfix: 10 };

const contextual = ['data', 'input', 'state', 'train', 'predict', 'generate', 'optimizer', 'along', 'init', 'schedule',
  'stream', 'params', 'extern', 'recompute', 'gradient', 'option'];

const list1 = (rule) => seq(rule, repeat(seq(',', rule)));
const list = (rule) => optional(seq(list1(rule), optional(',')));

module.exports = grammar({
  name: 'nnc',
  word: ($) => $.identifier,
  externals: ($) => [$._newline],
  extras: ($) => [/[\s\uFEFF]/, $.comment],
  supertypes: ($) => [$._statement, $._expression],
  inline: ($) => [$._name, $._separators],

  rules: {
    source_file: ($) => optional($._statements),
    _statements: ($) => seq($._statement, repeat(seq($._separators, $._statement)), optional($._separators)),
    _separators: ($) => repeat1($._separator),
    _separator: ($) => choice($._newline, ';'),
    block: ($) => seq('{', optional($._statements), '}'),

    // ---- statements ----

    _statement: ($) => choice(
      $.const_statement, $.option_statement, $.input_statement, $.variable_statement, $.data_block, $.train_block,
      $.predict_block, $.generate_block, $.function_definition, $.definer_definition, $.extern_definition,
      $.assignment, $.store, $.for_statement, $.if_statement, $.return_statement, $.yield_statement),

    const_statement: ($) => seq('const', list1($.binding)),
    binding: ($) => seq(field('name', $._name), '=', field('value', $._expression)),
    option_statement: ($) => seq('option', field('name', $._name), '=', field('value', $._expression),
      optional(seq('in', field('limits', $._expression)))),
    input_statement: ($) => seq('input', field('name', $._name), ':', field('type', $.type)),
    variable_statement: ($) => seq(choice('param', 'state', 'stream'), field('name', $._name),
      optional(seq(':', field('type', $.type))), optional(seq('=', field('value', $._expression)))),

    data_block: ($) => seq('data', field('name', $._name), $.data_entries),
    train_block: ($) => seq('train', $.entries),
    predict_block: ($) => seq('predict', $.entries),
    generate_block: ($) => seq('generate', $.entries),
    entries: ($) => seq('{', optional($._entry_list), '}'),
    _entry_list: ($) => seq($._entry, repeat(seq($._between, $._entry)), optional($._between)),
    _entry: ($) => choice($.entry, $.params_group),
    _between: ($) => choice($._separators, ','),
    entry: ($) => seq(field('name', $.names), '=', field('value', $._expression)),
    params_group: ($) => seq('params', list1($.string), $.entries),
    data_entries: ($) => seq('{', optional($._data_list), '}'),
    _data_list: ($) => seq($.data_entry, repeat(seq($._between, $.data_entry)), optional($._between)),
    data_entry: ($) => seq(field('name', $.names), '=', field('source', $._expression),
      repeat(seq('|', field('stage', $._expression)))),

    function_definition: ($) => seq('def', field('name', $._name), $.formals, field('body', $.block),
      optional($.gradient)),
    definer_definition: ($) => seq(choice('optimizer', 'init', 'schedule'), field('name', $._name), $.formals,
      field('body', $.block)),
    extern_definition: ($) => seq('extern', field('name', $._name), $.formals, ':', field('result', $.type),
      $.entries, optional($.gradient)),
    gradient: ($) => seq('gradient', $.formals, field('body', $.block)),
    formals: ($) => seq('(', list($.formal), ')'),
    formal: ($) => seq(field('name', $._name), optional(seq(':', field('type', $.type))),
      optional(seq('=', field('default', $._expression)))),

    assignment: ($) => seq(field('left', $.names), '=', field('right', $._expression)),
    store: ($) => seq(field('left', $.names), '<-', field('right', $._expression)),
    for_statement: ($) => seq('for', field('pattern', $._pattern), 'in', field('sequence', $._expression),
      field('body', $.block)),
    if_statement: ($) => seq('if', field('condition', $._expression), field('then', $.block),
      optional(seq('else', field('otherwise', choice($.block, $.if_statement))))),
    return_statement: ($) => seq('return', list1($._expression)),
    yield_statement: ($) => seq('yield', list1($._expression)),

    names: ($) => list1($._name),
    _pattern: ($) => choice($.names, seq('(', $.names, ')')),

    // ---- types ----

    type: ($) => choice(
      field('element', $.identifier),
      seq(optional(field('element', $.identifier)), '[', optional(choice('...', seq(list1($._expression), optional(',')))), ']')),

    // ---- expressions ----

    _expression: ($) => choice($._operand, $.scan),
    _operand: ($) => choice(
      $._name, $.number, $.quantity, $.string, $.boolean, $.tuple, $.list, $.parenthesized, $.ternary, $.binary,
      $.unary, $.range, $.member, $.call, $.index),

    parenthesized: ($) => seq('(', $._expression, ')'),
    tuple: ($) => seq('(', $._expression, ',', list($._expression), ')'),
    list: ($) => seq('[', list($._expression), ']'),
    ternary: ($) => prec.right(PREC.ternary, seq(field('condition', $._operand), '?', field('then', $._expression), ':',
      field('otherwise', $._expression))),
    range: ($) => prec.left(PREC.range, seq(field('from', $._operand), '..', field('to', $._operand))),
    unary: ($) => prec(PREC.unary, seq(choice('-', '!'), $._operand)),
    binary: ($) => choice(...[
      ['||', PREC.or], ['&&', PREC.and], ['==', PREC.compare], ['!=', PREC.compare], ['<', PREC.compare],
      ['>', PREC.compare], ['<=', PREC.compare], ['>=', PREC.compare], ['+', PREC.add], ['-', PREC.add],
      ['*', PREC.multiply], ['/', PREC.multiply], ['//', PREC.multiply], ['%', PREC.multiply], ['@', PREC.multiply],
    ].map(([operator, level]) => prec.left(level,
      seq(field('left', $._operand), field('operator', operator), field('right', $._operand)))).concat(
      prec.right(PREC.power, seq(field('left', $._operand), field('operator', '^'), field('right', $._operand))))),
    // A call inside of a layer goes by its number: net.linear.0.w.
    member: ($) => prec(PREC.postfix, seq(field('object', $._operand), '.',
      field('name', choice($._name, alias(token.immediate(/[0-9]+/), $.call_number))))),
    call: ($) => prec(PREC.postfix, seq(field('function', $._operand), $.arguments)),
    arguments: ($) => seq('(', list(choice($._expression, $.named_argument)), ')'),
    named_argument: ($) => seq(field('name', choice($._name, alias('with', $.identifier))), '=',
      field('value', $._expression)),
    index: ($) => prec(PREC.postfix, seq(field('object', $._operand), '[', list1($._index), optional(','), ']')),
    _index: ($) => choice($._expression, '...', $.slice),
    slice: ($) => seq(optional($._expression), ':', optional($._expression),
      optional(seq(':', optional($._expression)))),

    scan: ($) => seq('scan', field('pattern', $._pattern), 'in', field('sources', list1($._expression)),
      optional(seq('along', field('along', $._operand))), optional('recompute'),
      optional(seq('with', list1($.binding))), field('body', $.block)),

    // ---- words ----

    _name: ($) => choice($.identifier, alias(choice(...contextual), $.identifier)),
    identifier: () => /[A-Za-z_][A-Za-z0-9_]*/,
    quantity: ($) => prec(1, seq($.number, field('unit', $.identifier))),
    number: () => /\d+(\.\d+)?([eE][+-]?\d+)?/,
    boolean: () => choice('true', 'false'),
    string: ($) => seq('"', repeat(choice(token.immediate(prec(1, /[^"\\\n]+/)), $.escape)), '"'),
    escape: () => token.immediate(/\\./),
    comment: () => token(seq('#', /.*/)),
  },
});
