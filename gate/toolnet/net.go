package toolnet

import (
	"cmp"
	"time"

	"github.com/petrigate/petrigate/internal/diag"
)

// A Net is one Petri net of tools. It is a value that its author fills in;
// [NewPolicy] checks it and never changes it.
type Net struct {
	Name        string
	Places      []string
	Initial     map[string]int // tokens at the start; a place that is absent has none
	Terminal    []string       // places in which the net may stop
	Free        []string       // names that this net always allows
	Transitions []Transition   // in order: the first enabled one that lists a name gates it

	// How the net names a call. The first of these that is set decides; where
	// none is, the names are the physical names of the call.
	Mapper     func(Call) []Name // a Go function that returns any names
	Labels     *Labels           // the labels of the policy; rules bring theirs with every net
	Maps       []Map             // the net's own maps, after the physical names
	MatchFirst bool              // only the first matching entry of Maps, or the physical names

	// Validate judges the arguments of a call that Transition gates, after the
	// structural and the approval phase. An error rejects the call, a panic
	// too, and all meta data is as it was. It runs under the lock of the
	// session and must not block.
	Validate func(Firing) error

	// OnSuccess runs when a deferred transition has produced its tokens, with
	// the call that was admitted. It may change Meta; it must not block.
	OnSuccess func(Firing)

	// Identity represents the code of the functions above in the fingerprint of the
	// net, which cannot read it: the source texts of the functions, or a version. If
	// it changes, the net has changed.
	Identity string

	Cause          Cause    // what kind of constraint the net is
	Because        string   // the author's words, which every refusal and question of the net begins with; may be empty
	Reason         string   // the sentence of a refusal; empty: a general one
	Rule           Position // where the user wrote it
	AllowUnbounded bool     // an unbounded net is an error otherwise

	// Key are fields of calls. A net that has a key has a marking for each value of
	// its fields: a call is judged in the marking of each of its values, and moves all
	// of them or none. It is the key of the transitions that have none of their own.
	// A net has a key if one of its transitions has one.
	Key []Field

	// Row makes the net count equal calls in a row: an admitted call of another tool or
	// with other arguments than the one before, also one that the net does not list or
	// exempts, first puts it back to its start. Arguments are equal if they are equal as
	// JSON values: the order of keys, escapes and the spelling of numbers do not matter.
	// A refused call changes nothing.
	Row bool

	// Sum limits the sum of a numeric field over the calls that a transition gates.
	Sum *Sum

	// Phases are allowlists by place: while the place is marked, only calls that
	// certainly have one of the names pass, whatever else they are, free ones too. Tokens
	// in flight count where they came from. A call that a list has is known to
	// [PolicyOptions].Deny, whatever the marking, as one is that the net gates.
	Phases []Phase

	Scope  Scope // whose calls it counts
	Shadow bool  // it records what it would have refused, and never blocks or asks
	Static bool  // it cannot be switched on or off at run time

	// Priority orders nets that contradict each other.
	Priority int

	// Advisory makes the net yield: it does not block while a net of a higher
	// priority is in recovery, nor while it would leave none of the offered tools
	// (see [Session.Offer]) that the required nets, and advisory ones of a higher
	// priority, allow. Among equals, the net that leaves fewer tools comes first, then
	// by name. All other nets are required: they always block.
	Advisory bool
	Recovery map[string]int // the net is in recovery while these places have that many tokens; nil: never
}

// KeyOf returns the fields that a transition of the net reads; nil if the net has no key,
// or the transition no tools.
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

// Scope says which calls share the state of a net.
type Scope uint8

const (
	ScopeSession   Scope = iota // those of one conversation
	ScopePrincipal              // those of all conversations of one principal
	ScopeGlobal                 // all calls
)

// String returns the scope in lower case.
func (s Scope) String() string {
	return [...]string{"session", "principal", "global"}[s]
}

