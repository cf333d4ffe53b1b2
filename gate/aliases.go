package gate

import (
	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// With the aliases below, callers need not import package toolnet, which defines nets and calls.
type (
	// A Net is a Petri net whose transitions list tools.
	Net = toolnet.Net
	// A Scope determines which calls share a net's state.
	Scope = toolnet.Scope
	// A Transition moves tokens from its inputs to its outputs.
	Transition = toolnet.Transition
	// A Field selects the part of a call that forms a net's key or that a [Sum] adds up.
	Field = toolnet.Field
	// A ValueReader evaluates expressions over a call's data.
	ValueReader = toolnet.ValueReader
	// A Sum limits the sum of a field over the calls that a net gates.
	Sum = toolnet.Sum
	// A Phase is an allowlist of tools that applies while a place is marked.
	Phase = toolnet.Phase
	// A Tool is an entry in the list of tools of a [Transition].
	Tool = toolnet.Tool
	// A ToolKind determines how the name of a [Tool] is interpreted.
	ToolKind = toolnet.ToolKind
	// Labels holds [Map] entries, which give names to calls. Several nets can share them.
	Labels = toolnet.Labels
	// A Map gives calls an additional name if their arguments match.
	Map = toolnet.Map
	// A Condition decides from the result of a call whether the call succeeded.
	Condition = toolnet.Condition
	// A Judge evaluates conditions on call results.
	Judge = toolnet.Judge
	// A Reader parses an argument once, for example as a shell script, so that several [Map]
	// entries can use the result.
	Reader = toolnet.Reader
	// A Reading is a string parsed by a [Reader].
	Reading = toolnet.Reading
	// A Doubt explains why it is uncertain whether a [Map] matches, or why a matching call does not
	// count toward a requirement.
	Doubt = toolnet.Doubt
	// Found is the result of matching a string against a pattern.
	Found = toolnet.Found
	// A Cause is the kind of constraint that a net imposes on a tool.
	Cause = toolnet.Cause
	// A Position is a file, line and column in one of the user's files.
	Position = toolnet.Position
	// A Call is a tool call that a policy decides on.
	Call = toolnet.Call
	// Ignored specifies a tool argument that does not change a call's effect.
	Ignored = toolnet.Ignored
	// A Name is one of the names that a policy gives to a call.
	Name = toolnet.Name
	// A KeyValue is a key field together with its value in a call.
	KeyValue = toolnet.KeyValue
	// A Firing describes the firing of a transition. It is passed to validators and hooks.
	Firing = toolnet.Firing
	// Meta holds the data that a net's hooks store between calls.
	Meta = toolnet.Meta
	// A Marking lists the number of tokens in each place.
	Marking = toolnet.Marking
	// Tokens is the number of tokens in one place of a [Marking].
	Tokens = toolnet.Tokens
	// An Outcome describes how a call ended: [Unknown], [Success] or [Failure].
	Outcome = toolnet.Outcome
	// A NetError is an error in a net, in a [Map] or in the [PolicyOptions] of a policy.
	NetError = toolnet.NetError
	// An ErrorList contains all errors found, in the order of the nets.
	ErrorList = toolnet.ErrorList
)

// Types that represent a net's state as plain data; see package netstate.
type (
	// NetData is the state of one net. It is immutable.
	NetData = netstate.NetData
	// Flight is a transition that waits for its call to end.
	Flight = netstate.Flight
	// ShadowData is the additional state of a net in shadow mode.
	ShadowData = netstate.ShadowData
	// A Clock holds the times that determine when a net's timed transitions fire; see
	// [Transition.Every].
	Clock = netstate.Clock
	// Spent is the amount that the calls of a net with a [Sum] have spent.
	Spent = netstate.Spent
	// Extras holds the parts of a net's state that only some nets have, such as the [Debt] of a
	// limit.
	Extras = netstate.Extras
	// Debt is the usage that exceeds a limit's maximum.
	Debt = netstate.Debt
	// Values holds the states of a net with a key: one for each key value whose state differs from
	// the default state; see [NetData].
	Values = netstate.Values
)

// The constants of the types above.
const (
	ScopeSession   = toolnet.ScopeSession
	ScopePrincipal = toolnet.ScopePrincipal
	ScopeGlobal    = toolnet.ScopeGlobal

	Plain   = toolnet.Plain
	Literal = toolnet.Literal
	Glob    = toolnet.Glob

	NotFound = toolnet.NotFound
	Surely   = toolnet.Surely
	Perhaps  = toolnet.Perhaps

	CauseNet      = toolnet.CauseNet
	CauseBlock    = toolnet.CauseBlock
	CauseLimit    = toolnet.CauseLimit
	CauseSequence = toolnet.CauseSequence
	CauseApproval = toolnet.CauseApproval
	CauseAllow    = toolnet.CauseAllow

	Unknown = toolnet.Unknown
	Success = toolnet.Success
	Failure = toolnet.Failure
)

// Tools returns a [Tool] of kind [Plain] for each name, for use in the list of tools of a
// [Transition].
func Tools(names ...string) []Tool { return toolnet.Tools(names...) }
