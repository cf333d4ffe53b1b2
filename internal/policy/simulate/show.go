package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// printResult prints the result of a move.
func (m *Simulator) printResult(mv move) {
	if mv.word == "after" {
		m.printf("%s later\n", text.Exact(mv.time))
		return
	}
	c := m.calls[mv.of-1]
	what := fmt.Sprintf("call %d, %s", mv.of, c.written.Tool)
	switch {
	case endings[mv.word].told != "":
		m.printf("%s, %s\n", what, endings[mv.word].told)
	case c.state == callRuns:
		m.printf("%s %s runs; it can succeed or fail\n", m.ink.In(text.Green, "allow:"), what)
		if mv.word == "call" {
			m.noteUnnamed(c.written)
		}
		if c.would != nil {
			m.printf("  in shadow %s: %s\n", sandbox.VerdictOf(c.would), reason(c.would))
		}
	case c.state == callWaits:
		m.printf("%s %s %s: approve or deny\n  %s\n", m.ink.In(text.Yellow, "ask:"), what, c.progress(), reason(c.refusal))
	default:
		m.printf("%s %s\n  %s\n", m.ink.In(text.Red, "refuse:"), what, reason(c.refusal))
		if way := m.of.findRemedy(c.written, m.of.newCall(c.written, mv.of), c.refusal); way.sentence != "" {
			m.printf("  %s\n", way.sentence)
		}
	}
}

// noteUnnamed prints a note if no net applies to the call and the policy does not name the call's
// tool. In that case, the name might be misspelt.
func (m *Simulator) noteUnnamed(c Call) {
	speaks := func(v gate.Verdict) bool { return v.Kind != gate.Abstain }
	names := m.of.names()
	if !slices.ContainsFunc(m.of.session.Classify(m.of.newCall(c, 0)), speaks) && !slices.Contains(names, c.Tool) {
		m.printf("  no rule and no net names this call%s\n", text.DidYouMean(c.Tool, "", names))
	}
}

// printChanges prints how the nets have changed since the given states. Each net is labeled with
// its rule or, if it has no rule, with its name.
func (m *Simulator) printChanges(before []gate.NetState) {
	for i, n := range m.of.session.Nets() {
		was, is := policy.MarkingText(before[i].Marking), policy.MarkingText(n.Marking)
		if was != is {
			m.printf("  %s: %s -> %s\n", m.title(n.Name), was, is)
		}
		m.printValueChanges(&before[i], &n)
		if n.Shadow && policy.MarkingText(before[i].Enforced) != policy.MarkingText(n.Enforced) {
			m.printf("  %s, had it blocked: %s -> %s\n", m.title(n.Name), policy.MarkingText(before[i].Enforced), policy.MarkingText(n.Enforced))
		}
	}
}

// printValueChanges prints how a net's state has changed for each value of its key, such as each
// path. For a net without a key, it prints the amount spent from a limit on a sum, if this amount
// has changed.
func (m *Simulator) printValueChanges(was, is *gate.NetState) {
	before := make(map[string]string)
	for i := range was.Values {
		v := &was.Values[i]
		before[valueText(v.Key)] = stateText(v.Marking, v.Spent)
	}
	change := func(value, text string) {
		if old := cmp.Or(before[value], stateText(was.Marking, "")); old != text {
			m.printf("  %s, %s: %s -> %s\n", m.title(is.Name), value, old, text)
		}
		delete(before, value)
	}
	for i := range is.Values {
		change(valueText(is.Values[i].Key), stateText(is.Values[i].Marking, is.Values[i].Spent))
	}
	for _, value := range slices.Sorted(maps.Keys(before)) {
		if is.More == 0 {
			change(value, stateText(is.Marking, ""))
		}
	}
	if is.Key == "" && was.Spent != is.Spent {
		m.printf("  %s: %s\n", m.title(is.Name), is.Spent)
	}
}

// stateText formats a marking and the amount spent.
func stateText(m gate.Marking, spent string) string {
	text := policy.MarkingText(m)
	if spent != "" {
		text += ", " + spent
	}
	return text
}

// valueText returns the values of a net's key as readable text. Each value follows the name of its
// field, as in "path a.txt".
func valueText(key []gate.KeyValue) string {
	return strings.Join(list.Map(key, func(k gate.KeyValue) string { return k.Field + " " + k.Value }), ", ")
}

