package gate

import (
	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// Package toolnet defines nets and the calls that they refer to, independently of decisions.
// Because of the aliases below, callers need not import package toolnet.
type (
	// Net is [toolnet.Net].
	Net = toolnet.Net
	// Scope is [toolnet.Scope].
	Scope = toolnet.Scope
	// Transition is [toolnet.Transition].
	Transition = toolnet.Transition
	// Field is [toolnet.Field].
	Field = toolnet.Field
	// ValueReader is [toolnet.ValueReader].
	ValueReader = toolnet.ValueReader
	// Sum is [toolnet.Sum].
	Sum = toolnet.Sum
	// Phase is [toolnet.Phase].
	Phase = toolnet.Phase
	// Tool is [toolnet.Tool].
	Tool = toolnet.Tool
	// ToolKind is [toolnet.ToolKind].
	ToolKind = toolnet.ToolKind
	// Labels is [toolnet.Labels].
	Labels = toolnet.Labels
	// Map is [toolnet.Map].
	Map = toolnet.Map
	// Condition is [toolnet.Condition].
	Condition = toolnet.Condition
	// Judge is [toolnet.Judge].
	Judge = toolnet.Judge
	// Reader is [toolnet.Reader].
	Reader = toolnet.Reader
	// Reading is [toolnet.Reading].
	Reading = toolnet.Reading
	// Doubt is [toolnet.Doubt].
	Doubt = toolnet.Doubt
	// Found is [toolnet.Found].
	Found = toolnet.Found
	// Cause is [toolnet.Cause].
	Cause = toolnet.Cause
	// Position is [toolnet.Position].
	Position = toolnet.Position
	// Call is [toolnet.Call].
	Call = toolnet.Call
	// Ignored is [toolnet.Ignored].
	Ignored = toolnet.Ignored
	// Name is [toolnet.Name].
	Name = toolnet.Name
	// KeyValue is [toolnet.KeyValue].
	KeyValue = toolnet.KeyValue
	// Firing is [toolnet.Firing].
	Firing = toolnet.Firing
	// Meta is [toolnet.Meta].
	Meta = toolnet.Meta
	// Marking is [toolnet.Marking].
	Marking = toolnet.Marking
	// Tokens is [toolnet.Tokens].
	Tokens = toolnet.Tokens
	// Outcome is the way a call ended: [Unknown], [Success] or [Failure].
	Outcome = toolnet.Outcome
	// NetError is [toolnet.NetError].
	NetError = toolnet.NetError
	// ErrorList is [toolnet.ErrorList].
	ErrorList = toolnet.ErrorList
)

// Package netstate defines the state of a net as plain data.
type (
	// NetData is the state of one net. It is immutable.
	NetData = netstate.NetData
	// Flight is a transition that waits for its call to end.
	Flight = netstate.Flight
	// ShadowData is the additional state of a net in shadow mode.
	ShadowData = netstate.ShadowData
	// Clock is the time of a net with transitions that have [Transition.Every].
	Clock = netstate.Clock
	// Spent is the amount that the calls of a net with a [Sum] have spent.
	Spent = netstate.Spent
	// Extras is the part of a state that only some nets have: nets that spoil evidence, count equal
	// calls in a row or have a key.
	Extras = netstate.Extras
	// Debt is the usage that exceeds a limit's maximum.
	Debt = netstate.Debt
	// Values holds the states of a net for its key values.
	Values = netstate.Values
)

// Constants of these types.
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

// Tools is [toolnet.Tools].
func Tools(names ...string) []Tool { return toolnet.Tools(names...) }