// A Transition moves tokens from its inputs to its outputs, both multisets:
// a place that is named twice has weight two. Without tools it is structural and
// fires by itself.
type Transition struct {
	Name            string
	Inputs, Outputs []string
	Tools           []Tool // what it gates

	Manual    bool   // a person must approve every firing
	Via       string // the channel by which that person is asked; empty: any
	Approvals int    // how many different persons must approve a firing, if it is manual; 0: one
	Deferred  bool   // the net moves when the result is a success; until then the tokens are in flight
	Observe   bool   // it follows its tools and never forbids them
	Release   bool   // an unknown outcome gives the tokens back at once

	// Evidence makes a deferred observer count for later calls only. It does not let a
	// call pass under a name that another transition of the net gates, and it counts the
	// success of a call that is gated, if it is enabled once the gating transition has
	// fired. Without it, an observer that is enabled is enough for the name, and a call
	// that the net gates earns nothing, so that no call refills its own limit.
	Evidence bool

	// WeakProgress allows the transition for a weak [Name] although it puts a token
	// anywhere but back. Without it, in a net without Labels, such a name may only
	// use tokens up: the net blocks a call that is only perhaps the one that it waits
	// for.
	WeakProgress bool

	// Spoils makes an observer, which is not deferred, spoil evidence: when its call is
	// admitted it fires if it is enabled, ends every watch of the net, and no watch
	// begins until its call has succeeded or failed. So the success of a deferred observer
	// counts only if no such call was under way at any time since its own commit.
	//
	// All transitions that spoil and list a name of the call do so, after those that are
	// chosen, on the tokens that are left; they are not among the candidates for the name,
	// and no validator judges them. A weak name spoils, a free one too, and so does a call
	// that another transition of the net gates, that is evidence for the net itself, or
	// that passes although the net would block it. An inactive net keeps its tokens, but
	// a call that is under way when it becomes active spoils. In a net with a key, a
	// call without a value spoils all values.
	Spoils bool

	// Key are the fields of this transition's calls, where they differ from the key
	// of the net: as many, in the same order.
	Key []Field

	// Unless exempts calls that certainly have one of these names: for them the
	// transition lists no tools.
	Unless []Tool

	// Every lets a transition without tools fire by the clock, once in this
	// time while it is enabled. The clock is [Call.Time].
	Every time.Duration
}

// A Field is what a key or a sum reads of a call. Its value is a JSON string, number
// or boolean. An array stands for its elements. Anything else, an absent field, and
// a field that a key of other letter case makes doubtful have no value: then the
// call is refused by a transition that gates it, and is no evidence.
type Field struct {
	Path   string      // one key of the arguments, or a path that begins with "$."; see [ParsePath]
	Reader ValueReader // evaluates an expression; Path is empty then
	Number int         // of the expression
	Source string      // as written: part of the identity of the net, and for messages
	Result bool        // Path leads into the result of the call, when it succeeds; only of an observer that is deferred
}

// Name returns the field as it was written.
func (f *Field) Name() string { return cmp.Or(f.Source, f.Path) }

// A ValueReader evaluates expressions over calls. It must be comparable and safe for
// concurrent use, and must not block.
type ValueReader interface {
	// Value evaluates the expression with that number. It returns a JSON value, or
	// false if there is none, or if it depends on a doubtful field.
	Value(c *Call, number int) ([]byte, bool)
}

// A Sum limits the sum of a field over the calls that a transition gates; several names
// of one call count once. A call is refused if it has not exactly one number there, if
// that is negative, or if it has more than 100 digits or an exponent beyond 100. Numbers
// are exact decimals. What an admitted call has spent is not given back if the call fails.
type Sum struct {
	Field Field         // of the arguments
	Most  int           // the largest sum
	Every time.Duration // the time in which Most comes back, evenly; 0: nothing comes back
}

// A Phase is an allowlist that holds while a place is marked.
type Phase struct {
	Place string
	Tools []Tool
}

