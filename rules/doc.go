// Package rules reads the .rules language and compiles it to nets for package gate. A file has one
// statement per line; together they define what an agent can do:
//
//	require backup before delete               # a successful call to backup unlocks one delete
//	require test before deploy once            # one success is enough for the session
//	require copy before move with same path    # a success unlocks calls with its own path
//	require human-approval before deploy       # a person is asked, every time
//	block rm because "Use trash."
//	block send_email after fetch_url           # from the first fetch on
//	limit push to 3 per session
//	limit push to 1 per successful test        # each successful call to test gives one push back
//	limit fetch to 100 per minute              # refilled one call at a time
//	map bash.command runs rm as delete         # names a bash call by what its script runs
//	map charge when "args.amount > 100" as big # names a call by its arguments
//	block bash unless safe                     # calls that are certainly safe are exempt
//	shadow block big                           # records refusals, but refuses nothing
//	example bash.command "ls; rm x" as delete  # checked when the file is loaded
//	prove never deploy before test             # a claim about the whole policy
//
// [Parse] parses a file and reports all errors with their positions, [Compile] compiles the files
// of a policy to nets, and [Load] does both. The nets include the map statements, so package gate
// needs nothing else:
//
//	compiled, err := rules.Load(os.DirFS("."), "safety.rules")
//	...
//	policy, err := gate.NewPolicy(compiled.Nets, gate.PolicyOptions{})
//
// The main types are [File], [Compiled] and one type per kind of statement, such as [Require],
// [Block], [Limit] and [Map]. The files parse*.go parse statements, print.go prints the canonical
// form, and compile.go generates nets (nets*.go, compile_map.go) and finds errors and warnings
// (check*.go). The package has no goroutines and no locks. Compiling a File does not change its
// statements.
//
// # Grammar
//
//	file      = { [ statement ] [ "#" comment ] LF } ;
//	statement = [ "shadow" ] rule | allow | map | success | example | prove ;
//	rule      = "require" ( names | name { "or" name } ) "before" names [ [ "once" ] [ since ] | since "once" ] [ key ] ends
//	          | "require" approval [ "via" channel ] "before" names [ after ] ends
//	          | "block" names [ after ] ends
//	          | "limit" names "to" count ( per | "at" "once" ) [ key ] ends
//	          | "limit" names "to" count "in" "a" "row" ends
//	          | "limit" names "to" count "of" field "per" span [ key ] ends ;
//	allow     = "allow" names [ because ] ;
//	approval  = [ count ] "human-approval" | count "human-approvals" ;
//	names     = name { "," name } ;
//	since     = "since" names ;
//	after     = "after" names [ "until" names ] ;
//	key       = "for" "each" field { "," field }
//	          | "with" "same" field [ "as" field ] { "," field [ "as" field ] } ;
//	field     = word | [ "result." ] path | cel ;
//	ends      = [ "unless" names ] [ because ] ;
//	because   = "because" text ;
//	channel   = "elicit" | "url" | "web" | "cli" | "webhook" ;
//	per       = "per" ( span | [ "successful" ] name ) ;
//	span      = "session" | "user" | [ "user" "per" ] ( "second" | "minute" | "hour" | "day" ) ;
//	map       = "map" names "." ( word | path ) pattern "as" name
//	          | "map" names "when" cel "as" name ;
//	success   = "success" names "when" cel ;
//	pattern   = word | regex | "runs" [ "exactly" ] word { word } | ( "reads" | "writes" ) glob { glob } ;
//	example   = "example" ( names "." word text | names object ) [ "not" ] "as" name ;
//	prove     = "prove" claim ;
//	claim     = "never" names [ "before" names [ "once" ] [ key ] | "after" names [ without ] [ "until" names ]
//	              | "while" names | without ]
//	          | "at-most" count names [ key ] "per" ( span | [ "successful" ] names ) [ key ]    (* at most one key *)
//	          | "only" names [ without ]
//	          | ( "reachable" | "no-failure-locks" ) names
//	          | "always-possible" names [ "but" "for" "its" "own" "budget" ]
//	          | "narrower-than" name                                             (* a file *)
//	          | ( "conserved" | "deadlock-free" | "no-terminal-states" ) name    (* of a net *)
//	          | "exclusive" name "," name { "," name } ;                         (* of places *)
//	without   = "without" ( "human-approval" | count "human-approvals" ) [ "via" channel ] ;
//	name      = bare | quoted ;
//	regex     = "/" RE2 "/" [ "i" ] ;
//
// Only LF ends a line. Words are separated by horizontal and vertical tabs, form feeds, carriage
// returns, spaces, U+FEFF and the Unicode separators; any other control character is an error. A #
// starts a comment, except inside quotes or a regex. The text is UTF-8.
//
// A bare name extends to the next separator or #. In a list, a comma at the end of a name is not
// part of it. After "unless" and in claims, a name ends at any comma. A bare name with * (any
// sequence of characters) or ? (any single character) is a glob over the names of a call;
// "tool.action" is the tool called with that action. A quoted name is a non-empty JSON string and
// literal: not a glob, an action or a keyword.
//
// A count is a decimal integer from 1 to 2147483647 without a sign or leading zeros.
//
// # Rules
//
// The clause "unless" exempts calls that certainly have one of its names. A tool's name and an
// action are certain. A name given by "runs" is certain if the script does nothing else, and a name
// given by an expression if the expression is true. A name given by a word, a regex, "reads" or
// "writes" is never certain, so it is an error after "unless" and in an "allow" statement.
//
// In "require A before B", each call to B needs its own successful call to A, unless "once" is
// added. A limit per user counts all sessions of a principal. A limit per second, minute, hour or
// day is refilled one call at a time, evenly over the span. A limit "per C" is refilled by one call
// for each call to C, and a limit "per successful C" for each call to C that succeeds.
//
// Refusals and questions of a rule begin with the text after "because", which is a JSON string.
//
// A shadow rule keeps its state and records refusals, but refuses nothing.
//
// # Lists, clauses and keys
//
// A rule with several names is equivalent to one rule for each name: with "require A, B before C,
// D", each of C and D needs both A and B. A limit on several names is a single limit on all of them
// together. "require A or B before C" accepts a successful call to either. An "allow" statement
// lists calls that pass although the policy denies calls by default.
//
// The clause "since" limits how long a success counts: with "require test before push since
// edit_file", a call to edit_file cancels the successful call to test, even if the call to
// edit_file fails, and a test that was under way at the same time unlocks nothing. With both "once"
// and "since", in any order, one success is enough for all calls until the next call named after
// "since". "block B after A until C" and "require human-approval before B after A" apply from a
// call to A, whatever its outcome, until a successful call to C or the end of the session.
//
// With a key, a rule applies separately to each value of a field: a backup of one path unlocks only
// the delete of that path. A field is a key of the arguments, a path that begins with "$." or "$[",
// or a CEL expression in quotes. "with same src as path" compares the src of the first call with
// the path of the second; "result.$.path" is a part of the first call's result. Values are compared
// as JSON values. An array needs a successful call for each of its elements. A call without a value
// is refused if the rule restricts it, and otherwise unlocks and refills nothing. For a call named
// after "since", the field is the same as for the second call; without this field, the call cancels
// all successes.
//
// "at once" limits the calls under way, "in a row" consecutive identical calls, and "to 1000 of
// amount per day" the sum of a field. "require 2 human-approvals" needs two different people.
//
// # Maps
//
// The first dot outside quotes separates tool and field. The field is a key of the arguments or, if
// it begins with "$." or "$[", a path: $.request.method, $.files[*].path, $.args[0], $["odd key"].
// A word matches as a whole word, with a boundary only where it begins or ends with an ASCII
// letter, digit or underscore. A regex is RE2 with ASCII classes, can contain spaces and #, and
// escapes / as \/.
//
// The keyword "runs" reads the field as a shell script and finds the commands that it would run;
// more words narrow the match. If a match is uncertain (because the script does not parse or
// contains $X, for example), the call is restricted as if it matched, but it unlocks and refills
// nothing. Words of the command can be quoted. A call is exempt, or unlocks or refills something,
// only if the other arguments of the command do not change its effect; a * as the last word allows
// any arguments. With "exactly", the same condition applies to restrictions. The keywords "reads"
// and "writes" find the files that the script would read or write: one match of several patterns is
// enough, and * matches any text. The names that they give restrict calls, but unlock, refill and
// exempt nothing. The text after "when" is a CEL expression over args, tool, upstream and
// annotations, in a JSON string; if it fails, the call is restricted as well. If other argument
// keys differ from the field only in letter case, their values also count as values of the field,
// but only for restrictions. Maps apply to every rule of the policy, regardless of their order.
//
// The tool of a map can be a glob, as in "map *.path /\.env/ as secret", or a list, as in "map
// Edit, Write.path /\.env/ as secret".
//
// A "success" statement defines when calls to a tool succeed if their results do not report errors.
// Its condition is a CEL expression over text and over result, which is the structured content or
// the JSON of a result. If the expression is not true or fails, the call has failed. Several
// conditions on one tool must all hold.
//
// An example is a test of the maps: the text of one field, or all arguments as a JSON object, with
// a name that the call must or must not get. Rules with failing examples do not load.
//
// # Claims
//
// Some claims name a net. The net of a rule is named after its statement, for example
// require-backup-before-delete; a hand-written net has its own name. [Compile] returns the claims
// without proving them.
//
// # Positions
//
// Lines and columns count from 1, and columns count characters (Unicode code points). A byte order
// mark at the start of a file has no column.
package rules
