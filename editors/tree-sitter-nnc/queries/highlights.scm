; What is later here has precedence.

(identifier) @variable
(comment) @comment
(string) @string
(escape) @string.escape
(number) @number
(boolean) @constant.builtin
((identifier) @constant.builtin (#any-of? @constant.builtin "none" "pi" "inf" "training"))
(quantity unit: (identifier) @constant.builtin)

["const" "option" "input" "param" "state" "stream" "data" "train" "predict" "generate" "params" "extern"] @keyword
["def" "optimizer" "init" "schedule" "gradient"] @keyword.function
["if" "else"] @keyword.conditional
["for" "in" "scan" "along" "with" "recompute"] @keyword.repeat
["return" "yield"] @keyword.return

["=" "<-" "+" "-" "*" "/" "//" "%" "@" "^" "==" "!=" "<" ">" "<=" ">=" "&&" "||" "!" "?" ".." "|"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter
"..." @punctuation.special

(const_statement (binding name: (identifier) @constant))
(option_statement name: (identifier) @constant)
(formal name: (identifier) @variable.parameter)
(named_argument name: (identifier) @variable.parameter)
(member name: (identifier) @property)
(call_number) @number
(entry name: (names (identifier) @property))
(data_entry name: (names (identifier) @property))

(call function: (identifier) @function.call)
(function_definition name: (identifier) @function)
(definer_definition name: (identifier) @function)
(extern_definition name: (identifier) @function)
(data_block name: (identifier) @module)

(type element: (identifier) @type)
((identifier) @type.builtin (#any-of? @type.builtin "f64" "f32" "f16" "bf16" "i64" "i32" "u8" "bool"))
