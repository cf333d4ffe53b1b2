package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/text"
)

// Bounds of what the journal keeps of one call, since callers can choose it.
const (
	maxRowNames  = 8
	maxRowNets   = 32
	maxRowReason = 1 << 10
	maxRowArgs   = 2 << 10
)

// A row is one call of the journal, with its decision and its outcome, or something else that
// happened: then Event says what. It never changes: a call that ends gets another row in its place.
type row struct {
	ID        string          `json:"id"`
	Event     string          `json:"event"` // call, or as on record: session opened, stop, ...
	Time      time.Time       `json:"time"`
	Called    time.Time       `json:"called,omitzero"` // when the call came, where a person was waited for
	Session   string          `json:"session,omitempty"`
	Principal string          `json:"principal,omitempty"`
	Client    string          `json:"client,omitempty"`
	Call      uint64          `json:"call,omitempty"` // of the session; only admitted calls have one
	Wire      string          `json:"requestId,omitempty"`
	Tool      string          `json:"tool,omitempty"` // with its upstream
	Names     []string        `json:"names,omitempty"`
	Decision  string          `json:"decision,omitempty"` // allow, refuse, ask; empty: it is not in the journal
	Kind      string          `json:"kind,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Nets      []audit.NetSays `json:"nets,omitempty"`
	Approval  string          `json:"approval,omitempty"`
	Channel   string          `json:"channel,omitempty"`
	Actor     string          `json:"actor,omitempty"`
	Arguments string          `json:"argumentsSha256,omitempty"`
	Args      json.RawMessage `json:"arguments,omitempty"`
	Shadow    bool            `json:"shadow,omitempty"`
	Would     *audit.Would    `json:"would,omitempty"`
	Policy    string          `json:"policy,omitempty"`
	Task      string          `json:"task,omitempty"`
	Outcome   string          `json:"outcome,omitempty"` // success, failure, unknown; empty: none yet
	Millis    float64         `json:"ms,omitempty"`
	By        string          `json:"by,omitempty"` // who settled it, where it was not the upstream's result
	Ended     time.Time       `json:"ended,omitzero"`
	Settled   string          `json:"settled,omitempty"` // as an operator said that it ended
	SettledBy string          `json:"settledBy,omitempty"`
	About     string          `json:"about,omitempty"` // what else is to be said of an event: a net, a process

	command string
	n    uint64 // counts from 1, in the order in which the journal learned of it
}

// IsCall reports whether the row is a call.
func (r *row) IsCall() bool { return r.Event == "call" }

// Bounds of what a row shows of the arguments, and of the arguments that it shows something of.
const (
	maxDoes     = 160
	maxDoesRead = 64 << 10
)

// isRoutine reports whether the row is of a process or a session that begins or ends.
func (r *row) isRoutine() bool {
	switch r.Event {
	case "session opened", "session closed", "process started", "process ended":
		return true
	}
	return false
}

// Does is the command of a call, or its arguments, in a line; empty: they are not recorded.
func (r *row) Does() string { return r.command }

// commandOf returns the command of a call, or its arguments, in a line; empty: it has none, or long ones.
func commandOf(args json.RawMessage) string {
	if len(args) > maxDoesRead {
		return ""
	}
	return text.Excerpt(text.Command(args), maxDoes)
}

// Open reports whether the call was let through and has not ended, as far as is known.
func (r *row) Open() bool { return r.Decision == "allow" && r.Outcome == "" && r.Settled == "" }

// recordID names a record, in every process that reads it.
func recordID(record []byte) string {
	sum := sha256.Sum256(record)
	return hex.EncodeToString(sum[:8])
}

// decisionRow is the row of a decision.
func decisionRow(id string, e *trail.Entry) *row {
	r := &row{
		ID: id, Event: "call", Time: e.Time, Called: e.Called, Session: e.Session, Principal: e.Principal, Client: e.Client,
		Call: e.Call, Wire: e.ID, Tool: e.Canonical(), Names: slices.Clone(e.Names[:min(len(e.Names), maxRowNames)]),
		Decision: e.Decision.Decision, Kind: e.Kind, Reason: short(e.Reason), Nets: e.Nets[:min(len(e.Nets), maxRowNets)],
		Approval: e.Approval, Channel: e.Channel, Actor: e.Actor, Arguments: e.Arguments, Shadow: e.Shadow, Policy: e.Policy, command: commandOf(e.Args),
	}
	if len(e.Args) <= maxRowArgs {
		r.Args = bytes.Clone(e.Args)
	}
	if w := e.Would; w != nil {
		r.Would = &audit.Would{Decision: w.Decision, Kind: w.Kind, Reason: short(w.Reason), Nets: w.Nets[:min(len(w.Nets), maxRowNets)]}
	}
	return r
}

func short(reason string) string {
	if len(reason) <= maxRowReason {
		return reason
	}
	return text.Excerpt(reason, maxRowReason)
}

// outcomeRow is the row of an outcome whose decision is not in the journal.
func outcomeRow(id string, e *trail.Entry) *row {
	r := &row{ID: id, Event: "call", Session: e.Session, Call: e.Call, Tool: e.Canonical()}
	r.end(e)
	r.Time = r.Ended
	return r
}

func (r *row) end(e *trail.Entry) {
	r.Outcome, r.Millis, r.By, r.Ended = e.Outcome, e.Millis, e.By, e.Time
}

// canBeSettled reports whether an operator can have said of this call how it ended.
func (r *row) canBeSettled(e *trail.Entry) bool {
	return (r.Outcome == "" || r.Outcome == "unknown") && !e.Time.Before(r.Time)
}

// clockTolerance is how far the times of a decision and of its outcome may be apart beside what the
// call took: a clock is corrected meanwhile.
const clockTolerance = 20 * time.Millisecond

// isOutcome reports whether the outcome is that of the row: of the same call by its number, its
// tool, and the time at which it came. Numbers begin again where states were lost.
func (r *row) isOutcome(e *trail.Entry) bool {
	if r.Outcome != "" || r.Decision != "allow" || r.Tool != e.Canonical() {
		return false
	}
	came := r.Called
	if came.IsZero() {
		came = r.Time
	}
	took := time.Duration(e.Millis * float64(time.Millisecond))
	apart := e.Time.Sub(came) - took
	return took >= 0 && apart.Abs() <= clockTolerance+took/1000
}

// eventRow is the row of an event that is no call; nil: it is none that the journal shows.
func eventRow(id string, e *trail.Entry) *row {
	r := &row{ID: id, Event: e.Event, Time: e.Time, Session: e.Session, Principal: e.Principal, Call: e.Call, Actor: e.Actor, Reason: short(e.Reason)}
	switch e.Event {
	case "session opened", "session closed", "reset", "settle success", "settle failure", "stop", "resumed", "accept", "wrong pin":
	case "start":
		if e.Process != "" {
			r.Event, r.About = "process started", e.Process
		}
	case "end":
		r.Event, r.About = "process ended", e.Process
	case "policy":
		r.Event, r.About, r.Policy = "policy in force", e.Policy, e.Policy
	case "activate", "deactivate":
		r.About = e.Net
	case "definition":
		r.Event, r.About = "tool changed", e.Tool
	case "missing":
		r.Event, r.About = "call missing", e.Upstream+" "+e.Tool
	case "conflict":
		r.About = conflict(e)
	case "answer":
		r.Event, r.Approval, r.Channel, r.About = "answer not counted", e.Approval, e.Channel, e.Said+" ("+e.Kind+")"
	default:
		return nil
	}
	return r
}

func conflict(e *trail.Entry) string {
	var nets []string
	for i := range e.Nets {
		nets = append(nets, e.Nets[i].Net)
	}
	return short(text.And(nets))
}
