package toolnet

import (
	"cmp"
	"time"
)

// A Net is a Petri net whose transitions list tools. The author of a net fills in the fields;
// [NewPolicy] checks the net and never changes it.
type Net struct {
	Name        string
	Places      []string
	Initial     map[string]int // initial marking; places not listed have no tokens
	Terminal    []string       // places that mark a regular end; a deadlock is harmless if any of them is marked
	Free        []string       // names that this net always allows
	Transitions []Transition   // in order of precedence: for each name of a call, the first enabled transition that lists the name is chosen

	// Mapper, Labels and Maps determine the names that calls have in this net. Only one of them is
	// used: Labels if it is set, otherwise Mapper if it is set, otherwise Maps. If all are unset, a
	// call has only its physical names, which do not depend on its arguments.
	Mapper     func(Call) []Name // Go function that returns arbitrary names for a call
	Labels     *Labels           // the policy's labels; set in every net compiled from rules
	Maps       []Map             // the net's own map statements; their names are added to the physical names
	MatchFirst bool              // whether a call that matches entries in Maps gets only the name from the first of them, and no physical names

	// Validate checks each firing of a transition that was chosen for a call, including an
	// observer. It runs before the firing, after all nets have admitted the call and people have
	// approved it. If Validate returns an error or panics, the call is rejected, and all changes to
	// the metadata are undone. Validate runs under the session lock and must not block.
	Validate func(Firing) error

	// OnSuccess is called with the admitted call after a deferred transition has produced its
	// tokens. It may change Meta. It must not block.
	OnSuccess func(Firing)

	// Identity stands for the code of the functions above in the net's fingerprint, which cannot
	// include the code itself. It can be the source text of the functions, or a version. If
	// Identity changes, the net counts as changed.
	Identity string

	Cause          Cause    // kind of constraint that the net imposes on tools
	Because        string   // author's explanation, placed before the text of every refusal and question; may be empty
	Reason         string   // refusal text; empty means a generic text
	Rule           Position // position of the rule in the user's source
	AllowUnbounded bool     // whether the net may be unbounded

	// Key lists fields of a call. A net with a key has a separate marking for each value of the
	// fields. If a call has several values, it passes only if all of their markings permit it. The
	// chosen transitions then fire in all of these markings. A transition without its own key uses
	// the net's key. A net also counts as having a key if only its transitions have keys.
	Key []Field

	// Row makes the net count consecutive identical calls. If an admitted call differs from the
	// previous one in its tool or arguments, the net first returns to its initial marking, even if
	// it does not list the call. Arguments are compared as JSON values: key order, escapes and the
	// spelling of numbers do not matter. Arguments in [PolicyOptions].Ignored are not compared. A
	// refused call changes nothing.
	Row bool

	// Sum limits the sum of a numeric field over all gated calls.
	Sum *Sum

	// Phases are allowlists. While the place of a phase is marked, a call passes only if it is
	// certain to have a name on the phase's list. This applies to free tools, too. A token in
	// flight counts as being in the place that it came from. Under [PolicyOptions].Deny, a name on
	// such a list makes a call known, even while the place is not marked.
	Phases []Phase

	Scope  Scope // which calls share the net's state
	Shadow bool  // record refusals, but never block or ask
	Static bool  // forbid switching the net on or off at run time

	// Priority is the net's rank among all nets. A higher number means a higher rank. The rank
	// determines when an advisory net lets a call pass; see Advisory.
	Priority int

	// Advisory makes the net let calls pass that it would otherwise block, in two cases. In the
	// first case, a net of higher priority is in recovery. In the second case, the net would block
	// all offered tools (see [Session.Offer]) that the required nets and the higher-ranking
	// advisory nets allow, so no tool would be left to call. Advisory nets of equal priority rank
	// by the number of tools they allow, fewest first, and then by name. A net that is not advisory
	// is required: its blocks always take effect.
	Advisory bool
	Recovery map[string]int // the net is in recovery while each place listed here has at least the given number of tokens; nil means never
}

// KeyOf returns t's key fields, or nil if the net has no key or t has no tools.
func (n *Net) KeyOf(t *Transition) []Field {
	switch {
	case len(t.Tools) == 0:
		return nil
	case len(t.Key) > 0:
		return t.Key
	default:
		return n.Key
	}
}

// A Scope determines which calls share a net's state.
type Scope uint8

