package proxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// JSON-RPC codes that this proxy answers by itself.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

// decisionKey is where machines find a decision in the _meta of a result.
const decisionKey = wire.OwnMeta + "decision"

// A refusal is what a client is told instead of a result. The text is for a
// model; facts is the same for machines.
type refusal struct {
	text  string
	facts facts
}

type facts struct {
	Decision string  `json:"decision"`          // refuse, ask while a person is waited for, or allow
	Outcome  string  `json:"outcome,omitempty"` // of a call that was allowed: unknown, or failure
	Kind     string  `json:"kind"`
	Cause    string  `json:"cause,omitempty"`
	Approval string  `json:"approval,omitempty"`
	Nets     []block `json:"nets,omitempty"`

	// Retry is after how many seconds time alone makes the call possible; absent: it does not.
	Retry int64 `json:"retryAfterSeconds,omitempty"`

	// Remedy is the calls that have to succeed before this one is allowed, or
	// null where there are none that would do; it is absent where that is not known.
	Remedy json.RawMessage `json:"remedy,omitempty"`
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

type block struct {
	Net    string `json:"net"`
	Cause  string `json:"cause"`
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason"`
}

// refuse makes the answer to what the gate refused.
func (p *Proxy) refuse(t *toolCall, r *gate.Refusal) refusal {
	now := t.gate.Time
	out := refusal{text: r.Text, facts: facts{Decision: "refuse", Kind: string(r.Kind), Retry: int64((r.Retry + time.Second - 1) / time.Second)}}
	for _, b := range r.Blocks {
		out.facts.Nets = append(out.facts.Nets, block{Net: b.Net, Cause: string(b.Cause), Rule: p.where(b.Rule), Reason: b.Reason})
		if out.facts.Cause == "" {
			out.facts.Cause = string(b.Cause)
		}
	}
	out.text = p.refusalText(r, now)
	if p.options.Remedy != nil && r.Retry == 0 { // that time helps is said already
		remedy := p.options.Remedy(t.client.session.gate, t.gate, r)
		out.facts.Remedy = remedy.raw()
		if remedy.Text != "" {
			out.text += " " + remedy.Text
		}
	}
	return out
}

// maxReasons is how many reasons the text of a refusal gives: models read the
// first sentences. Machines find all of them in the facts.
const maxReasons = 2

// refusalText is the sentences of the nets that refuse, each once, the rule
// behind each, and the calls that hold what is missing.
func (p *Proxy) refusalText(r *gate.Refusal, now time.Time) string {
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
		if rule := p.where(block.Rule); rule != "" {
			fmt.Fprintf(&b, " (%s)", rule)
		}
		for _, h := range block.Holds {
			b.WriteString(held(h, now))
		}
	}
	if more := len(seen) - maxReasons; more > 0 {
		fmt.Fprintf(&b, " There are more reasons: %d.", more)
	}
	return b.String()
}

// held says which call holds what is missing. The number of a call of another
// session means nothing to the reader.
func held(h gate.Holder, now time.Time) string {
	if h.Other {
		return fmt.Sprintf(" A call of %s in another session has been in flight for %s and holds the token.", h.Tool, text.Duration(now.Sub(h.Since)))
	}
	return fmt.Sprintf(" Call #%d of %s has been in flight for %s and holds the token.", h.Number, h.Tool, text.Duration(now.Sub(h.Since)))
}

// plainRefusal is a refusal that no net is the cause of.
func plainRefusal(kind, text string) refusal {
	return refusal{text: text, facts: facts{Decision: "refuse", Kind: kind}}
}

// unanswered is what a client is told of a call that was allowed where its
// upstream has no result for it.
func unanswered(kind string, o gate.Outcome, text string) refusal {
	return refusal{text: text, facts: facts{Decision: "allow", Outcome: audit.OutcomeName(o), Kind: kind}}
}

// append writes the whole JSON-RPC answer.
func (r refusal) append(dst, id []byte, modern bool) []byte {
	return wire.AppendResult(dst, id, wire.AppendToolError(nil, r.text, r.meta(), modern))
}

// meta is the refusal for machines.
func (r refusal) meta() []byte {
	meta, err := json.Marshal(map[string]facts{decisionKey: r.facts})
	if err != nil {
		panic(err) // facts are plain data
	}
	return meta
}
