package toolnet

import (
	"cmp"
	"time"
)

// A Net is a Petri net whose transitions list tools. Its author fills in the fields; [NewPolicy]
// checks the net and never changes it.
type Net struct {
	Name        string
	Places      []string
	Initial     map[string]int // initial marking; absent places have no tokens
	Terminal    []string       // places where the net is allowed to stop
	Free        []string       // names that this net always allows
	Transitions []Transition   // ordered: the first enabled transition that lists a name gates it

	// The names that the net gives a call. The first of the following fields that is set decides;
	// if none is set, a call has its physical names.
	Mapper     func(Call) []Name // a Go function that returns arbitrary names
	Labels     *Labels           // the labels of the policy; rules supply their own with every net
	Maps       []Map             // the net's own maps, in addition to the physical names
	MatchFirst bool              // use only the first matching entry of Maps, or else the physical names

	// Validate checks the arguments of a call that Transition gates, after the structural and the
	// approval phase. An error or a panic rejects the call and restores all metadata. Validate runs
	// under the lock of the session and must not block.
	Validate func(Firing) error

	// OnSuccess is called with the admitted call after a deferred transition has produced its
	// tokens. It may change Meta; it must not block.
	OnSuccess func(Firing)

	// Identity stands for the code of the functions above in the fingerprint of the net, which
	// cannot include the code itself: for example their source text, or a version. If Identity
	// changes, the net counts as changed.
	Identity string

	Cause          Cause    // kind of constraint
	Because        string   // the author's explanation, which introduces every refusal and question of the net; may be empty
	Reason         string   // text of a refusal; empty: a general text
	Rule           Position // position in the user's source
	AllowUnbounded bool     // otherwise an unbounded net is an error

	// Key are fields of calls. A net with a key has a separate marking for each value of the
	// fields: a call is checked against the marking of each of its values, and either fires in all
	// of them or in none. Key is the default for transitions without a key of their own. A net
	// counts as a net with a key if any of its transitions has one.
	Key []Field

	// Row makes the net count equal calls in a row. Every admitted call with another tool or other
	// arguments than the previous one resets the net to its initial marking first, even if the net
	// does not list or exempts the call. Arguments are compared as JSON values: the order of keys,
	// escapes and the spelling of numbers do not matter. A refused call changes nothing.
	Row bool

	// Sum limits the sum of a numeric field over all gated calls.
	Sum *Sum

	// Phases are allowlists by place: while the place is marked, only calls that certainly have one
	// of the listed names pass; this applies to free tools as well. Tokens in flight count in the
	// place they came from. A listed call is known to [PolicyOptions].Deny in every marking, like a
	// call that the net gates.
	Phases []Phase

	Scope  Scope // calls that share the state
	Shadow bool  // records refusals without ever blocking or asking
	Static bool  // cannot be switched on or off at run time

	// Priority ranks nets that contradict each other.
	Priority int

	// Advisory makes the net yield to others. It does not block while a net of higher priority is
	// in recovery. It also does not block if that would leave none of the offered tools (see
	// [Session.Offer]) that the required nets, and advisory nets of higher priority, allow. Among
	// advisory nets of equal priority, the net that allows fewer tools comes first, then the order
	// is by name. All other nets are required: they always block.
	Advisory bool
	Recovery map[string]int // the net is in recovery while these places have these token counts; nil: never
}

// KeyOf returns the key fields of a transition of the net, or nil if the net has no key or the
// transition has no tools.
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

// Scope determines which calls share the state of a net.
type Scope uint8

const (
	ScopeSession   Scope = iota // calls of one session
	ScopePrincipal              // calls of all sessions of one principal
	ScopeGlobal                 // all calls
)

// String returns the scope in lower case.
func (s Scope) String() string {
	return [...]string{"session", "principal", "global"}[s]
}

// A Transition moves tokens from its inputs to its outputs. Both are multisets: a place that is
// listed twice has weight two. A transition without tools is structural and fires by itself.
type Transition struct {
	Name            string
	Inputs, Outputs []string
	Tools           []Tool // tools that it gates

	Manual    bool   // a person must approve every firing
	Via       string // channel for asking that person; empty: any
	Approvals int    // number of different persons who must approve a manual firing; 0: one
	Deferred  bool   // produce the outputs only after a successful result; until then, the tokens are in flight
	Observe   bool   // follow calls of its tools without ever forbidding them
	Release   bool   // give the tokens back at once if the outcome is unknown

	// Evidence makes the success of a deferred observer count only for later calls. The observer
	// does not let the call itself pass under a name that another transition of the net gates; it
	// counts the success of a gated call if it is still enabled after the gating transition has
	// fired. Without Evidence, an enabled observer is sufficient for the name, and a call that the
	// net gates produces nothing, so that no call can refill its own limit.
	Evidence bool

	// WeakProgress allows the transition to fire for a weak [Name] even if it puts tokens into
	// other places than it took them from. Without WeakProgress, in a net without Labels, such a
	// name can only use up tokens: the net blocks a call that is only possibly the one that it
	// waits for.
	WeakProgress bool

	// Spoils makes an observer that is not deferred spoil evidence. When its call is admitted, it
	// fires if it is enabled and ends all watches of the net; no watch begins until the call has
	// succeeded or failed. The success of a deferred observer thus counts only if no such call was
	// in flight at any time since its own call was admitted.
	//
	// All spoiling transitions that list a name of the call fire, after the chosen transitions and
	// on the remaining tokens; they are not candidates for the name, and no validator checks them.
	// Weak and free names spoil, too, and so do calls that another transition of the net gates,
	// that are evidence for the net itself, or that pass although the net would block them. An
	// inactive net keeps its tokens, but a call that is in flight when the net becomes active
	// spoils. In a net with a key, a call without a value spoils all values.
	Spoils bool

	// Key are the key fields of this transition's calls, if they differ from those of the net; they
	// must have the same number and order.
	Key []Field

	// Unless exempts calls that certainly have one of these names: the transition ignores all tools
	// of such a call.
	Unless []Tool

	// Every makes a transition without tools fire by the clock, once per period while it is
	// enabled. The clock is [Call.Time].
	Every time.Duration
}