const (
	ScopeSession   Scope = iota // calls in the same session
	ScopePrincipal              // calls in all sessions of the same principal
	ScopeGlobal                 // all calls of all principals
)

// String returns the scope in lower case.
func (s Scope) String() string {
	return [...]string{"session", "principal", "global"}[s]
}

// A Transition moves tokens from its inputs to its outputs. Both are multisets: listing a place
// twice gives it weight two. A transition without tools is structural and fires by itself.
type Transition struct {
	Name            string
	Inputs, Outputs []string
	Tools           []Tool // tools that the transition gates

	Manual    bool   // require a person's approval of every firing
	Via       string // channel for asking the person; empty means any channel
	Approvals int    // number of different people who must approve a manual firing; 0 means one
	Deferred  bool   // produce the outputs only after a successful result; until then, the tokens are in flight
	Observe   bool   // follow calls to the tools, but never forbid them
	Release   bool   // if the call's outcome is unknown, return the tokens that a deferred firing has taken

	// Evidence makes the success of a call count only for later calls, so that no call can meet its
	// own requirement. Only a deferred observer can have it. If a gating transition of the net
	// fires for the call, the success counts only if the observer is still enabled afterwards.
	//
	// Without Evidence, an enabled observer that shares a name with a gating transition lets calls
	// with this name pass even if the gating transition is not enabled. But if a gating transition
	// fires for the call, the observer does not, so that no call can refill its own limit.
	Evidence bool

	// WeakProgress affects only a net without Labels. Such a net blocks a call if the transition
	// would fire for a weak [Name] and add tokens to a place, because the call might not be the one
	// that the net waits for. If WeakProgress is set, the transition fires anyway.
	WeakProgress bool

	// Spoils makes calls to the transition's tools invalidate earlier successes, so that the calls
	// that the net requires must succeed again. Only an observer that is not deferred can have
	// Spoils. When a call to one of the tools is admitted, the transition fires if it is enabled. A
	// required call counts only if no such call was in flight between its admission and its
	// success.
	//
	// The transition fires even if the call's name is weak or free, if another transition gates the
	// call, or if the call passes although the net would block it. It fires after the transitions
	// chosen for the call, on the remaining tokens, and without validation. It does not fire in an
	// inactive net. But if the call is still in flight when the net is activated, other calls do
	// not count until it ends. In a net with a key, a call without a value affects all values.
	Spoils bool

	// Key lists the key fields of this transition, if they differ from the net's. All keys of a net
	// must have the same number of fields, in the same order.
	Key []Field

	// Unless lists exceptions. If a call is certain to have one of these names, none of the
	// transition's Tools matches it.
	Unless []Tool

	// Every is the period of a timed transition, which has no tools and fires once per period while
	// it is enabled. The clock is [Call.Time].
	Every time.Duration
}

// A Field is the part of a call that a key or a sum reads. Its value is a JSON string, number or
// boolean; an array stands for its elements. A field has no value if it is absent, holds anything
// else, or is ambiguous because another key differs only in letter case. If a transition gates a
// call without a value, the call is refused. The success of such a call does not count toward a
// requirement.
type Field struct {
	Path   string      // argument key, or a path that begins with "$."; see [ParsePath]
	Reader ValueReader // evaluates an expression; if Reader is set, Path is empty
	Number int         // number that identifies the expression to Reader
	Source string      // source text, which is part of the net's identity and appears in messages
	Result bool        // whether Path refers to the result of a successful call; allowed only for deferred observers (see [Transition].Observe)
}

// Name returns the field's source text.
func (f *Field) Name() string { return cmp.Or(f.Source, f.Path) }

// A ValueReader evaluates expressions over calls. It must be comparable and safe for concurrent
// use, and must not block.
type ValueReader interface {
	// Value evaluates an expression for the call and returns a JSON value. number identifies the
	// expression; see [Field]. ok is false if the expression has no value or depends on an
	// ambiguous field.
	Value(c *Call, number int) ([]byte, bool)
}

// A Sum limits the sum of a field over the calls that a transition gates. Each admitted call counts
// once, even if it has several names or fails. In a net with a key, it counts once for each of its
// key values. A call is refused unless its field is a single nonnegative number of at most 100
// characters with an exponent from -100 to 100. The arithmetic is exact.
type Sum struct {
	Field Field         // field to add up; must be an argument
	Most  int           // maximum value of the sum
	Every time.Duration // time for the sum to decrease from Most to 0, at a constant rate; 0 means that the sum never decreases
}

