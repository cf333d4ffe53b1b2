" Rules of petrigate
if exists('b:current_syntax') | finish | endif

syntax iskeyword @,48-57,_,-
syntax match petrigateStatement /^\s*\%(shadow\s\+\)\?\%(require\|block\|limit\|allow\|map\|success\|example\|prove\)\>/
syntax keyword petrigateWord before once unless via to per successful since after until with same for each at in a row of or because
syntax keyword petrigateWord runs exactly reads writes when as not never without reachable at-most always-possible conserved exclusive deadlock-free no-terminal-states only narrower-than no-failure-locks while but its own budget
syntax keyword petrigateConstant human-approval human-approvals elicit cli url web webhook session user second minute hour day
syntax match petrigateNumber /\<\d\+\>/
syntax region petrigateString start=/"/ skip=/\\./ end=/"/ oneline
syntax match petrigateRegex +\s\zs/\%(\\.\|[^/]\)*/i\?\ze\s\+as\>+
syntax match petrigateComment /#.*$/

highlight default link petrigateStatement Statement
highlight default link petrigateWord Keyword
highlight default link petrigateConstant Constant
highlight default link petrigateNumber Number
highlight default link petrigateString String
highlight default link petrigateRegex String
highlight default link petrigateComment Comment

let b:current_syntax = 'petrigate'
