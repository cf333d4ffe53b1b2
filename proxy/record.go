package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// errUnrecorded says that a decision could not be put on record.
var errUnrecorded = errors.New("the decision cannot be put on record")

// A recorder writes what is decided and what comes of it. Nothing goes to an
// upstream before its decision is stored.
type recorder struct {
	out    Recorder // nil: nothing is recorded
	policy string
	now    func() time.Time

	broken atomic.Bool // the last record could not be stored
}

func newRecorder(out Recorder, policy string, now func() time.Time) *recorder {
	return &recorder{out: out, policy: policy, now: now}
}

// decisionRecord is one decision. Arguments are recorded by their hash only.
type decisionRecord struct {
	Time      time.Time       `json:"time"`
	Event     string          `json:"event"` // decision
	Session   string          `json:"session"`
	Principal string          `json:"principal"`
	Client    string          `json:"client,omitempty"`
	Call      uint64          `json:"call,omitempty"` // of the session; only admitted calls have one
	ID        string          `json:"id,omitempty"`   // on the wire
	Upstream  string          `json:"upstream,omitempty"`
	Tool      string          `json:"tool"`
	Names     []string        `json:"names,omitempty"`
	Arguments string          `json:"arguments,omitempty"` // SHA-256
	Decision  string          `json:"decision"`            // allow, refuse, ask
	Kind      string          `json:"kind,omitempty"`
	Nets      []netSays       `json:"nets,omitempty"`
	Approval  string          `json:"approval,omitempty"`
	Channel   string          `json:"channel,omitempty"`
	Actor     string          `json:"actor,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Remedy    json.RawMessage `json:"remedy,omitempty"`
	Shadow    bool            `json:"shadow,omitempty"` // of a policy that is in shadow: it lets every call pass
	Would     *wouldSay       `json:"would,omitempty"`
	Policy    string          `json:"policy"`
}

type netSays struct {
	Net        string `json:"net"`
	Verdict    string `json:"verdict"`
	Transition string `json:"transition,omitempty"`
	Rule       string `json:"rule,omitempty"`
	Shadow     bool   `json:"shadow,omitempty"`
}

// wouldSay is how the nets in shadow would have answered a call that passed.
type wouldSay struct {
	Decision string    `json:"decision"` // refuse, or ask
	Kind     string    `json:"kind"`
	Nets     []netSays `json:"nets,omitempty"`
	Reason   string    `json:"reason"`
}

// outcomeRecord is how an admitted call ended.
type outcomeRecord struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // outcome
	Session string    `json:"session"`
	Call    uint64    `json:"call"`
	Tool    string    `json:"tool"`
	Outcome string    `json:"outcome"`
	Millis  float64   `json:"ms"`
	Late    bool      `json:"late,omitempty"`
	By      string    `json:"by,omitempty"` // who settled it, where it was not the upstream's result
}

// taskRecord is that the upstream goes on with an admitted call as a task. How
// that ends is the outcome of the call.
type taskRecord struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // task
	Session string    `json:"session"`
	Call    uint64    `json:"call"`
	Tool    string    `json:"tool"`
	Task    string    `json:"task"` // as its client calls it
}

// switchRecord is a net that an operator switched on or off.
type switchRecord struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"` // activate, deactivate
	Net   string    `json:"net"`
	Actor string    `json:"actor"`
}

// conflictRecord is that the nets of a session left no tool which all of them
// would let pass: only the winner was heeded in what its client was shown.
type conflictRecord struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // conflict
	Session string    `json:"session"`
	Winner  string    `json:"winner"`
	Nets    []netName `json:"nets"` // those that narrow the list, the winner first
}

// netName is a net as in the other records.
type netName struct {
	Net string `json:"net"`
}

// active reports whether anything is recorded at all.
func (r *recorder) active() bool { return r.out != nil }

func (r *recorder) write(v any) error {
	if r.out == nil {
		return nil
	}
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: %v", errUnrecorded, err)
	}
	err = r.out.Append(line)
	r.broken.Store(err != nil)
	if err != nil {
		return fmt.Errorf("%w: %v", errUnrecorded, err)
	}
	return nil
}

// resumedRecord says that there is a gap before it, in which every call was refused.
type resumedRecord struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"` // resumed
}

// ready reports why nothing can be put on record, as far as that is known: a
// call is then refused before anything is spent on it. Whether it still is so
// is tried with a record that marks the gap.
func (r *recorder) ready() error {
	if !r.broken.Load() {
		return nil
	}
	return r.write(resumedRecord{Time: r.now(), Event: "resumed"})
}

func verdictName(k gate.VerdictKind) string {
	switch k {
	case gate.Free:
		return "free"
	case gate.Gated:
		return "gated"
	case gate.Blocked:
		return "blocked"
	default:
		return "abstain"
	}
}

func outcomeName(o gate.Outcome) string {
	switch o {
	case gate.Success:
		return "success"
	case gate.Failure:
		return "failure"
	default:
		return "unknown"
	}
}