// A Field is the part of a call that a key or a sum reads. Its value is a JSON string, number or
// boolean; an array stands for its elements. All other values have no value, and neither have
// absent fields and fields that another key in different letter case makes ambiguous. A transition
// that gates a call without a value refuses it, and such a call is not evidence.
type Field struct {
	Path   string      // key of an argument, or a path that begins with "$."; see [ParsePath]
	Reader ValueReader // evaluates an expression; Path is then empty
	Number int         // number of the expression in Reader
	Source string      // source text, which is part of the identity of the net and used in messages
	Result bool        // Path refers to the result of the successful call; only for deferred observers
}

// Name returns the source text of the field.
func (f *Field) Name() string { return cmp.Or(f.Source, f.Path) }

// A ValueReader evaluates expressions over calls. It must be comparable and safe for concurrent
// use, and must not block.
type ValueReader interface {
	// Value evaluates the expression with this number. It returns a JSON value; ok is false if the
	// expression has no value or depends on a doubtful field.
	Value(c *Call, number int) ([]byte, bool)
}

// A Sum limits the sum of a field over the calls that a transition gates; a call with several names
// counts once. A call is refused unless the field is exactly one nonnegative number with at most
// 100 digits and an exponent of at most 100. Numbers are exact decimals. The amount of an admitted
// call is not refunded if the call fails.
type Sum struct {
	Field Field         // must be an argument
	Most  int           // maximum sum
	Every time.Duration // time until all of Most is available again, at a constant rate; 0: never
}

// A Phase is an allowlist that applies while a place is marked.
type Phase struct {
	Place string
	Tools []Tool
}

// A Tool is one entry of [Transition.Tools].
type Tool struct {
	Name string
	Kind ToolKind

	// Except exempts from a Glob the calls that certainly have this name; for other calls, the
	// pattern is not compared with the name. Except has the kind that the net uses for the same
	// name elsewhere: if it is only listed as a Literal, an action of this name does not count.
	Except string

	// Spared, in an entry of [Transition.Unless], means that the transition does not apply to the
	// exempted calls at all: [PolicyOptions].Deny then refuses them unless another transition gates
	// them. A rule about * uses it to exclude the calls that it requires first. Spared is not part
	// of the identity of the net.
	Spared bool `json:"-"`
}

// ToolKind determines how the name of a [Tool] is interpreted.
type ToolKind uint8

const (
	Plain   ToolKind = iota // the name, including tool.action; * and ? are errors
	Literal                 // the name, but never an action: "chat.send" written in quotes
	Glob                    // a pattern over the other names of a call: * matches any sequence, ? one character
)

// Tools returns plain entries for [Transition.Tools]. It does not accept patterns: write Tool{Name:
// "delete_*", Kind: Glob}.
func Tools(names ...string) []Tool {
	tools := make([]Tool, len(names))
	for i, name := range names {
		tools[i] = Tool{Name: name}
	}
	return tools
}

// Labels are names that maps give to calls, for the nets that share them. A policy applies the
// labels of all its nets to each net that has Labels: all matching maps count, in addition to
// physical names, tool.action and globs. Nets of the same origin share one pointer, so that each
// map counts once. Labels must not be modified after a net refers to them.
type Labels struct {
	Maps      []Map
	Successes []Condition // conditions on results
}

// A Map gives a call of Tool an additional name if the arguments match. Exactly one of Match and
// Reader is set.
type Map struct {
	Tool    string            // physical name of the call
	Glob    bool              // Tool is a pattern over physical names, like a tool of kind [Glob]
	Field   string            // key of an argument, taken literally, or a path that begins with "$."; see [ParsePath]
	Match   func(string) bool // called with each string in the field
	Reader  Reader            // reads the field, or the whole call if Field is empty
	Pattern int               // number of the pattern in Reader
	As      string
	Source  string // the pattern as written; part of the identity of a net
	Rule    Position
}

// A Reader parses calls for the maps that share it, so that each text is parsed once: a field as a
// shell script, or the call as the data of an expression. It must be comparable and safe for
// concurrent use, and must not block.
type Reader interface {
	// Read parses one text of the field; text is empty for a map without a field.
	Read(c *Call, text string) Reading
}

// A Reading is a parsed text. It tells which patterns of its [Reader] match.
type Reading interface {
	Finds(pattern int) Found
	Only(patterns []int) bool  // reports whether the text consists entirely of matches of these patterns
	Evidence(pattern int) bool // reports whether the match is evidence of a call, which unlocks and refills
	// Doubt returns the reason for [Perhaps], or for [Surely] without evidence. For a match with
	// evidence, it returns the matching part of the text as Code. For [NotFound], it returns the
	// missing part of a match, or an empty Doubt.
	Doubt(pattern int) Doubt
}

// Found is the result of matching a text against a pattern.
type Found uint8

const (
	NotFound Found = iota
	Surely
	Perhaps // unknown; the call is restricted as if it matched
)

// Cause is the kind of constraint that a net imposes on a tool.
type Cause string

const (
	CauseNet      Cause = "net" // hand-written
	CauseBlock    Cause = "block"
	CauseLimit    Cause = "limit"
	CauseSequence Cause = "sequence"
	CauseApproval Cause = "approval"
	CauseAllow    Cause = "allow" // not a constraint: the call passes even under default: deny
)
