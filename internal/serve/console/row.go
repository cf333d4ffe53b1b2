package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/text"
)

// Limits on the fields of a row: numbers of elements, or sizes in bytes.
const (
	maxRowNames  = 8
	maxRowNets   = 32
	maxRowReason = 1 << 10
	maxRowArgs   = 2 << 10
	maxRowMore   = 1 << 10
)

// A row describes a call, with its decision and outcome, or an event of another kind. Rows are
// immutable: when a call ends, a new row replaces the old one.
type row struct {
	ID        string             `json:"id"`
	Event     string             `json:"event"` // "call", or the event in the record, such as "session opened"
	Time      time.Time          `json:"time"`
	Called    time.Time          `json:"called,omitzero"` // arrival time of the call if it had to wait for a person's answer
	Session   string             `json:"session,omitempty"`
	Principal string             `json:"principal,omitempty"`
	Client    string             `json:"client,omitempty"`
	Call      uint64             `json:"call,omitempty"` // the call's number in the session; set only for admitted calls
	Wire      string             `json:"requestId,omitempty"`
	Tool      string             `json:"tool,omitempty"` // name of the tool, including its upstream
	Names     []string           `json:"names,omitempty"`
	Decision  string             `json:"decision,omitempty"` // "allow", "refuse" or "ask"; empty if the decision is not in the journal
	Kind      string             `json:"kind,omitempty"`
	Reason    string             `json:"reason,omitempty"`
	Nets      []audit.NetVerdict `json:"nets,omitempty"`
	Approval  string             `json:"approval,omitempty"`
	Channel   string             `json:"channel,omitempty"`
	Actor     string             `json:"actor,omitempty"`
	Arguments string             `json:"argumentsSha256,omitempty"`
	Args      json.RawMessage    `json:"arguments,omitempty"`
	Shadow    bool               `json:"shadow,omitempty"`
	Would     *audit.Would       `json:"would,omitempty"`
	Policy    string             `json:"policy,omitempty"`
	Task      string             `json:"task,omitempty"`
	Outcome   string             `json:"outcome,omitempty"` // "success", "failure" or "unknown"; empty if the call has not ended
	Millis    float64            `json:"ms,omitempty"`
	By        string             `json:"by,omitempty"` // who set the outcome; empty if it follows from the upstream's result
	Ended     time.Time          `json:"ended,omitzero"`
	Settled   string             `json:"settled,omitempty"` // outcome that an operator has set
	SettledBy string             `json:"settledBy,omitempty"`
	About     string             `json:"about,omitempty"` // name of the net, process or other thing that the event concerns

	// More contains the members of the decision record that the other fields do not hold. It omits
	// long members and those listed in notMore.
	More map[string]json.RawMessage `json:"more,omitempty"`

	command string
	n       uint64 // row number in the journal, starting at 1, in order of arrival
}

// IsCall reports whether the row describes a call.
func (r *row) IsCall() bool { return r.Event == "call" }

// Limits on displayed arguments. Text longer than maxDoes is shortened. Arguments larger than
// maxDoesRead are not displayed.
const (
	maxDoes     = 160
	maxDoesRead = 64 << 10
)

// isRoutine reports whether the row records the start or end of a process or session.
func (r *row) isRoutine() bool {
	return slices.Contains([]string{"session opened", "session closed", "process started", "process ended"}, r.Event)
}

// Does returns one line with the command or the arguments of the call. It returns "" if the
// arguments were not recorded.
func (r *row) Does() string { return r.command }

// commandOf returns the command in the arguments of a call or, if they contain no command, the
// arguments themselves, shortened to one line. It returns "" if args is empty or too long.
func commandOf(args json.RawMessage) string {
	if len(args) > maxDoesRead {
		return ""
	}
	return text.Excerpt(text.Command(args), maxDoes)
}

// Open reports whether the call was admitted and is not known to have ended.
func (r *row) Open() bool { return r.Decision == "allow" && r.Outcome == "" && r.Settled == "" }

