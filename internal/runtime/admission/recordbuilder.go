package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
)

// setNames stores in the record the names that the policy gives to the call. It stores at most
// maxNames of them and counts the rest.
func (r *decisionEntry) setNames(c *Call, names []gate.Name) {
	if len(names) > maxNames {
		names, r.Omitted = names[:maxNames], len(names)-maxNames
	}
	r.Names = slices.Grow(r.names[:0], len(names))
	for i, n := range names {
		name := audit.Bounded(n.Text)
		r.Names = append(r.Names, name)
		if !n.Certain {
			r.Uncertain = append(r.Uncertain, name)
		}
		if n.Weak {
			r.Weak = append(r.Weak, name)
		}
		own := n.Text == c.Gate.Tool || slices.ContainsFunc(c.Gate.Also, func(also gate.Name) bool { return also.Text == n.Text })
		if own && i > 0 {
			r.Own = i + 1
		}
	}
}

// Limits on the caller-supplied data in one record.
const (
	maxNames  = 64
	maxReason = 4 << 10
)

// outcomeEntry is an outcome record, allocated together with the event list that contains it.
type outcomeEntry struct {
	audit.Outcome
	events [1]audit.Event
}

// A recordBuilder creates the events that record decisions and outcomes.
type recordBuilder struct {
	where    func(gate.Position) string // formats a rule's position for display
	redactor *audit.Redactor
	process  string // name of this process
	now      func() time.Time
}

// admissionEvents returns the events that record an admission.
func (rb *recordBuilder) admissionEvents(v *verdict, d *gate.Allow) []audit.Event {
	entry := &v.entry
	rb.fillDecision(entry, v.call, v.generation, "allow", d.Names, v.consent)
	entry.Call = d.Ticket.Number
	rb.fillVerdicts(entry, v.generation, d.Nets)
	if d.Would != nil {
		entry.Would = rb.shadowEntry(d.Would)
	}
	entry.events[0] = &entry.Decision
	return entry.events[:]
}

// refusalEvents returns the events that record a refusal by the nets.
func (rb *recordBuilder) refusalEvents(v *verdict, d *gate.Refusal) []audit.Event {
	entry := &v.entry
	rb.fillDecision(entry, v.call, v.generation, "refuse", d.Names, nil)
	entry.Kind, entry.Reason = string(d.Kind), bounded(rb.reason(v.refused.Text, d.Kind, d.Blocks))
	rb.fillVerdicts(entry, v.generation, v.prepared.Verdicts())
	for _, b := range d.Blocks { // the verdict is "gated" if the net's validator rejected the call; record it as "blocked"
		i := slices.IndexFunc(entry.Nets, func(n audit.NetVerdict) bool { return n.Net == b.Net })
		if i < 0 {
			i = len(entry.Nets)
			entry.Nets = append(entry.Nets, audit.NetVerdict{Net: b.Net, Rule: rb.where(b.Rule)})
		}
		entry.Nets[i].Verdict = audit.VerdictName(gate.Blocked)
	}
	entry.events[0] = &entry.Decision
	return entry.events[:]
}

// fillVerdicts adds the nets' verdicts to the entry. It also lists the nets that depend on
// unrecorded data of the call; see [Opaque].
func (rb *recordBuilder) fillVerdicts(entry *decisionEntry, g *Generation, verdicts []gate.Verdict) {
	entry.Nets = slices.Grow(entry.nets[:0], len(verdicts))
	for _, v := range verdicts {
		entry.Nets = append(entry.Nets, audit.NetVerdict{Net: v.Net, Verdict: audit.VerdictName(v.Kind), Transition: v.Transition, Rule: rb.where(v.Rule), Shadow: v.Shadow})
		if g.opaque[v.Net] {
			entry.Reads = append(entry.Reads, v.Net)
		}
	}
}

