package admission

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
)

// allowEvents returns the events of an admission.
func (a *Admission) allowEvents(v *verdict, d *gate.Allow) []audit.Event {
	if !a.ledger.Records() {
		return nil
	}
	entry := &v.entry
	a.fillDecision(entry, v.call, v.generation, "allow", d.Names, v.consent)
	entry.Call = d.Ticket.Number
	a.Recent.note(v.call.Key, entry.Call, entry.Args)
	a.recordVerdicts(entry, v.generation, d.Nets)
	entry.Would = a.shadowRecord(d.Would)
	return entry.asEvents()
}

// refusalEvents returns the events of a refusal by the nets.
func (a *Admission) refusalEvents(v *verdict, d *gate.Refusal) []audit.Event {
	if !a.ledger.Records() {
		return nil
	}
	entry := &v.entry
	a.fillDecision(entry, v.call, v.generation, "refuse", d.Names, nil)
	entry.Kind, entry.Reason = string(d.Kind), bounded(a.reason(v.refused.Text, d.Kind, d.Blocks))
	a.recordVerdicts(entry, v.generation, v.prepared.Verdicts())
	for _, b := range d.Blocks { // a net blocked by a validator has the verdict gated so far
		i := slices.IndexFunc(entry.Nets, func(n audit.NetSays) bool { return n.Net == b.Net })
		if i < 0 {
			i = len(entry.Nets)
			entry.Nets = append(entry.Nets, audit.NetSays{Net: b.Net, Rule: a.where(b.Rule)})
		}
		entry.Nets[i].Verdict = audit.VerdictName(gate.Blocked)
	}
	return entry.asEvents()
}

// recordVerdicts records the verdicts of the nets, and the nets that read more of the call than the
// record contains.
func (a *Admission) recordVerdicts(entry *decisionEntry, g *Generation, verdicts []gate.Verdict) {
	entry.Nets = slices.Grow(entry.nets[:0], len(verdicts))
	for _, v := range verdicts {
		entry.Nets = append(entry.Nets, audit.NetSays{Net: v.Net, Verdict: audit.VerdictName(v.Kind), Transition: v.Transition, Rule: a.where(v.Rule), Shadow: v.Shadow})
		if g.opaque[v.Net] {
			entry.Reads = append(entry.Reads, v.Net)
		}
	}
}

// logRefusal logs and counts a refusal.
func (a *Admission) logRefusal(c *Call, r *Refused) {
	a.log.Info("call refused", logkind.Refused, "tool", c.Canonical, "session", c.Session, "kind", r.Facts.Kind, "reason", withoutQuotes(r.Text, r.blocks))
	if a.watch.meter != nil {
		a.watch.meter.Refused(r)
	}
}

// recordRefusal records a refusal that moves no net.
func (a *Admission) recordRefusal(ctx context.Context, c *Call, r *Refused, names []gate.Name, consent *Consent) {
	if r.Facts.Decision != "ask" { // a question is logged once, not in each round
		a.logRefusal(c, r)
	}
	if !a.ledger.Records() {
		return
	}
	g := a.Generation()
	if names == nil && r.Facts.Decision == "ask" && c.Gate.Tool != "" {
		names = g.Policy.Names(c.Gate)
	}
	entry := &decisionEntry{}
	a.fillDecision(entry, c, g, r.Facts.Decision, names, consent)
	entry.Kind, entry.Reason = r.Facts.Kind, bounded(r.Text)
	if entry.Approval == "" {
		entry.Approval = r.Facts.Approval
	}
	for _, b := range r.Facts.Nets {
		entry.Nets = append(entry.Nets, audit.NetSays{Net: b.Net, Verdict: audit.VerdictName(gate.Blocked), Rule: b.Rule})
	}
	if err := a.append(ctx, &entry.Decision); err != nil {
		a.log.Error("recording a refusal", "error", err)
	}
}

func bounded(reason string) string {
	if len(reason) > maxReason {
		return text.Excerpt(reason, maxReason)
	}
	return reason
}