// title returns the rule of a net or, for a net without a rule, the net's name.
func (m *Simulator) title(net string) string {
	n := m.of.net(net)
	if n.Labels == nil {
		return net
	}
	_, text, _ := strings.Cut(policy.QuotedRule(n.Rule, net), "  ")
	if f, errs := rules.Parse("", []byte(text)); len(errs) == 0 && len(f.Statements) == 1 {
		return fmt.Sprint(f.Statements[0]) // formatting the parsed statement drops its comments
	}
	return text
}

// reason returns the text of a refusal. If the position of the first rule that refuses the call is
// known, it precedes the text. reason replaces the gate's number of each call with the simulator's
// number.
func reason(r *gate.Refusal) string {
	text := r.Text
	for _, b := range r.Blocks {
		for _, h := range b.Holds {
			text = strings.ReplaceAll(text, fmt.Sprintf("Call %d of %s has", h.Number, h.Tool), fmt.Sprintf("Call %s of %s has", h.ID, h.Tool))
		}
	}
	return blamed(r) + text
}

// printCallable prints the tools that can be called now, and those that cannot.
func (m *Simulator) printCallable() {
	var now, depends, later []string
	session := m.of.session
	names := m.of.names()
	for i, name := range names {
		if name == "" || strings.ContainsAny(name, "*?") || slices.Contains(names[:i], name) {
			continue
		}
		call := m.of.newCall(Call{Tool: name}, 0)
		call.ID = ""
		d, _ := m.of.result.Policy.Decide(session.Snapshot(), call, nil)
		switch d := d.(type) {
		case *gate.Allow:
			now = append(now, name)
		case *gate.Ask:
			now = append(now, name+approvalNote(d.Approvals()))
		case *gate.Refusal:
			if m.dependsOnArguments(d) {
				depends = append(depends, name)
			} else {
				later = append(later, name)
			}
		}
	}
	m.printNames("now:", now)
	m.printNames("it depends on the arguments:", depends)
	m.printNames("not now:", later)
}

// approvalNote returns a note for a call that requires approval. If several people must approve the
// call, the note includes their number.
func approvalNote(people int) string {
	if people < 2 {
		return " (asks)"
	}
	return " (asks " + text.People(people, "", "") + ")"
}

// dependsOnArguments reports whether a call made without arguments was refused only by nets that
// would read its arguments.
func (m *Simulator) dependsOnArguments(r *gate.Refusal) bool {
	return len(r.Blocks) > 0 && !slices.ContainsFunc(r.Blocks, func(b gate.Block) bool {
		n := m.of.net(b.Net)
		keyed := len(n.Key) > 0 || slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return len(t.Key) > 0 })
		return n.Sum == nil && (!keyed || b.Key != nil)
	})
}

// printNames prints a line of names, or nothing if there are no names.
func (m *Simulator) printNames(title string, names []string) {
	const most = 20
	if len(names) == 0 {
		return
	}
	m.printf("%s %s\n", m.ink.In(text.Cyan, title), text.First(most, names))
}

// printStatus prints the nets, the calls that have not ended, the time that has passed, and the
// tools that can or cannot be called now.
func (m *Simulator) printStatus() {
	for _, n := range m.of.session.Nets() {
		idle := ""
		if !n.Active {
			idle = " (inactive)"
		}
		m.printf("  %s%s: %s\n", m.title(n.Name), idle, stateText(n.Marking, n.Spent))
		for i := range n.Values {
			m.printf("    %s: %s\n", valueText(n.Values[i].Key), stateText(n.Values[i].Marking, n.Values[i].Spent))
		}
		if n.More > 0 {
			m.printf("    and %d more values\n", n.More)
		}
		if !n.Next.IsZero() {
			m.printf("    moves by itself in %s\n", text.Exact(n.Next.Sub(m.of.box.Now())))
		}
	}
	for i, c := range m.calls {
		if c.state == callRuns || c.state == callWaits {
			m.printf("call %d, %s, %s\n", i+1, c.written, c.progress())
		}
	}
	if passed := m.of.box.Now().Sub(sandbox.Epoch); passed > 0 {
		m.printf("%s have passed\n", text.Exact(passed))
	}
	m.printCallable()
}

func (m *Simulator) names(text string) error {
	c, err := oneCall(text)
	if err != nil {
		return err
	}
	m.printf("%s\n", namesText(m.of.result.Policy, m.of.newCall(c, 0), m.of.result.Policy.Names(m.of.newCall(c, 0))))
	return nil
}