// recordID returns an ID for a record. All processes that read the same record compute the same ID.
func recordID(record []byte) string {
	sum := sha256.Sum256(record)
	return hex.EncodeToString(sum[:8])
}

// decisionRow returns the row for a decision record, given as text and decoded.
func decisionRow(id string, record []byte, e *trail.Entry) *row {
	r := &row{
		ID: id, Event: "call", Time: e.Time, Called: e.Called, Session: e.Session, Principal: e.Principal, Client: e.Client,
		Call: e.Call, Wire: e.ID, Tool: e.Canonical(), Names: slices.Clone(e.Names[:min(len(e.Names), maxRowNames)]),
		Decision: e.Decision.Decision, Kind: e.Kind, Reason: short(e.Reason), Nets: e.Nets[:min(len(e.Nets), maxRowNets)],
		Approval: e.Approval, Channel: e.Channel, Actor: e.Actor, Arguments: e.Arguments, Shadow: e.Shadow, Policy: e.Policy, More: more(record), command: commandOf(e.Args),
	}
	if len(e.Args) <= maxRowArgs {
		r.Args = bytes.Clone(e.Args)
	}
	if w := e.Would; w != nil {
		r.Would = &audit.Would{Decision: w.Decision, Kind: w.Kind, Reason: short(w.Reason), Nets: w.Nets[:min(len(w.Nets), maxRowNets)]}
	}
	return r
}

// notMore lists the members of a decision record that are left out of [row].More. Most of them are
// stored in other fields of the row. The members "own", "omittedNames" and "row" are not stored at
// all.
var notMore = []string{
	"time", "called", "event", "session", "principal", "client", "call", "id", "upstream", "tool", "names", "own", "omittedNames", "arguments", "args", "row",
	"decision", "kind", "nets", "approval", "channel", "actor", "reason", "shadow", "would", "policy",
}

// more returns the members of a decision record that are not in notMore, so that the console can
// show members that it does not know. It omits values that are too long.
func more(record []byte) (members map[string]json.RawMessage) {
	rawjson.Members(record, func(key, value []byte, _ int) bool {
		if len(value) <= maxRowMore && !slices.Contains(notMore, string(key)) {
			if members == nil {
				members = map[string]json.RawMessage{}
			}
			members[string(key)] = bytes.Clone(value)
		}
		return true
	})
	return members
}

func short(reason string) string {
	if len(reason) <= maxRowReason {
		return reason
	}
	return text.Excerpt(reason, maxRowReason)
}

// outcomeRow returns the row for an outcome whose decision is not in the journal.
func outcomeRow(id string, e *trail.Entry) *row {
	r := &row{ID: id, Event: "call", Session: e.Session, Call: e.Call, Tool: e.Canonical()}
	r.end(e)
	r.Time = r.Ended
	return r
}

func (r *row) end(e *trail.Entry) {
	r.Outcome, r.Millis, r.By, r.Ended = e.Outcome, e.Millis, e.By, e.Time
}

// canBeSettled reports whether e, the record of an outcome set by an operator, can apply to the
// row's call. The row's outcome must be missing or unknown, and the row must not be newer than the
// record.
func (r *row) canBeSettled(e *trail.Entry) bool {
	return (r.Outcome == "" || r.Outcome == "unknown") && !e.Time.Before(r.Time)
}

// clockTolerance allows for adjustments of the clock during a call. The time between a call and its
// outcome record may differ from the recorded duration by clockTolerance plus a thousandth of the
// duration.
const clockTolerance = 20 * time.Millisecond

// isOutcome reports whether the outcome e belongs to this row. The call number alone is not
// sufficient, because numbers are reused after states are lost. The tool and the time of arrival
// must match too.
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

// eventRow returns the row for an event other than a call, or nil if the journal does not show
// events of that kind.
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
	return short(text.And(list.Map(e.Nets, func(n audit.NetVerdict) string { return n.Net })))
}