// reason returns the text of a refusal by the nets for the record. Unless arguments may be
// recorded, it contains none: a prefix of the hash replaces the value of a key.
func (a *Admission) reason(sentence string, kind gate.Kind, blocks []gate.Block) string {
	if a.redactor.Plain() {
		return sentence
	}
	if kind == gate.KindValidation {
		sentence = "A validator does not accept the arguments."
		for _, b := range blocks {
			if rule := a.where(b.Rule); rule != "" {
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

// withoutQuotes removes quoted arguments from the text of the blocks: those of the call, of scripts
// that could not be analyzed, and of calls that did not count.
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

// withoutCode removes quoted parts of the script from the sentence.
func withoutCode(sentence string, d gate.Doubt) string {
	if strings.Contains(d.Advice, "`") {
		sentence = strings.ReplaceAll(sentence, " "+d.Way(), "")
	}
	if d.Code != "" {
		sentence = strings.ReplaceAll(sentence, "`"+d.Code+"`", "`...`")
	}
	return sentence
}

// withoutValue replaces a value where it is not part of a longer word.
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

// fillDecision fills r with the record of a decision on c.
func (a *Admission) fillDecision(r *decisionEntry, c *Call, g *Generation, decision string, names []gate.Name, consent *Consent) {
	*r = decisionEntry{Decision: audit.Decision{
		Time: a.now(), Event: "decision", Decision: decision, Policy: g.Fingerprint,
		Session: c.Session, Principal: c.Principal, Client: audit.Bounded(c.Client), ID: string(c.ID),
		Upstream: c.Upstream, Tool: c.Tool, Arguments: c.Digest, Shadow: g.Policy.Shadow(),
	}}
	if r.Called = c.Gate.Time; r.Called.Equal(r.Time) {
		r.Called = time.Time{}
	}
	if r.Arguments == "" {
		sum := sha256.Sum256(c.Gate.Args)
		r.Arguments = hex.EncodeToString(sum[:])
	}
	if c.Gate.Tool != "" { // empty for a call that is in flight already
		r.Args = a.redactor.Arguments(c.Gate.Args)
		r.Values = a.redactor.Values(g.Reads.Call(&c.Gate))
		if row := g.Policy.Row(&c.Gate); row != "" {
			r.Row = audit.HashOf(row)
		}
	}
	r.setNames(c, names)
	if consent != nil {
		r.Approval, r.Channel, r.Actor = consent.ID, consent.Channel, consent.Actor
	}
}

// Begin records the start of this process and the policy in force. If the ledger has a chain for
// each process, the start record names the ends of the other chains.
func (a *Admission) Begin(ctx context.Context, p audit.Process) {
	p.Time, p.Event, p.Process = a.now(), "start", a.process
	if l, ok := a.ledger.(interface {
		Heads(ctx context.Context) ([]audit.Head, error)
	}); ok {
		var err error
		if p.Heads, err = l.Heads(ctx); err != nil {
			a.log.Error("the ends of the chains of other processes are not known", "error", err)
		}
	}
	a.note(ctx, p)
	a.note(ctx, a.policyEvent(a.Generation()))
}

// Finish records the end of this process.
func (a *Admission) Finish(ctx context.Context) {
	a.Unwritten.catchUp(ctx)
	for _, e := range a.Unwritten.List() {
		a.log.Error("the outcome stays unknown: it could not be put on record before the end of the process",
			"tool", e.Tool, "session", e.Session, "call", e.Call, "outcome", e.Outcome)
	}
	a.note(ctx, audit.Process{Time: a.now(), Event: "end", Process: a.process})
}

// recordSession records the begin or the end of a session.
func (a *Admission) recordSession(ctx context.Context, event string, k Key, at time.Time) {
	a.note(ctx, audit.Session{Time: at, Event: event, Session: k.Session, Principal: k.Principal, Process: a.process})
}

// note records an event without reporting an error to the caller. If it fails, calls are refused
// anyway.
func (a *Admission) note(ctx context.Context, e audit.Event) {
	if err := a.Append(ctx, e); err != nil {
		a.log.Error("recording an event", "event", fmt.Sprintf("%T", e), "error", err)
	}
}

// shadowRecord returns the verdict of the nets in shadow against the call, for the record; nil:
// none.
func (a *Admission) shadowRecord(r *gate.Refusal) *audit.Would {
	if r == nil {
		return nil
	}
	w := &audit.Would{Decision: shadowDecision(r), Kind: string(r.Kind), Reason: bounded(a.reason(r.Text, r.Kind, r.Blocks))}
	verdict := audit.VerdictName(gate.Blocked)
	if r.Kind == gate.KindApproval {
		verdict = audit.VerdictName(gate.Gated)
	}
	for _, b := range r.Blocks {
		w.Nets = append(w.Nets, audit.NetSays{Net: b.Net, Verdict: verdict, Rule: a.where(b.Rule), Shadow: true})
	}
	return w
}

// Append records an event that moves no net.
func (a *Admission) Append(ctx context.Context, e audit.Event) error {
	if !a.ledger.Records() {
		return nil
	}
	return a.append(ctx, e)
}

func (a *Admission) append(ctx context.Context, e audit.Event) error {
	c, err := a.ledger.Append(ctx, e)
	if err != nil {
		return err
	}
	return wait(ctx, c)
}

// countShadow logs and counts the objection of nets in shadow to a call that passes. The client
// does not see it.
func (a *Admission) countShadow(c *Call, number uint64, r *gate.Refusal) {
	if r == nil {
		return
	}
	w := Would{
		Tool: c.Canonical, Decision: shadowDecision(r), Kind: string(r.Kind), Nets: []string{}, Rules: []string{},
		Reason: withoutQuotes(r.Text, r.Blocks), Last: c.Gate.Time, Arguments: a.Recent.Arguments(c.Key, number),
	}
	for _, b := range r.Blocks {
		w.Nets = append(w.Nets, b.Net)
		if rule := a.where(b.Rule); rule != "" {
			w.Rules = append(w.Rules, rule)
		}
	}
	a.log.Info("in shadow: the call passes", logkind.Shadowed, "would", w.Decision, "tool", w.Tool, "session", c.Session, "kind", w.Kind, "nets", w.Nets, "reason", w.Reason)
	a.counts.add(c.Session, w)
}

// shadowDecision returns the decision that the caller would have got.
func shadowDecision(r *gate.Refusal) string {
	if r.Kind == gate.KindApproval {
		return "ask"
	}
	return "refuse"
}