// A Phase is an allowlist that applies while a place is marked.
type Phase struct {
	Place string
	Tools []Tool
}

// A Tool is an entry in [Transition.Tools].
type Tool struct {
	Name string
	Kind ToolKind

	// Except is a name that the pattern of a Glob does not match. If a call is certain to have this
	// name, the pattern matches none of the call's names. If the net lists the name as a [Literal]
	// and not as a [Plain] tool, a name formed from the call's action argument is not excluded,
	// because a Literal never matches such a name.
	Except string

	// Spared affects only entries of [Transition.Unless]. A transition does not apply to a call
	// that matches such an entry. Normally, the call still counts as known because of the
	// transition, so [PolicyOptions].Deny does not refuse it. If Spared is set, the call does not
	// count as known because of the transition. Spared is not part of the net's identity.
	Spared bool `json:"-"`
}

// A ToolKind determines how the name of a [Tool] is interpreted.
type ToolKind uint8

const (
	Plain   ToolKind = iota // a name, which can have the form tool.action; must not contain * or ?
	Literal                 // a name that never matches an action; written in quotes in rules, as in "chat.send"
	Glob                    // a pattern that matches names: * matches any sequence, ? a single character
)

// Tools returns a [Tool] of kind [Plain] for each name, for use in [Transition.Tools]. The names
// must not be patterns; write Tool{Name: "delete_*", Kind: Glob} instead.
func Tools(names ...string) []Tool {
	tools := make([]Tool, len(names))
	for i, name := range names {
		tools[i] = Tool{Name: name}
	}
	return tools
}

// Labels holds map statements, which give names to calls, and conditions on results. A policy
// applies the map statements of all its nets to each net that has Labels. A transition of such a
// net can list a name given by a map statement, a physical name, tool.action, or a glob. Nets
// compiled together share a pointer to the same Labels, so that each map statement is applied only
// once. Labels must not be modified after a net refers to them.
type Labels struct {
	Maps      []Map
	Successes []Condition // conditions on results
}

// A Map is a map statement. It gives the calls to a tool an additional name if their arguments
// match. Exactly one of Match and Reader is set.
type Map struct {
	Tool    string            // physical name of the tool whose calls get the additional name
	Glob    bool              // whether Tool is a pattern that matches physical names, as with kind [Glob]
	Field   string            // argument key, taken literally, or a path that begins with "$."; see [ParsePath]
	Match   func(string) bool // reports whether a string in the field matches; called once for each string
	Reader  Reader            // reads the field, or the whole call if Field is empty
	Pattern int               // number that identifies the pattern to Reader
	As      string
	Source  string // pattern as the author wrote it; part of the net's identity
	Rule    Position
}

// A Reader parses calls for several [Map] values, so that each string is parsed only once. For
// example, it parses a field as a shell script, or the call as data for an expression. It must be
// comparable and safe for concurrent use, and must not block.
type Reader interface {
	// Read parses a string found in the field that [Map].Field names. If Field is empty, Read
	// parses the whole call, and the string is empty.
	Read(c *Call, text string) Reading
}

// A Reading is a parsed string. It reports which patterns of its [Reader] match the string.
type Reading interface {
	Finds(pattern int) Found
	Only(patterns []int) bool  // reports whether the given patterns match every part of the string that a policy might restrict; if not, it is uncertain whether the call has the name that these patterns give to it
	Evidence(pattern int) bool // reports whether the call's success proves that the matching part of the string was executed and succeeded
	// Doubt explains why Finds returns [Perhaps], or why Evidence returns false although Finds
	// returns [Surely]. If Finds returns [NotFound], Doubt may explain why a similar part of the
	// string does not match. In all other cases, the explanation may be empty. Code in the result
	// is the matching or similar part of the string.
	Doubt(pattern int) Doubt
}

// Found is the result of matching a string against a pattern.
type Found uint8

const (
	NotFound Found = iota
	Surely
	Perhaps // the string might match; the call is restricted as if it did
)

// A Cause is the kind of constraint that a net imposes on a tool.
type Cause string

const (
	CauseNet      Cause = "net" // net written by hand
	CauseBlock    Cause = "block"
	CauseLimit    Cause = "limit"
	CauseSequence Cause = "sequence"
	CauseApproval Cause = "approval"
	CauseAllow    Cause = "allow" // not a constraint; the call passes even under "default: deny"
)
