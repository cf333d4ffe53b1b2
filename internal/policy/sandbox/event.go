package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// An Event is a call, an answer to an approval request, a result, the activation or deactivation of
// a net, or the passage of time. Its JSON encoding is used in cases and counterexamples.
type Event struct {
	Type    string          `json:"type"` // "call", "answer", "result", "activate", "deactivate" or "wait"
	ID      string          `json:"id,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Also    []string        `json:"also,omitempty"` // other names of the tool
	Weak    []string        `json:"weak,omitempty"` // names in Tool and Also that are weak: they can restrict the call, but they cannot satisfy a requirement or exempt the call from a rule
	Args    json.RawMessage `json:"args,omitempty"`
	Approve Consent         `json:"approve,omitempty"`
	Outcome string          `json:"outcome,omitempty"` // how the call ended; one of [Outcomes]
	Returns json.RawMessage `json:"returns,omitempty"` // result of a successful call, as any JSON value
	Net     string          `json:"net,omitempty"`
	For     string          `json:"for,omitempty"`   // duration of a wait event, such as "20s"
	Times   int             `json:"times,omitempty"` // if positive, maximum number of calls in a row; each admitted call succeeds, and the first call that is not admitted ends the event; if 0, the event makes a single call and leaves it open
}

// Outcomes contains the JSON word for each outcome.
var Outcomes = [...]string{gate.Unknown: "unknown", gate.Success: "success", gate.Failure: "failure"}

// Duration returns the duration of a wait event, or 0 if it is invalid.
func (e *Event) Duration() time.Duration {
	d, _ := time.ParseDuration(e.For)
	return d
}

// Arguments returns the call's arguments, or nil if the event has no arguments.
func (e *Event) Arguments() json.RawMessage {
	if string(e.Args) == "null" {
		return nil
	}
	return e.Args
}

// CallOf returns an event for the call c. An event does not record which names are certain, so
// [Event.Call] treats every name as certain unless it is weak; see [gate.Name].
func CallOf(c gate.Call) Event {
	e := Event{Type: "call", ID: c.ID, Tool: c.Tool, Args: c.Args}
	if c.Foreign {
		e.Weak = append(e.Weak, c.Tool)
	}
	for _, n := range c.Also {
		e.Also = append(e.Also, n.Text)
		if n.Weak {
			e.Weak = append(e.Weak, n.Text)
		}
	}
	return e
}

// Call returns the call that the event describes.
func (e *Event) Call() gate.Call {
	c := gate.Call{ID: e.ID, Tool: e.Tool, Foreign: slices.Contains(e.Weak, e.Tool), Args: e.Arguments()}
	for _, text := range e.Also {
		weak := slices.Contains(e.Weak, text)
		c.Also = append(c.Also, gate.Name{Text: text, Certain: !weak, Weak: weak})
	}
	return c
}

// Play plays an event. For a call or an answer, it returns the decision. The decision is nil if an
// answer matches no pending approval request. For a repeated call, admitted is the number of
// admitted calls.
func (s *Session) Play(e *Event) (d gate.Decision, admitted int) {
	switch e.Type {
	case "call":
		return s.repeat(e.Call(), e.Approve, e.Times, e.Returns, s.Return)
	case "answer":
		return s.Answer(e.ID, e.Approve), 0
	case "result":
		if o := slices.Index(Outcomes[:], e.Outcome); o >= 0 {
			s.Return(e.ID, gate.End{Outcome: gate.Outcome(o), Result: e.Returns})
		}
	case "activate":
		_ = s.Activate(e.Net) // ignore unknown nets
	case "deactivate":
		_ = s.Deactivate(e.Net)
	case "wait":
		s.box.Wait(e.Duration())
	}
	return nil, 0
}

// Repeat makes a call up to the given number of times, and stops early if the call is not admitted.
// Each admitted call succeeds with the given result. If times is 0, Repeat makes a single call and
// leaves it open.
func (s *Session) Repeat(c gate.Call, says Consent, times int, returns []byte) (d gate.Decision, admitted int) {
	return s.repeat(c, says, times, returns, s.End)
}

func (s *Session) repeat(c gate.Call, says Consent, times int, returns []byte, end func(string, gate.End) bool) (d gate.Decision, admitted int) {
	if times == 0 {
		return s.Call(c, says), 0
	}
	for ; admitted < times; admitted++ {
		d = s.Call(c, says)
		if _, ok := d.(*gate.Allow); !ok {
			break
		}
		end(c.ID, gate.End{Outcome: gate.Success, Result: returns})
	}
	return d, admitted
}

// UnmarshalJSON decodes true, false or "wait".
func (c *Consent) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "null":
	case "true":
		*c = Yes
	case "false":
		*c = No
	case `"wait"`:
		*c = Later
	default:
		return fmt.Errorf(`approve must be true, false or "wait", not %s`, b)
	}
	return nil
}

// MarshalJSON encodes c in the form accepted by UnmarshalJSON.
func (c Consent) MarshalJSON() ([]byte, error) {
	return []byte([...]string{Nobody: "null", Yes: "true", No: "false", Later: `"wait"`}[c]), nil
}
