package lsp

import (
	"strings"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/rules"
)

// A form is the syntax of a kind of statement, with an explanation of what the statement means.
//
// In the syntax, lower-case words are keywords and upper-case words are operands (see operands). [
// ] encloses an optional part, ( | ) encloses alternatives, and <name> is a clause. In the
// explanation, {A} stands for the operand A.
type form struct{ form, explanation string }

// forms is the table of all statements. If a line matches several forms, the first one is used. To
// appear in completions and hovers, a new kind of statement needs only an entry here.
var forms = []form{
	{"[<shadow>] require human-approval [<via>] before B [<after> [<until>]] [<unless>] [<because>]", "A person must approve each call to {B}."},
	{"[<shadow>] require N human-approvals [<via>] before B [<after> [<until>]] [<unless>] [<because>]", "{N} different people must approve each call to {B}."},
	{"[<shadow>] require A before B [<since>] [<same>] [<unless>] [<because>]", "Each call to {B} requires its own successful call to {A} first."},
	{"[<shadow>] require A before B once [<same>] [<unless>] [<because>]", "Calls to {B} require that one call to {A} has succeeded in the session."},
	{"[<shadow>] require A before B (once since S | since S once) [<same>] [<unless>] [<because>]", "Calls to {B} require that one call to {A} has succeeded in the session since the last call to {S}, failed calls to {S} included."},
	{"[<shadow>] require EITHER before B [<since>] [<same>] [<unless>] [<because>]", "Each call to {B} requires its own successful call to one of these first: {EITHER}."},
	{"[<shadow>] require EITHER before B once [<same>] [<unless>] [<because>]", "Calls to {B} require that one of these has succeeded in the session: {EITHER}."},
	{"[<shadow>] require EITHER before B (once since S | since S once) [<same>] [<unless>] [<because>]", "Calls to {B} require that one of these has succeeded in the session since the last call to {S}, failed calls to {S} included: {EITHER}."},
	{"[<shadow>] block B after F until X [<unless>] [<because>]", "After a call to {F}, even a failed one, {B} is blocked until {X} succeeds."},
	{"[<shadow>] block B after F [<unless>] [<because>]", "After a call to {F}, even a failed one, {B} is blocked for the rest of the session."},
	{"[<shadow>] block A [<unless>] [<because>]", "{A} is always blocked."},
	{"[<shadow>] limit A to N per session [<key>] [<unless>] [<because>]", "A session can make at most {N} calls to {A}."},
	{"[<shadow>] limit A to N per user [<key>] [<unless>] [<because>]", "All sessions of a user together can make at most {N} calls to {A}."},
	{"[<shadow>] limit A to N per " + timeSpans + " [<key>] [<unless>] [<because>]", "At most {N} calls to {A} in a burst; the budget then refills evenly over time, one call after another."},
	{"[<shadow>] limit A to N per user per " + timeSpans + " [<key>] [<unless>] [<because>]", "All sessions of a user together can make at most {N} calls to {A} in a burst; the budget then refills evenly over time, one call after another."},
	{"[<shadow>] limit A to N at once [<key>] [<unless>] [<because>]", "At most {N} calls to {A} can be in flight at once; a call with an unknown outcome stays in flight."},
	{"[<shadow>] limit A to N in a row [<unless>] [<because>]", "At most {N} identical calls to {A} can follow one another without another call between them."},
	{"[<shadow>] limit A to N of M <span> [<key>] [<unless>] [<because>]", "The sum of {M} over the calls to {A} is at most {N} per {span}."},
	{"[<shadow>] limit A to N per successful C [<key>] [<unless>] [<because>]", "At most {N} calls to {A}; each successful call to {C} refills one."},
	{"[<shadow>] limit A to N per C [<key>] [<unless>] [<because>]", "At most {N} calls to {A}; each call to {C}, even a failed one, refills one."},
	{"allow A [<because>]", "Allows calls to {A} if the default is deny; an allow refuses nothing."},
	{"map T runs exactly WORDS as L", "A call to {T} that would run the command {WORDS} is also a call to {L}; with other arguments, it is neither exempt nor evidence."},
	{"map T runs WORDS as L", "A call to {T} that would run the command {WORDS} is also a call to {L}."},
	{"map T reads GLOBS as L", "A call to {T} whose script would read one of these files is also a call to {L}: {GLOBS}"},
	{"map T writes GLOBS as L", "A call to {T} whose script would write one of these files is also a call to {L}: {GLOBS}"},
	{"map TOOL when CEL as L", "If {CEL} is true, a call to {TOOL} is also a call to {L}."},
	{"map T PATTERN as L", "A call with {PATTERN} in {T} is also a call to {L}."},
	{"success A when CEL", "A call to {A} counts as failed unless {CEL} holds for its result."},
	{"example T TEXT as L", "A call with {TEXT} in {T} must get the name {L}; checked when the file is loaded."},
	{"example T TEXT not as L", "A call with {TEXT} in {T} must not get the name {L}; checked when the file is loaded."},
	{"example TOOL OBJECT as L", "A call to {TOOL} with {OBJECT} must get the name {L}; checked when the file is loaded."},
	{"example TOOL OBJECT not as L", "A call to {TOOL} with {OBJECT} must not get the name {L}; checked when the file is loaded."},
	{"prove never A without human-approval [<via>]", "A claim: no run calls {A} without human approval."},
	{"prove never A without N human-approvals [<via>]", "A claim: no run calls {A} without the approval of {N} different people."},
	{"prove never A before B [<same>]", "A claim: no run calls {A} without its own successful {B} first."},
	{"prove never A before B once [<same>]", "A claim: no run calls {A} before {B} has succeeded once."},
	{"prove never A after F [<lacking>] [<until>]", "A claim: no run calls {A} once {F} has been called."},
	{"prove never A while F", "A claim: no run calls {A} while a call to {F} is in flight."},
	{"prove never A", "A claim: no run ever calls {A}."},
	{"prove at-most N A [<key>] <span>", "A claim: no run makes more than {N} calls to {A} per {span}."},
	{"prove at-most N A <span> <key>", "A claim: no run makes more than {N} calls to {A} per {span}."},
	{"prove at-most N A [<key>] per successful F", "A claim: no run makes more than {N} calls to {A} without a success of {F} between them."},
	{"prove at-most N A [<key>] per F", "A claim: no run makes more than {N} calls to {A} without a call to {F} between them."},
	{"prove at-most N A per successful F <key>", "A claim: no run makes more than {N} calls to {A} without a success of {F} between them."},
	{"prove at-most N A per F <key>", "A claim: no run makes more than {N} calls to {A} without a call to {F} between them."},
	{"prove only A [<lacking>]", "A claim: no run makes calls other than those to {A}."},
	{"prove narrower-than FILE", "A claim: the policy in {FILE} allows every call that this policy allows."},
	{"prove reachable A", "A claim: some run calls {A}."},
	{"prove always-possible A", "A claim: from every reachable state, some successful calls lead to a call to {A}."},
	{"prove always-possible A but for its own budget", "A claim: from every reachable state, some successful calls lead to a call to {A}, if its own limits are ignored."},
	{"prove no-failure-locks A", "A claim: no failed call makes {A} unreachable where a successful one would not."},
	{"prove conserved NET", "A claim: the weighted sum of the tokens of {NET} is constant."},
	{"prove deadlock-free NET", "A claim: no run leads {NET} to a state in which none of its tools can be called."},
	{"prove no-terminal-states NET", "A claim: {NET} has no terminal state."},
	{"prove exclusive PLACES", "A claim: no two of the places {PLACES} are marked at once."},
}

