package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/text"
)

// A limit describes how a client handles many tools and long tool names.
type limit struct {
	client string
	tools  int    // largest useful number of tools; 0: no limit
	more   string // what the client does with more tools
	name   int    // maximum length of a tool name, without the prefix of the client; 0: unknown
}

// limits holds the known limits of clients. The length of a client's own prefix, such as
// mcp__petrigate__, is subtracted.
var limits = []limit{
	{"claude-desktop", 0, "", 64},
	{"claude-code", 0, "", 128 - len("mcp__petrigate__")},
	{"cursor", 40, "chooses worse among more", 60 - len("petrigate_")},
	{"codex", 0, "", 64 - len("mcp__petrigate__")},
	{"gemini", 0, "", 63 - len("mcp_petrigate_")},
	{"windsurf", 100, "leaves the rest out", 64},
	{"vscode", 128, "refuses requests with more, its own included", 64},
	{"vscode-insiders", 128, "refuses requests with more, its own included", 64},
}

// toolLimits compares the tools with the limits of the connected clients.
func (d *Doctor) toolLimits(context.Context) []Finding {
	if d.loaded == nil || len(d.tools) == 0 {
		return nil
	}
	var all []Finding
	for _, l := range limits {
		if title := d.connectedTo(l.client); title != "" {
			all = append(all, d.exceeded(l, title)...)
		}
	}
	if len(all) == 0 {
		return []Finding{ok("%s, and no name that a connected client would refuse", text.Count(len(d.tools), "tool"))}
	}
	return all
}

func (d *Doctor) exceeded(l limit, title string) (all []Finding) {
	if l.tools > 0 && len(d.tools) > l.tools {
		all = append(all, warning("leave tools out by tools: { allow: [...] } of a server", "%s are more than the %d of %s, which %s", text.Count(len(d.tools), "tool"), l.tools, title, l.more))
	}
	var long []string
	for _, t := range d.tools {
		if l.name > 0 && len(t.Exposed) > l.name {
			long = append(long, text.Excerpt(t.Exposed, 80))
		}
	}
	if len(long) > 0 {
		slices.Sort(long)
		rest := ""
		if len(long) > 3 {
			rest = " and others"
			long = long[:3]
		}
		all = append(all, warning("give the server a shorter prefix", "%s changes or drops names of more than %d characters: %s%s", title, l.name, strings.Join(long, ", "), rest))
	}
	return all
}

// silentClients are clients that do not declare elicitation and so cannot show forms.
var silentClients = []string{"claude-desktop", "zed", "cline", "gemini", "opencode", "continue", "windsurf"}

// people checks whether a person can be asked where the policy requires it.
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
		return []Finding{ok("people are asked by %s", strings.Join(open, ", "))}
	}
	var all []Finding
	for _, name := range silentClients {
		if title := d.connectedTo(name); title != "" {
			all = append(all, failed("add web and cli to approval.channels, and write no via elicit", "%s shows no forms: nobody can be asked there, and calls that need approval are refused", title))
		}
	}
	if len(all) == 0 {
		return []Finding{ok("people are asked by their client")}
	}
	return all
}
