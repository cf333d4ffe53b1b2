package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/text"
)

// toolLimits checks that the tools do not exceed the limits of any connected client.
func (d *Doctor) toolLimits(context.Context) []Finding {
	if d.loaded == nil || len(d.tools) == 0 {
		return nil
	}
	var all []Finding
	for _, c := range clientcfg.All() {
		if d.isConnected(c.Name) {
			all = append(all, d.exceeded(c.Limits, c.Title)...)
		}
	}
	return orOK(all, "%s, and every connected client accepts their names", text.Count(len(d.tools), "tool"))
}

func (d *Doctor) exceeded(l clientcfg.Limits, title string) (all []Finding) {
	if l.Tools > 0 && len(d.tools) > l.Tools {
		all = append(all, warning("omit tools with tools: { allow: [...] } of a server", "%s exceed %s's limit of %d: it %s", text.Count(len(d.tools), "tool"), title, l.Tools, l.MoreTools))
	}
	exceeds := func(t check.ListedTool) bool { return l.NameLength > 0 && len(t.Exposed) > l.NameLength }
	long := list.Map(list.Filter(d.tools, exceeds), func(t check.ListedTool) string { return text.Excerpt(t.Exposed, 80) })
	if len(long) > 0 {
		slices.Sort(long)
		rest := ""
		if len(long) > 3 {
			rest = " and others"
			long = long[:3]
		}
		all = append(all, warning("give the server a shorter prefix", "%s changes or drops names of more than %d characters: %s%s", title, l.NameLength, strings.Join(long, ", "), rest))
	}
	return all
}

// people checks that a person can be asked for every approval that the policy requires.
func (d *Doctor) people(context.Context) []Finding {
	if d.result == nil {
		return nil
	}
	any, client := asksPeople(d.result)
	if !any {
		return nil
	}
	open := d.loaded.Approval.Channels
	if open == nil {
		open = channel.Usual()
	}
	alone := !slices.ContainsFunc(open, func(name string) bool { return !channel.IsClient(name) })
	if !alone && !client {
		return []Finding{ok("approvals go through %s", strings.Join(open, ", "))}
	}
	var all []Finding
	for _, c := range clientcfg.All() {
		if c.NoForms && d.isConnected(c.Name) {
			all = append(all, failed("add web and cli to approval.channels, and remove via elicit from the rules", "%s does not support forms: it cannot ask for approvals, so calls that require one are refused", c.Title))
		}
	}
	return orOK(all, "approvals go through the client")
}