// channels is a choice between all approval channels, in the notation of [form].
var channels = "(" + strings.Join(channel.Names(nil), " | ") + ")"

// timeSpans is a choice between all time spans, in the notation of [form].
var timeSpans = "(" + strings.Join(rules.TimeSpans(), " | ") + ")"

// clauses contains the parts that several forms share, keyed by name. The explanation of a clause
// is appended to that of the statement.
var clauses = map[string]form{
	"shadow":  {"shadow", "In shadow: it records the calls that it would refuse, and refuses nothing."},
	"via":     {"via " + channels + "", "Only answers via the channel {via} count."},
	"after":   {"after F", "Only after a call to {F}."},
	"until":   {"until X", "A successful call to {X} ends the rule."},
	"since":   {"since S", "A call to {S}, even a failed one, cancels the success."},
	"same":    {"with same K", "It applies to each value separately: the calls must have the same {K}."},
	"lacking": {"without (human-approval | N human-approvals) [via " + channels + "]", "Calls with human approval do not count."},
	"key":     {"(for each K | with same K)", "It counts each value of {K} separately."},
	"span":    {"per (session | user | [user per] " + timeSpans + ")", ""},
	"unless":  {"unless U", "Calls that certainly have the name {U} are exempt."},
	"because": {"because WHY", "Its refusals and questions begin with these words: {WHY}"},
}

// reservedNames lists the words that must be quoted if they are used as names of tools, labels or
// actions.
var reservedNames = []string{"human-approval", "human-approvals"}

// operands contains the syntax of the operands that occur in statements, keyed by name.
var operands = map[string]class{
	"A": callNames, "B": callNames, "F": callNames, "X": callNames, "S": callNames, "U": callNames, "C": callName,
	"EITHER": either, "K": key, "M": field,
	"N": count, "T": target, "TOOL": tool, "L": label, "WORDS": command, "GLOBS": command,
	"PATTERN": pattern, "CEL": quotedText, "WHY": quotedText, "TEXT": quotedText, "OBJECT": object,
	"NET": net, "FILE": file, "PLACES": places,
}

// A class describes the syntax of an operand.
type class uint8

const (
	callNames  class = iota // names of tools, labels or actions, or patterns that match such names, separated by commas
	callName                // name of one tool, label or action, or a pattern that matches such names
	either                  // at least two names or patterns, separated by "or"
	key                     // fields separated by commas, each optionally followed by "as" and the name of the corresponding field in a related call
	field                   // field in the arguments or the result of a call
	count                   // number
	target                  // tools separated by commas, then a dot and a field
	tool                    // tools separated by commas
	label                   // name that a map statement assigns
	command                 // words of a shell command, or file patterns, up to the keyword "as"
	pattern                 // word or /regular expression/
	quotedText              // JSON string
	object                  // JSON object
	net                     // name of a net
	file                    // path of a file
	places                  // names of places in a net
)