// reason returns the text to record for a refusal by the nets. Unless arguments are recorded
// unchanged, it removes arguments from the sentence or replaces them with a hash. It replaces a
// validator's sentence as a whole, because the sentence could contain any argument.
func (rb *recordBuilder) reason(sentence string, kind gate.Kind, blocks []gate.Block) string {
	if rb.redactor.Plain() {
		return sentence
	}
	if kind == gate.KindValidation {
		sentence = "A validator rejects the arguments."
		for _, b := range blocks {
			if rule := rb.where(b.Rule); rule != "" {
				sentence += " (" + rule + ")"
			}
		}
		return sentence
	}
	sentence = withoutQuotes(sentence, blocks)
	for i := range blocks {
		if b := &blocks[i]; len(b.Key) > 0 {
			sentence = withoutValue(sentence, reading.Format(b.Key), "#"+audit.HashOf(b.Key[0].Value)[:8])
		}
	}
	return sentence
}

// fillDecision fills r with the record of a decision on the call c.
func (rb *recordBuilder) fillDecision(r *decisionEntry, c *Call, g *Generation, decision string, names []gate.Name, consent *Consent) {
	*r = decisionEntry{Decision: audit.Decision{
		Time: rb.now(), Event: "decision", Decision: decision, Policy: g.Fingerprint,
		Session: c.Session, Principal: c.Principal, Client: audit.Bounded(c.Client), ID: string(c.ID),
		Upstream: c.Upstream, Tool: c.Tool, Arguments: c.Digest, Shadow: g.shadow,
	}}
	if r.Called = c.Gate.Time; r.Called.Equal(r.Time) {
		r.Called = time.Time{}
	}
	if r.Arguments == "" {
		r.Arguments = audit.HashOf(c.Gate.Args)
	}
	if c.Gate.Tool != "" { // c.Gate.Tool is empty if the arguments were dropped after the call was sent
		r.Args = rb.redactor.Arguments(c.Gate.Args)
		if g.readsValues {
			r.Values = rb.redactor.Values(g.Reads.Call(&c.Gate))
		}
		if g.countsRows {
			r.Row = audit.HashOf(g.Policy.Row(&c.Gate))
		}
	}
	r.setNames(c, names)
	if consent != nil {
		r.Approval, r.Channel, r.Actor = consent.ID, consent.Channel, consent.Actor
	}
}

// shadowEntry returns the record of a refusal or an approval request that nets in shadow mode would
// have caused.
func (rb *recordBuilder) shadowEntry(r *gate.Refusal) *audit.Would {
	w := &audit.Would{Decision: shadowDecision(r), Kind: string(r.Kind), Reason: bounded(rb.reason(r.Text, r.Kind, r.Blocks))}
	verdict := audit.VerdictName(gate.Blocked)
	if r.Kind == gate.KindApproval {
		verdict = audit.VerdictName(gate.Gated)
	}
	w.Nets = list.Map(r.Blocks, func(b gate.Block) audit.NetVerdict {
		return audit.NetVerdict{Net: b.Net, Verdict: verdict, Rule: rb.where(b.Rule), Shadow: true}
	})
	return w
}

// outcomeEvents returns the events that record the outcome of a call.
func (rb *recordBuilder) outcomeEvents(entry *outcomeEntry, g *Generation, t *Ticket, e *gate.End, by string) []audit.Event {
	*entry = outcomeEntry{Outcome: audit.Outcome{
		Time: e.Time, Event: "outcome", Session: t.Session, Call: t.Number,
		Tool: t.Tool, Outcome: e.Outcome.String(), By: by,
		Millis: float64(e.Time.Sub(t.Since).Microseconds()) / 1000,
	}}
	if e.Outcome == gate.Success && e.Result != nil {
		entry.Values = rb.redactor.Results(g.Reads.Result(e.Result))
	}
	entry.events[0] = &entry.Outcome
	return entry.events[:]
}

