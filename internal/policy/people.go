package policy

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/rules"
)

// checkPeople warns about approvals that cannot be given. This is the case, for example, if the
// approval channel is not open, or if a call requires several people but only the person at the
// client is asked.
func (b *builder) checkPeople() {
	for s := range b.statements {
		s, ok := s.(*rules.Approve)
		if !ok {
			continue
		}
		if msg, hint := b.unasked(s.Via, s.Persons); msg != "" {
			b.atName(s.Before[0], problem(diag.Warning, Unasked, s.Before[0].Pos, listed(s.Before)+" can never be approved: "+msg, hint))
			continue
		}
		for _, n := range s.Before {
			if atClient(s.Via) && b.byHook(n.Text) {
				b.atName(n, problem(diag.Warning, Unasked, n.Pos, n.String()+" can never be approved: "+noQuestion, noQuestionHint))
			}
		}
	}
	for i := range b.source.Nets {
		n := &b.source.Nets[i]
		for _, t := range n.Transitions {
			if t.Type != "manual" {
				continue
			}
			if msg, hint := b.unasked(t.Via, t.Approvals); msg != "" {
				b.inNet(n, problem(diag.Warning, Unasked, position(t.Position), fmt.Sprintf("the transition %q can never be approved: %s", t.Name, msg), hint))
				continue
			}
			if i := slices.IndexFunc(t.Tools, b.byHook); i >= 0 && atClient(t.Via) {
				b.inNet(n, problem(diag.Warning, Unasked, position(t.Position), fmt.Sprintf("the transition %q can never be approved for %q: %s", t.Name, t.Tools[i], noQuestion), noQuestionHint))
			}
		}
	}
}

const (
	noQuestion     = "its calls are reported by an agent's hook, which cannot show a question"
	noQuestionHint = "write via cli, via web or via webhook, or omit via"
)

// atClient reports whether the channel requests approval from the person at the client that made
// the call.
func atClient(via string) bool { return via == "elicit" || via == "url" }

// byHook reports whether all calls with the name are reported by agents' hooks.
func (b *builder) byHook(name string) bool { return b.onlyOf(b.source.Hooked, name) }

// onlyOf reports whether all calls with the name are calls to the given tools. A call can get the
// name from its tool, a map statement or a map entry.
func (b *builder) onlyOf(tools []string, name string) bool {
	if slices.Contains(tools, name) {
		return true
	}
	mapped := b.mappedTo(name)
	return len(mapped) > 0 && !slices.Contains(b.source.Tools, name) && !slices.ContainsFunc(mapped, func(tool string) bool { return !slices.Contains(tools, tool) })
}

// mappedTo returns the tools whose calls can get the name from a map statement in the rules or a
// map entry of a net.
func (b *builder) mappedTo(name string) (tools []string) {
	for s := range b.statements {
		if m, ok := s.(*rules.Map); ok && m.As.Text == name {
			tools = append(tools, list.Map(m.Tools, textOf)...)
		}
	}
	for i := range b.source.Nets {
		given := list.Filter(b.source.Nets[i].Map, func(m config.Map) bool { return m.As == name })
		tools = append(tools, list.Map(given, func(m config.Map) string { return m.Tool })...)
	}
	return tools
}

// unasked returns a reason and a hint if not enough people can be asked through the approval
// channel. Otherwise, both strings are empty.
func (b *builder) unasked(via string, persons int) (msg, hint string) {
	const elicit = "elicit"
	open := []string{elicit, "web", "cli"}
	if b.source.Config != nil && b.source.Config.Approval.Channels != nil {
		open = b.source.Config.Approval.Channels
	}
	switch {
	case (via == "web" || via == "url") && !slices.Contains(open, via) && b.source.Config != nil && b.source.Config.Console.HTTP == "off":
		return fmt.Sprintf("the channel %s needs the console, but console.http is off", via), "write via cli, or omit console.http"
	case via != "" && !slices.Contains(open, via):
		return fmt.Sprintf("the channel %s is not enabled", via), "add it to approval.channels"
	case persons < 2:
		return "", ""
	case via == elicit:
		return "all answers in the client come from the same person", "write via cli, or omit via"
	case via == "" && !slices.ContainsFunc(open, func(c string) bool { return c != elicit }):
		return "all answers in the client come from the same person", "add cli to approval.channels"
	}
	return "", ""
}
