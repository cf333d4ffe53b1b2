// Package rules reads the .rules language and compiles it to nets for package
// gate. One statement a line says what an agent may do:
//
//	require backup before delete            # a success of backup unlocks one delete
//	require human-approval before deploy    # a person is asked, every time
//	block rm
//	limit push to 3 per session
//	limit push to 1 per test                # each call of test gives one push back
//	map bash.command rm as delete           # names a bash call by its arguments
//	prove never deploy before test          # what must hold of all of it
//
// [Parse] reads a file to its end and reports every error with its place,
// [Compile] makes nets of the files of a policy, [Load] does both.
//
// # Grammar
//
//	file      = { [ statement ] [ "#" comment ] LF } ;
//	statement = "require" name "before" name
//	          | "require" "human-approval" "before" name
//	          | "block" name
//	          | "limit" name "to" count "per" ( "session" | name )
//	          | "map" name "." field ( word | regex ) "as" name
//	          | "prove" claim ;
//	claim     = "never" name [ "before" name | "without" "human-approval" ]
//	          | "at-most" count name "per" "session"
//	          | ( "reachable" | "always-possible" ) name
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
// A bare name runs to the next separator or #. With * (any run of characters)
// or ? (one character) it is a glob over the names of a call; "tool.action" is
// the tool called with that action. A quoted name is a JSON string, not empty,
// and stands for itself: no glob, no action, no keyword.
//
// A count is a decimal integer from 1 to 2147483647 without sign or leading zero.
//
// In a map, the first dot outside quotes divides tool and field; the field is
// one key of the arguments. A word is found as a whole word, with a boundary
// only where it begins or ends with an ASCII letter, digit or underscore. A
// regex is RE2 with ASCII classes, may hold spaces and #, and writes / as \/.
// Maps apply to every rule of the policy, wherever they stand.
//
// A comma ends a bare name of a place. The nets of rules are named after their
// statements, as require-backup-before-delete; hand-written ones have a name.
// [Compile] carries claims along and proves nothing.
//
// The words once, unless, via, runs, when, successful, the time windows
// and fields that begin with $. belong to later versions. They are errors where
// those versions would give them a meaning: nothing is ignored.
//
// # Positions
//
// Lines and columns count from 1, columns in characters (Unicode code points).
// A byte order mark at the start of a file has no column.
package rules
