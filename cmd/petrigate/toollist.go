package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy"
)

// A listedTool is an entry of a tool list: as tools/list gives it, or as
// petrigate tools --json does.
type listedTool struct {
	Name, Exposed, Bare, Canonical string
	InputSchema                    json.RawMessage
}

// A toolSet is tools with all the names that a call of each carries.
type toolSet struct {
	tools []verify.Tool
	known bool // they are all that there is; else rules make them likely

	schemas map[string][]policy.Schema // of their arguments, by each of their names; of likely tools none
}

// knownSet are tools that are all that there is.
func knownSet(list []listedTool, cfg *config.Config) toolSet {
	owners := ownersIn(cfg)
	if cfg == nil {
		owners = ownersOf(list)
	}
	set := toolSet{tools: joined(list, owners), known: true, schemas: make(map[string][]policy.Schema)}
	for i, t := range set.tools {
		schema := policy.ParseSchema(list[i].InputSchema)
		set.schemas[t.Name] = append(set.schemas[t.Name], schema)
		for _, also := range t.Also {
			set.schemas[also.Text] = append(set.schemas[also.Text], schema)
		}
	}
	return set
}

// knownTools are the tools that can be called, where that is asked for.
func (f checkFlags) knownTools(ctx context.Context, s stdio, cfg *config.Config) (toolSet, error) {
	switch {
	case f.tools != "":
		list, err := recordedTools(f.tools)
		for i := range list {
			list[i].complete(ownersIn(cfg))
		}
		return knownSet(list, cfg), err
	case f.live && cfg == nil:
		return toolSet{}, usage("--live wants a configuration: --rules and --net name no servers to ask")
	case f.live:
		list, err := liveTools(ctx, s, cfg)
		return knownSet(list, cfg), err
	default:
		return toolSet{}, nil
	}
}