// A Tool is one entry of [Transition.Tools].
type Tool struct {
	Name string
	Kind ToolKind

	// Except exempts, for a Glob, a call that certainly has this name; for other
	// calls the pattern is not compared with the name. It is read as the net lists
	// it elsewhere: if it is only listed as a Literal, an action of this name does
	// not count.
	Except string

	// Spared, of an entry of [Transition.Unless], says that the transition is not about
	// the calls at all: [PolicyOptions].Deny then refuses them unless another transition
	// gates them. A rule about * so leaves out what it requires first. It is no part of
	// the identity of the net.
	Spared bool `json:"-"`
}

// ToolKind says how the name of a [Tool] is read.
type ToolKind uint8

const (
	Plain   ToolKind = iota // the name, also as tool.action; with * or ? in it, a mistake
	Literal                 // the name and never an action: "chat.send" written in quotes
	Glob                    // a pattern over the other names of a call: * any run, ? one character
)

// Tools returns plain entries for [Transition.Tools]. A pattern is none of them: write
// Tool{Name: "delete_*", Kind: Glob}.
func Tools(names ...string) []Tool {
	tools := make([]Tool, len(names))
	for i, name := range names {
		tools[i] = Tool{Name: name}
	}
	return tools
}

// Labels are names that maps give to calls, for the nets that share them. A
// policy gives the labels of all its nets to each net that has Labels: every
// map that matches counts, in addition to physical names, tool.action and globs.
// Nets of one origin share one pointer, so that a map counts once. It must not be
// changed once a net has it.
type Labels struct {
	Maps      []Map
	Successes []Condition // conditions on results
}

// A Map gives a call of Tool a further name if the arguments match. Either
// Match or Reader is set.
type Map struct {
	Tool    string            // a physical name of the call
	Glob    bool              // Tool is a pattern over the physical names; as a tool of a [Glob]
	Field   string            // one key of the arguments, read as it stands, or a path that begins with "$."; see [ParsePath]
	Match   func(string) bool // called with each string in the field
	Reader  Reader            // reads the field, or the whole call where Field is empty
	Pattern int               // the pattern for the Reader
	As      string
	Source  string // the pattern as written: part of the identity of a net
	Rule    Position
}

// A Reader understands calls for the maps that share it, so that what it reads
// is read once: a field as a shell script, or the call as the data of an
// expression. It must be comparable and safe for concurrent use, and must not block.
type Reader interface {
	// Read parses one text of the field; it is empty for a map without a field.
	Read(c *Call, text string) Reading
}

// A Reading answers for the patterns of its [Reader].
type Reading interface {
	Finds(pattern int) Found
	Only(patterns []int) bool  // the text consists only of matches of these patterns
	Evidence(pattern int) bool // its match is evidence of a call: it unlocks and refills
	// Doubt returns the reason for [Perhaps], or for [Surely] without evidence, and with evidence the part of the text
	// that matches as its Code; for [NotFound], what is missing, or an empty Doubt.
	Doubt(pattern int) Doubt
}

// Found says whether a text matches a pattern.
type Found uint8

const (
	NotFound Found = iota
	Surely
	Perhaps // not known; the call is restricted as if it matched
)

// Cause is the kind of constraint that a net puts on a tool.
type Cause string

const (
	CauseNet      Cause = "net" // hand-written
	CauseBlock    Cause = "block"
	CauseLimit    Cause = "limit"
	CauseSequence Cause = "sequence"
	CauseApproval Cause = "approval"
	CauseAllow    Cause = "allow" // no constraint: the call passes where the default is to deny
)

// A Position is a position in a file of the user. Line and Column count from 1;
// the zero value is no position.
type Position struct {
	File         string
	Line, Column int
}

// String returns file:line:column, as far as they are known.
func (p Position) String() string { return diag.Position(p).String() }