// policyEvent returns the event to record when the policy of g takes effect.
func (rb *recordBuilder) policyEvent(g *Generation) audit.Event {
	e := audit.Policy{Time: rb.now(), Event: "policy", Process: rb.process, Policy: g.Fingerprint, Files: g.Files, Active: g.Active, Rows: g.Reads.Rows(), Arguments: rb.redactor.Mode()}
	e.Fields, e.Results = g.Reads.Fields()
	e.Maps = list.Map(g.Policy.Maps(), func(m gate.Map) string { return MapID(&m) })
	for _, n := range g.Policy.Nets() {
		for i := range n.Transitions {
			for _, t := range slices.Concat(n.Transitions[i].Tools, n.Transitions[i].Unless) {
				if strings.Contains(t.Name, ".") && !slices.Contains(e.Actions, t.Name) {
					e.Actions = append(e.Actions, audit.Bounded(t.Name))
				}
			}
		}
	}
	return e
}

func bounded(reason string) string {
	if len(reason) > maxReason {
		return text.Excerpt(reason, maxReason)
	}
	return reason
}

// withoutQuotes removes quoted words and code from a refusal's sentence. The argument blocks
// contains the nets' objections to the call, including the quoted words and code.
func withoutQuotes(sentence string, blocks []gate.Block) string {
	for i := range blocks {
		b := &blocks[i]
		if b.Words != "" {
			sentence = strings.ReplaceAll(sentence, b.Words+" (", " (")
		}
		if b.Doubt != nil {
			sentence = withoutCode(sentence, *b.Doubt)
		}
		for k := range b.Near {
			sentence = withoutCode(sentence, b.Near[k].Why)
		}
	}
	return sentence
}

// withoutCode replaces code in a refusal's sentence with an ellipsis. The doubt d contains the
// code, and can contain advice. If the advice contains code, withoutCode removes the advice from
// the sentence.
func withoutCode(sentence string, d gate.Doubt) string {
	if strings.Contains(d.Advice, "`") {
		sentence = strings.ReplaceAll(sentence, " "+d.Way(), "")
	}
	if d.Code != "" {
		sentence = strings.ReplaceAll(sentence, "`"+d.Code+"`", "`...`")
	}
	return sentence
}

// withoutValue replaces a value in a sentence wherever it occurs as a whole word. The argument
// substitute is the replacement.
func withoutValue(sentence, value, substitute string) string {
	if value == "" {
		return sentence
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(sentence, value)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if begins, ends := strings.TrimRightFunc(before, isWord) == before, strings.TrimLeftFunc(after, isWord) == after; begins && ends {
			b.WriteString(substitute)
		} else {
			b.WriteString(value)
		}
		sentence = after
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// shadowDecision returns the decision that nets in shadow mode would have caused: "refuse" or
// "ask".
func shadowDecision(r *gate.Refusal) string {
	if r.Kind == gate.KindApproval {
		return "ask"
	}
	return "refuse"
}

// MapID returns a short hash that identifies the map statement m in records. The map statements of
// a policy give calls additional names.
func MapID(m *gate.Map) string {
	return audit.HashOf(fmt.Sprintf("%q %v %q %q %q", m.Tool, m.Glob, m.Field, m.Source, m.As))[:16]
}

// maxPositions is the maximum number of positions to cache. Each new policy adds positions.
const maxPositions = 10_000

// A positionCache formats the positions of rules, which are part of every record, and caches the
// results. It is safe for concurrent use.
type positionCache struct {
	text  func(gate.Position) string
	known atomic.Pointer[map[gate.Position]string] // the map is replaced, never modified
}

// textOf formats the given position.
func (p *positionCache) textOf(at gate.Position) string {
	known := p.known.Load()
	if known != nil {
		if text, ok := (*known)[at]; ok {
			return text
		}
	}
	text := p.text(at)
	more := map[gate.Position]string{}
	if known != nil && len(*known) < maxPositions {
		more = maps.Clone(*known)
	}
	more[at] = text
	p.known.CompareAndSwap(known, &more) // if another goroutine has replaced the map meanwhile, keep its map
	return text
}