// recordedTools reads a result of tools/list, its tools, or a list of names.
func recordedTools(path string) ([]listedTool, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the tool list %s: %w", path, text.Innermost(err))
	}
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(b, &list) != nil && json.Unmarshal(b, &list.Tools) != nil {
		return nil, &exit{exitInvalid, fmt.Errorf("%s is not a tool list: write what tools/list answers, or a list of names", path)}
	}
	tools := []listedTool{}
	for i, raw := range list.Tools {
		var tool listedTool
		if json.Unmarshal(raw, &tool.Name) != nil && json.Unmarshal(raw, &tool) != nil || tool.Name+tool.Exposed == "" {
			return nil, &exit{exitInvalid, fmt.Errorf("%s: entry %d of the tool list has no name", path, i+1)}
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// likelyTools are the tools that names of rules are about where no list says it:
// in a configuration with a server gh, a rule about gh_push or gh.push is about
// the tool push of that server. Each other server may have one of that name.
func likelyTools(cfg *config.Config, result *policy.Result) toolSet {
	if cfg == nil || result.Policy == nil {
		return toolSet{}
	}
	servers := enabled(cfg)
	var list []listedTool
	for _, name := range namesIn(result) {
		for _, s := range servers {
			prefix := toolname.Prefix(s.Name, s.Prefix, s.HasPrefix, len(servers) == 1)
			bare, canonical := strings.CutPrefix(name, s.Name+".")
			if !canonical {
				bare = strings.TrimPrefix(name, prefix)
			}
			if bare != name && bare != "" && !strings.ContainsAny(name, "*?") {
				list = append(list, listedTool{Exposed: prefix + bare, Bare: bare, Canonical: s.Name + "." + bare})
			}
		}
	}
	named := len(list)
	for _, t := range list[:named] {
		for _, s := range servers {
			list = append(list, listedTool{Exposed: toolname.Prefix(s.Name, s.Prefix, s.HasPrefix, len(servers) == 1) + t.Bare, Bare: t.Bare, Canonical: s.Name + "." + t.Bare})
		}
	}
	return likely(list, named, ownersIn(cfg))
}

// likely joins the names of tools of which nobody knows whether they are there:
// a bare name may be that of one of them alone. The first so many are named; of
// the others no claim is to depend.
func likely(list []listedTool, named int, owners toolname.Owners) toolSet {
	var set toolSet
	seen := make(map[string]bool)
	for i, t := range list {
		if seen[t.Exposed] {
			continue
		}
		seen[t.Exposed] = true
		tool := joined([]listedTool{t}, owners)[0]
		tool.Supposed = i >= named
		set.tools = append(set.tools, tool)
	}
	return set
}

// namesIn are the names that nets and claims speak of.
func namesIn(result *policy.Result) []string {
	var names []string
	for _, net := range result.Policy.Nets() {
		for _, name := range listed(net) {
			names = append(names, strings.Trim(name, `"`))
		}
	}
	for _, c := range result.Claims {
		names = append(names, c.Tool.Name, c.First.Name)
	}
	return names
}

// enabled are the servers that the proxy runs.
func enabled(cfg *config.Config) []config.Server {
	return slices.DeleteFunc(slices.Clone(cfg.Servers), func(s config.Server) bool { return s.Disabled })
}

// ownersIn are the servers with the prefixes of their tools.
func ownersIn(cfg *config.Config) toolname.Owners {
	if cfg == nil {
		return nil
	}
	var owners toolname.Owners
	servers := enabled(cfg)
	for _, s := range servers {
		owners = append(owners, toolname.Owner{Upstream: s.Name, Prefix: toolname.Prefix(s.Name, s.Prefix, s.HasPrefix, len(servers) == 1)})
	}
	return owners
}

// ownersOf are the servers of tools that were recorded.
func ownersOf(list []listedTool) toolname.Owners {
	var owners toolname.Owners
	for _, t := range list {
		o := toolname.Owner{Upstream: t.names().Upstream, Prefix: strings.TrimSuffix(t.Exposed, t.Bare)}
		if o.Upstream != "" && !slices.ContainsFunc(owners, func(k toolname.Owner) bool { return k.Upstream == o.Upstream }) {
			owners = append(owners, o)
		}
	}
	return owners
}

// complete fills in the names of a tool of which only the one that clients see
// is known: its prefix says of which server it is.
func (t *listedTool) complete(owners toolname.Owners) {
	if t.Exposed != "" {
		return
	}
	t.Exposed = t.Name
	owner := owners.Exposed(t.Name)
	for _, o := range owners {
		if o.Upstream == owner {
			t.Bare = t.Name[len(o.Prefix):]
			t.Canonical = owner + "." + t.Bare
		}
	}
}

// names are those of the tool for the proxy.
func (t listedTool) names() toolname.Names {
	return toolname.Names{Upstream: strings.TrimSuffix(strings.TrimSuffix(t.Canonical, t.Bare), "."), Exposed: t.Exposed, Bare: t.Bare, Canonical: t.Canonical}
}

// joined are the tools under the names that clients see, with their further
// names.
func joined(list []listedTool, owners toolname.Owners) []verify.Tool {
	all := make([]toolname.Names, 0, len(list))
	for _, t := range list {
		all = append(all, t.names())
	}
	tools := []verify.Tool{}
	for i, also := range toolname.Further(all, owners) {
		tools = append(tools, verify.Tool{Name: list[i].Exposed, Also: also})
	}
	return tools
}

// names are all names of the tools; nil if they are not known.
func (s toolSet) names() []string {
	if !s.known {
		return nil
	}
	names := []string{}
	for _, t := range s.tools {
		names = append(names, t.Name)
		for _, also := range t.Also {
			names = append(names, also.Text)
		}
	}
	return names
}

// others are the tools that are known and of which none of the names was seen.
func (s toolSet) others(seen map[string]bool) []string {
	var names []string
	for _, t := range s.tools {
		if s.known && !seen[t.Name] && !slices.ContainsFunc(t.Also, func(n gate.Name) bool { return seen[n.Text] }) {
			names = append(names, t.Name)
		}
	}
	return names
}

// firstStart is how long check --live waits for the upstreams where the
// configuration does not say: a first start may have to fetch the program.
const firstStart = time.Minute

// liveTools asks the upstreams. One that does not answer fails the check.
func liveTools(ctx context.Context, s stdio, cfg *config.Config) ([]listedTool, error) {
	if err := runnable(s.err, cfg); err != nil {
		return nil, err
	}
	quiet := *cfg
	quiet.Audit.File = ""
	if quiet.Startup == config.DefaultStartup {
		quiet.Startup = firstStart
	}
	p, err := build(&quiet, &policy.Result{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	p.Start()
	awaitUpstreams(ctx, s.err, p)
	status := p.Status()
	if down := silent(status.Upstreams, &quiet); len(down) > 0 {
		for _, why := range down {
			printError(s.err, why)
		}
		return nil, &exit{exitUpstream, nil}
	}
	tools, err := p.Tools("")
	for _, left := range status.LeftOut {
		_, _ = fmt.Fprintln(s.err, "petrigate: a tool is left out:", left)
	}
	for _, warning := range status.Warnings {
		_, _ = fmt.Fprintln(s.err, "petrigate: warning:", warning)
	}
	_, _ = fmt.Fprintf(s.err, "%s of %s\n", text.Count(len(tools), "tool"), text.Count(len(status.Upstreams), "upstream"))
	return asListed(tools), err
}

// asListed are the tools of a running proxy.
func asListed(tools []proxy.ToolInfo) []listedTool {
	list := []listedTool{}
	for _, t := range tools {
		list = append(list, listedTool{Exposed: t.Exposed, Bare: t.Bare, Canonical: t.Canonical, InputSchema: t.InputSchema})
	}
	return list
}

// awaitUpstreams waits for the tools of all upstreams, and says on a terminal
// which of them have come up and which it still waits for.
func awaitUpstreams(ctx context.Context, w io.Writer, p *plant) {
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		p.AwaitTools(ctx)
	}()
	bar := newProgress(w)
	defer bar.clear()
	begin := time.Now()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-listed:
			return
		case <-tick.C:
			bar.say(func() string {
				return fmt.Sprintf("waiting for %s (%s)", text.And(silentNames(p)), time.Since(begin).Round(time.Second))
			})
		}
	}
}
