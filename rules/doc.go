// Package rules reads the .rules language and compiles it to nets for package
// gate. One statement a line says what an agent may do:
//
//	require backup before delete               # a success of backup unlocks one delete
//	require test before deploy once            # one success is enough for the session
//	require copy before move with same path    # a success unlocks calls of its own path
//	require human-approval before deploy       # a person is asked, every time
//	block rm because "Use trash."
//	block send_email after fetch_url           # from the first fetch on
//	limit push to 3 per session
//	limit push to 1 per successful test        # each success of test gives one push back
//	limit fetch to 100 per minute              # calls come back with time
//	map bash.command runs rm as delete         # names a bash call by what its script runs
//	map charge when "args.amount > 100" as big # names a call by its arguments
//	block bash unless safe                     # calls that are certainly safe are exempt
//	shadow block big                           # records what it would refuse
//	example bash.command "ls; rm x" as delete  # checked when the file is loaded
//	prove never deploy before test             # what must hold of all of it
//
// [Parse] reads a file to its end and reports every error with its place,
// [Compile] makes nets of the files of a policy, [Load] does both. The nets hold
// the names that the maps give, so that nothing but them has to be passed on:
//
//	compiled, err := rules.Load(os.DirFS("."), "safety.rules")
//	...
//	policy, err := gate.NewPolicy(compiled.Nets, gate.PolicyOptions{})
//
// # Grammar
//
//	file      = { [ statement ] [ "#" comment ] LF } ;
//	statement = [ "shadow" ] rule | allow | map | success | example | prove ;
//	rule      = "require" ( names | name { "or" name } ) "before" names [ [ "once" ] [ since ] | since "once" ] [ key ] ends
//	          | "require" [ count ] "human-approval" [ "via" channel ] "before" names [ after ] ends
//	          | "block" names [ after ] ends
//	          | "limit" names "to" count ( per | "at" "once" | "in" "a" "row" ) [ key ] ends
//	          | "limit" names "to" count "of" field "per" span [ key ] ends ;
//	allow     = "allow" names [ because ] ;
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
//	map       = "map" names "." field pattern "as" name
//	          | "map" names "when" cel "as" name ;
//	success   = "success" names "when" cel ;
//	pattern   = word | regex | "runs" [ "exactly" ] word { word } | ( "reads" | "writes" ) glob { glob } ;
//	example   = "example" ( names "." field text | names object ) [ "not" ] "as" name ;
//	prove     = "prove" claim ;
//	claim     = "never" names [ "before" names | "after" names [ "until" names ] | "while" names
//	              | "without" [ count ] "human-approval" ]
//	          | "at-most" count names "per" ( span | name )
//	          | "only" names [ "without" "human-approval" ]
//	          | ( "reachable" | "no-failure-locks" ) names
//	          | "always-possible" names [ "but" "for" "its" "own" "budget" ]
//	          | "narrower-than" name                                             (* a file *)
//	          | ( "conserved" | "deadlock-free" | "no-terminal-states" ) name    (* of a net *)
//	          | "exclusive" name "," name { "," name } ;                         (* of places *)
//	name      = bare | quoted ;
//	regex     = "/" RE2 "/" [ "i" ] ;
//
// Lines end at LF. Words are separated by tabs (also vertical ones), form
// feeds, carriage returns, spaces, U+FEFF and the Unicode separators; any other
// control character is an error. A # starts a comment, except inside quotes or
// a regex. The text is UTF-8.
//
// A bare name runs to the next separator or #, in a list also to a comma. With *
// (any run of characters) or ? (one character) it is a glob over the names of a call; "tool.action" is
// the tool called with that action. A quoted name is a JSON string, not empty,
// and stands for itself: no glob, no action, no keyword.
//
// A count is a decimal integer from 1 to 2147483647 without sign or leading zero.
//
// # Rules
//
// unless exempts calls that certainly carry one of the names: the name of the
// tool, an action, a name that runs gives where the whole script is such, or one
// by an expression that is true. A name by a word or a regex is never certain, and an
// error there.
//
// Without once each call of B needs a success of A of its own. A limit per user
// counts all sessions of a principal. One per second, minute, hour or day gives
// calls back one by one, each after its share of the time. "per C" gives one
// back for each call of C, "per successful C" for each that succeeds.
//
// Refusals and questions of a rule begin with the text after because, a JSON string.
//
// A rule in shadow keeps its state and records what it would have refused, and
// refuses nothing.
//
// # What a rule may speak of
//
// Several names of a rule stand for one rule each: with "require A, B before C, D",
// each of C and D needs each of A and B. A limit on several names is one, for all of them
// together. "require A or B before C" takes a success of either. allow names calls that
// pass where the default is to deny.
//
// since makes a success good only for what it was made of: with "require test before
// push since edit_file", a call of edit_file takes the success of test away, also one
// that fails, and a test that was under way at the same time earns nothing. With once and
// since, in any order, a success serves all calls until the next call after since. "block B
// after A until C" and "require human-approval before B after A" hold from a call of A,
// whatever comes of it, until a success of C, else to the end of the session.
//
// With a key a rule stands once for each value of a field: a backup of one path unlocks
// the delete of that path only. A field is a key of the arguments, a path that begins
// with "$.", or a CEL expression in quotes. "with same src as path" compares the src of
// the first call with the path of the second; "result.$.path" is a part of the result of
// the first. Values compare as JSON values. An array needs every one of its elements. A
// call without a value is refused where the rule restricts it, and earns nothing. Calls
// after since have the field of the calls that wait; one without it takes every success
// away.
//
// "at once" limits the calls under way, "in a row" equal calls with no other between
// them, and "to 1000 of amount per day" the sum of a field. "require 2 human-approvals"
// needs two different people.
//
// # Maps
//
// The first dot outside quotes divides tool and field; the field is one key of
// the arguments, or, where it begins with "$.", a path: $.request.method,
// $.files[*].path, $.args[0], $["odd key"]. A word is found as a whole word,
// with a boundary only where it begins or ends with an ASCII letter, digit or
// underscore. A regex is RE2 with ASCII classes, may hold spaces and #, and
// writes / as \/.
//
// runs reads the field as a shell script and finds the commands that it would
// run; more words narrow it. What cannot be told (a script that does not parse, $X)
// is restricted as if it matched, and is never evidence. A word of the command
// that needs it stands in quotes. As the last word * says that any arguments will do for an
// exemption and for evidence, exactly that none but inert ones will. reads and writes find
// the files that the script would read or write: one of several patterns, in which * is any
// text, is enough. Such names restrict, and prove and exempt nothing. when is a CEL expression
// over args, tool, upstream and annotations, in a JSON string; where it fails, the call is
// restricted too. A key that differs from the field in letter case only counts as
// well: the field then stands for all their values, as a restriction only. Maps
// apply to every rule of the policy, wherever they stand.
//
// The tool of a map may be a glob, "map *.path /\.env/ as secret", or a list, "map Edit,
// Write.path /\.env/ as secret".
//
// success says when calls of a tool succeed whose results say nothing of an error: a CEL
// expression over result, which is the structured content or the JSON of a result, and
// text. Where it does not hold, or fails, the call has failed. Of several about one tool
// all must hold.
//
// An example shows what the maps make of a call: the text of one field, or all
// arguments as a JSON object. Maps whose examples fail do not load.
//
// # Claims
//
// The nets of rules are named after their
// statements, as require-backup-before-delete; hand-written ones have a name.
// [Compile] carries claims along and proves nothing.
//
// # Positions
//
// Lines and columns count from 1, columns in characters (Unicode code points).
// A byte order mark at the start of a file has no column.
package rules
