package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/text"
)

func (j *judgement) refuse(kind Kind, blocks []Block) *Refusal {
	r := &Refusal{Kind: kind, Names: j.names(), Blocks: blocks, Retry: retry(blocks)}
	r.Text = r.sentence(j.call)
	return r
}

// sentence returns the text of the refusal.
func (r *Refusal) sentence(c *Call) string {
	switch r.Kind {
	case KindDuplicate:
		return fmt.Sprintf("A call with the id %s is still in progress.", strconv.Quote(c.ID))
	case KindDefault:
		return fmt.Sprintf("%s is not on the list of allowed tools.", c.Tool)
	case KindStateChanged:
		return "The state changed while the call waited for approval: " + sentences(r.Blocks, c.Time)
	default:
		return sentences(r.Blocks, c.Time)
	}
}

// sentences joins the distinct reasons of the blocks, followed by their advice.
func sentences(blocks []Block, now time.Time) string {
	var room [4]string
	all := room[:0]
	for i := range blocks {
		text := blocks[i].Reason
		if blocks[i].More > 0 {
			text += fmt.Sprintf(" The same applies to %d more values.", blocks[i].More)
		}
		for _, h := range blocks[i].Holds {
			text += " " + h.sentence(now)
		}
		for k := range blocks[i].Near {
			text += " " + blocks[i].Near[k].Sentence()
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(append(all, Ways(blocks)...), " ")
}

// Ways returns advice on how to rewrite calls that are blocked because a name is uncertain (see
// [Name]). Each element is a sentence. Duplicates are omitted.
func Ways(blocks []Block) (ways []string) {
	for i := range blocks {
		if d := blocks[i].Doubt; d != nil && d.Advice != "" && !slices.Contains(ways, d.Way()) {
			ways = append(ways, d.Way())
		}
	}
	return ways
}

// sentence describes a call in flight that affects the blocked call. It states how long the call
// has been in flight, and whether it holds the missing tokens, will produce them, or keeps other
// calls from counting (see [Transition.Spoils]).
func (h *Holder) sentence(now time.Time) string {
	where := ""
	if h.Other {
		where = " in another session"
	}
	text := fmt.Sprintf("Call %d of %s%s has not ended", h.Number, h.Tool, where)
	if !h.Since.IsZero() && now.After(h.Since) {
		text += fmt.Sprintf(" after %s", now.Sub(h.Since).Round(time.Second))
	}
	switch {
	case h.Brings:
		return text + "; its success provides what is missing."
	case h.Voids != "":
		return text + fmt.Sprintf("; a concurrent call to %s does not count.", h.Voids)
	}
	return text + " and holds what this call needs."
}

// blocks returns a block for each net that blocks the call.
func (j *judgement) blocks() []Block {
	count := 0
	for i := range j.findings {
		if j.findings[i].kind == Blocked {
			count++
		}
	}
	blocks := make([]Block, 0, count)
	values := 0 // number of key values that the current net has blocked so far
	for i := range j.findings {
		f := &j.findings[i]
		if i > 0 && j.findings[i-1].net != f.net {
			values = 0
		}
		if f.kind != Blocked {
			continue
		}
		if values++; values > shownValues {
			blocks[len(blocks)-1].More++
			continue
		}
		blocks = append(blocks, Block{})
		j.block(&blocks[len(blocks)-1], f)
	}
	return blocks
}

// block returns a [Block] for a call that the net d blocks under the given name. The Block's Reason
// is the author's explanation, followed by the given sentence.
func (d *definition) block(name, reason string) Block {
	return Block{Net: d.Name, Cause: d.Cause, Rule: d.Rule, Name: name, Reason: d.explained(reason)}
}

// shownHolders is the maximum number of calls in flight listed in a block. Without this limit, a
// client with many calls in flight would get a very long block.
const shownHolders = 8

// block fills in b to describe why the finding's net blocks the call. Besides the reason, it sets
// the fields that help the caller proceed, such as the retry time and the near miss (see [Near]).
func (j *judgement) block(b *Block, f *finding) {
	*b = Block{Net: f.net.Name, Cause: f.net.Cause, Rule: f.net.Rule, Name: j.call.Tool, Key: f.keyValues()}
	j.explain(b, f)
	if !f.broken && f.objection() == "" {
		l := &f.labels[f.label]
		b.Near = j.nearTo(f.net, l.Text)
		if b.Doubt, b.Reason = j.doubted(f, l, b.Reason); b.Doubt == nil {
			j.quoteCall(b, f, l)
		}
	}
	b.Reason = f.net.explained(b.Reason)
}

// doubted explains a block that is due to a weak name given by a map statement (see [Name] and
// [Map]). The Doubt explains why the call might not have the name, or why its success would not
// count. The returned reason includes this explanation. If nothing needs explaining, doubted
// returns nil and the given reason.
func (c *namedCall) doubted(f *finding, l *naming.Label, reason string) (*Doubt, string) {
	l = f.matched(l)
	if !l.Weak || l.From != naming.FromMap {
		return nil, reason
	}
	why, found := c.gives(f, l.Text)
	switch {
	case found == toolnet.Perhaps && f.doubtful:
		return &why, fmt.Sprintf("Cannot tell whether this is %s: %s.", l.Text, why)
	case found == toolnet.Perhaps:
		return &why, fmt.Sprintf("Cannot tell whether this is %s: %s. If it is: %s", l.Text, why, reason)
	case found == toolnet.Surely && f.doubtful && why.What != "":
		return &why, fmt.Sprintf("The success of this would not show %s: %s.", l.Text, why)
	}
	return nil, reason
}

// matched returns the label to show to the caller when l blocks the call. Usually, this is l. If l
// is a pattern that matches only weak names (see [Name]), a concrete name is clearer. In this case,
// matched returns the first of these names that comes from a map statement, or l if it finds no
// such name.
func (f *finding) matched(l *naming.Label) *naming.Label {
	if l.Glob == 0 || !l.Weak {
		return l
	}
	for i := range f.labels {
		if k := &f.labels[i]; k.Glob == 0 && k.Weak && k.From == naming.FromMap && toolnet.MatchGlob(l.Text, k.Text) {
			return k
		}
	}
	return l
}

// gives reports whether a map statement (see [Map]) gives the call the name. If the finding's net
// has Labels, gives uses the policy's map statements; otherwise, it uses the net's own. The Doubt
// explains why the name is uncertain or why the call's success would not count; see [Policy.Why].
func (c *namedCall) gives(f *finding, name string) (Doubt, Found) {
	if f.net.Labels == nil {
		return f.net.own.Why(c.call, c.tools, name)
	}
	return c.policy.names.Why(c.call, c.tools, name)
}

// explain sets the block's reason, name, retry time and list of calls in flight.
func (j *judgement) explain(b *Block, f *finding) {
	if reason := f.objection(); reason != "" {
		b.Reason, b.Retry = f.fillKey(reason), f.special.retry
		return
	}
	if f.broken {
		b.Reason = f.withReason(fmt.Sprintf("Net '%s' cannot judge the call because its mapper failed.", f.net.Name))
		return
	}
	l := &f.labels[f.label]
	if l.Glob == 0 {
		b.Name = l.Text
	}
	if f.lacks() {
		lack := f.plan.missing
		b.Reason = f.withReason(lack.reading.Explain(lack.key, cmp.Or(b.Name, j.call.Tool)))
		return
	}
	if f.doubtful {
		b.Reason = f.withReason(doubt(l, b.Name))
		return
	}
	b.Reason = f.reason(b.Name)
	if f.data.Stuck {
		b.Reason = f.withReason(f.net.unrest())
	}
	lists, _ := f.net.listing.Lookup(l, f.net.listing.Spared(f.labels))
	holds := slices.Concat(f.awaited(j.state, lists), f.holders(j.state, lists), f.spoilers(j.state))
	b.Holds = holds[:min(len(holds), shownHolders)]
	j.wait(f, lists, b)
}

// doubt returns the reason for blocking a call that might not have the given name. The net accepts
// the call only if the call is certain to have the name.
func doubt(l *naming.Label, name string) string {
	if l.From&naming.FromTool != 0 {
		return fmt.Sprintf("Cannot tell which server's %s this net waits for: the net must name the server too.", name)
	}
	return fmt.Sprintf("Cannot tell whether this is %s: write the command plainly.", name)
}

// wait sets b.Retry to the time until timed transitions (see [Transition.Every]) enable one of the
// given transitions. It also mentions this time in the reason. If [net.waitFor] finds no such time,
// wait does nothing.
func (c *namedCall) wait(f *finding, transitions []int, b *Block) {
	if in, ok := f.net.waitFor(f.data, c.call.Time, transitions); ok {
		b.Retry = in
		b.Reason = fmt.Sprintf("%s; the next call is possible in %s.", strings.TrimSuffix(b.Reason, "."), text.RoundedUp(in))
	}
}

// retry returns how long it takes until all blocking nets allow the call merely because time has
// passed. It returns 0 if this never happens or cannot be predicted for one of the nets.
func retry(blocks []Block) (last time.Duration) {
	for i := range blocks {
		if blocks[i].Retry == 0 {
			return 0
		}
		last = max(last, blocks[i].Retry)
	}
	return last
}

// holders returns the calls in flight that hold the tokens that the given transitions lack.
func (f *finding) holders(s *State, transitions []int) []Holder {
	var held []Holder
	for i, flight := range f.data.Flights {
		twice := slices.ContainsFunc(f.data.Flights[:i], func(g Flight) bool { return g.SameCall(&flight) && f.holds(g, transitions) })
		if !twice && f.holds(flight, transitions) {
			held = append(held, s.holder(f.net, flight))
		}
	}
	return held
}

// awaited returns at most one call in flight: the first whose success would produce tokens that the
// given transitions lack.
func (f *finding) awaited(s *State, transitions []int) []Holder {
	ts := f.net.net.Transitions
	for _, w := range f.data.Watches {
		brings := func(t int) bool { return ts[w.Transition].AddsMissing(&ts[t], f.data.Marking) }
		if slices.ContainsFunc(transitions, brings) && !slices.Contains(f.data.Lapsed(), w) && !slices.Contains(f.net.results, w.Transition) {
			h := s.holder(f.net, w)
			h.Brings = true
			return []Holder{h}
		}
	}
	return nil
}

// holds reports whether the call in flight holds tokens taken from a place that has too few tokens
// for one of the given transitions.
func (f *finding) holds(flight Flight, transitions []int) bool {
	ts := f.net.net.Transitions
	return slices.ContainsFunc(transitions, func(t int) bool { return ts[flight.Transition].TakesMissing(&ts[t], f.data.Marking) })
}

// Refusal returns the refusal of a call that was not approved. Use it if the answer was no, no
// answer arrived, or no person could be asked. The caller must also withdraw the question; see
// [Ask.Withdraw].
func (a *Ask) Refusal() *Refusal {
	r := &Refusal{Kind: KindApproval, Names: a.Names, Blocks: blocksOf(a.Steps)}
	r.Text = r.sentence(&a.Call)
	return r
}

// blocksOf returns a block for each net of the given steps. The reason of each block is the net's
// reason for requiring approval.
func blocksOf(steps []Step) []Block {
	var blocks []Block
	for _, s := range steps {
		if !slices.ContainsFunc(blocks, func(b Block) bool { return b.Net == s.Net }) {
			blocks = append(blocks, Block{Net: s.Net, Cause: CauseApproval, Rule: s.Rule, Reason: s.Reason, Name: s.Name, Doubt: s.Doubt})
		}
	}
	return blocks
}

// shownValues is the maximum number of blocked key values shown for a net.
const shownValues = 10
