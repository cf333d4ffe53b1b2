package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// Refused says why a call is not made, or what became of one that has no result.
// The text is for a model; the facts are the same for machines.
type Refused struct {
	Text  string
	Facts Facts
	Err   error // [Call].Invalid, where that is the reason
	Over  bool  // the session is over

	blocks []gate.Block // of the nets that refuse
}

// Facts are what machines find in the _meta of a refusal.
type Facts struct {
	Decision string  `json:"decision"`          // refuse, ask while a person is waited for, or allow
	Outcome  string  `json:"outcome,omitempty"` // of a call that was allowed: unknown, or failure
	Kind     string  `json:"kind"`
	Cause    string  `json:"cause,omitempty"`
	Approval string  `json:"approval,omitempty"`
	Nets     []Block `json:"nets,omitempty"`

	// Retry is after how many seconds time alone makes the call possible; absent: it does not.
	Retry int64 `json:"retryAfterSeconds,omitempty"`

	// Remedy is the calls that have to succeed before this one is allowed, or
	// null where there are none that would do; it is absent where that is not known.
	Remedy json.RawMessage `json:"remedy,omitempty"`
}

// A Block is what one net says against a call.
type Block struct {
	Net    string `json:"net"`
	Cause  string `json:"cause"`
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason"`
}

// A Remedy is how a refused call becomes allowed. The zero value says that
// nothing is known of it.
type Remedy struct {
	Text  string   // a sentence for a model
	Steps []string // the names of calls that have to succeed, in this order
	None  bool     // there is no such way in this session
}

// raw is the remedy for machines.
func (r Remedy) raw() json.RawMessage {
	switch {
	case r.None:
		return json.RawMessage("null")
	case len(r.Steps) == 0:
		return nil
	}
	steps, err := json.Marshal(r.Steps)
	if err != nil {
		panic(err) // strings are plain data
	}
	return steps
}

// Refuse makes a refusal that no net is the cause of.
func Refuse(kind, text string) *Refused {
	return &Refused{Text: text, Facts: Facts{Decision: "refuse", Kind: kind}}
}

// Unanswered is what a caller is told of a call that was admitted where its
// upstream has no result for it.
func Unanswered(kind string, o gate.Outcome, text string) *Refused {
	return &Refused{Text: text, Facts: Facts{Decision: "allow", Outcome: o.String(), Kind: kind}}
}

// refuse makes the answer to what the nets refused.
func (a *Admission) refuse(c *Call, r *gate.Refusal) *Refused {
	out := &Refused{
		Text:  a.Text(r, c.Session, c.Gate.Time),
		Facts: Facts{Decision: "refuse", Kind: string(r.Kind), Retry: int64((r.Retry + time.Second - 1) / time.Second)},

		blocks: r.Blocks,
	}
	for _, b := range r.Blocks {
		out.Facts.Nets = append(out.Facts.Nets, Block{Net: b.Net, Cause: string(b.Cause), Rule: a.where(b.Rule), Reason: b.Reason})
		if out.Facts.Cause == "" {
			out.Facts.Cause = string(b.Cause)
		}
	}
	return out
}

// remedy adds the way out to the answer.
func (v *verdict) remedy(r *gate.Refusal) {
	if v.state == nil {
		return
	}
	remedy := v.generation.Remedy(v.state, v.call.Gate, r)
	v.refused.Facts.Remedy = remedy.raw()
	if remedy.Text != "" {
		v.refused.Text += " " + remedy.Text
	}
}

// Deny refuses a call for want of the consent that q asks for. said is the answer
// of a person; nil: there is none.
func (a *Admission) Deny(ctx context.Context, c *Call, q *gate.Ask, text string, said *Consent) *Refused {
	r := Refuse(string(gate.KindApproval), text)
	r.Facts.Cause = string(gate.CauseApproval)
	for _, s := range q.Steps {
		r.Facts.Nets = append(r.Facts.Nets, Block{Net: s.Net, Cause: string(gate.CauseApproval), Rule: a.where(s.Rule), Reason: s.Reason})
	}
	a.recordRefusal(ctx, c, r, q.Names, said)
	return r
}

// Refused puts a refusal on record that is not of the nets. It is refused whether
// or not that succeeds.
func (a *Admission) Refused(ctx context.Context, c *Call, r *Refused) {
	a.recordRefusal(ctx, c, r, nil, nil)
}

// maxReasons is how many reasons the text of a refusal gives: models read the
// first sentences. Machines find all of them in the facts.
const maxReasons = 2

// Text is the sentences of the nets that refuse a call of the session, each once, the rule
// behind each, and the calls that hold what is missing.
func (a *Admission) Text(r *gate.Refusal, session string, now time.Time) string {
	if len(r.Blocks) == 0 {
		return r.Text
	}
	var b strings.Builder
	if r.Kind == gate.KindStateChanged {
		b.WriteString("The state changed while a person was asked. ")
	}
	seen := map[string]bool{}
	for _, block := range r.Blocks {
		if seen[block.Reason] {
			continue
		}
		seen[block.Reason] = true
		if len(seen) > maxReasons {
			continue
		}
		if len(seen) > 1 {
			b.WriteByte(' ')
		}
		b.WriteString(block.Reason)
		if rule := a.where(block.Rule); rule != "" {
			fmt.Fprintf(&b, " (%s)", rule)
		}
		for _, h := range block.Holds {
			h.Unknown = h.Unknown || !h.Other && a.Unwritten.has(session, h.Number)
			b.WriteString(held(h, now))
		}
		for i := range block.Near {
			b.WriteString(" " + block.Near[i].Sentence())
		}
	}
	for _, way := range gate.Ways(r.Blocks) {
		b.WriteString(" " + way)
	}
	if more := len(seen) - maxReasons; more > 0 {
		fmt.Fprintf(&b, " There are more reasons: %d.", more)
	}
	return b.String()
}

// held says which call holds what is missing, or spoils what would be evidence. The
// number of a call of another session means nothing to the reader.
func held(h gate.Holder, now time.Time) string {
	what := " and holds the token."
	switch {
	case h.Brings:
		what = ": wait until it has succeeded."
	case h.Voids != "":
		what = fmt.Sprintf(": a call of %s beside it proves nothing.", h.Voids)
	}
	if h.Unknown {
		return unsettled(h, now, what)
	}
	if h.Other {
		return fmt.Sprintf(" A call of %s in another session has been in flight for %s%s", h.Tool, text.Duration(now.Sub(h.Since)), what)
	}
	return fmt.Sprintf(" Call #%d of %s has been in flight for %s%s", h.Number, h.Tool, text.Duration(now.Sub(h.Since)), what)
}

// unsettled is [held] of a call whose outcome is not known: no waiting helps.
func unsettled(h gate.Holder, now time.Time, what string) string {
	call := fmt.Sprintf("call #%d of %s", h.Number, h.Tool)
	if h.Other {
		call = fmt.Sprintf("a call of %s in another session", h.Tool)
	}
	if h.Brings {
		what = "."
	}
	return fmt.Sprintf(" The outcome of %s, made %s ago, is unknown%s An operator can settle it (petrigate sessions settle).", call, text.Duration(now.Sub(h.Since)), what)
}
