package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/rules"
)

// A successChecker finds rules that depend on the success of a script if no condition defines
// success for that script.
type successChecker struct {
	*builder
	warned map[string]bool // tools already warned about
}

// warn warns about a rule that depends on the success of a script if a script that fails might
// count as successful. It warns once per tool.
func (b successChecker) warn(n rules.Name, effect string) {
	for _, tool := range b.scriptTools(n) {
		known, condition := b.shellOf(tool)
		told := slices.Concat(b.source.Hooked, b.source.Unended)
		if known == nil && !slices.Contains(b.source.Tools, tool) || slices.Contains(told, tool) || condition == "true" || b.hasCondition(tool) || b.warned[tool] {
			continue
		}
		b.warned[tool] = true
		written := rules.Written(tool)
		why := "no condition defines when its scripts succeed"
		hint := fmt.Sprintf(`if a result has an exit code, write: success %s when "result.exitCode == 0"; if it has isError, write: success %s when "true"`, written, written)
		if condition != "" {
			why = known.Name + " does not report whether a script failed or is still running"
			hint = fmt.Sprintf(`write: success %s when %q; and require another tool, or human-approval`, written, condition)
		}
		b.atName(n, problem(diag.Warning, NoCondition, n.Pos, fmt.Sprintf("a failed script of %s may %s: %s", written, effect, why), hint))
	}
}

// scriptTools returns the tools whose scripts can have the name n. These are the tools of map
// statements that assign n to scripts, and n itself if it is a script tool of a well-known server.
func (b successChecker) scriptTools(n rules.Name) (tools []string) {
	if known, _ := b.shellOf(n.Text); known != nil {
		tools = append(tools, n.Text)
	}
	for i := range b.labels.Maps {
		m := &b.labels.Maps[i]
		if m.As == n.Text && !m.Glob && strings.HasPrefix(m.Source, "runs ") {
			tools = append(tools, m.Tool)
		}
	}
	return tools
}

// shellOf returns the configured well-known server that has the given script tool, or nil. It also
// returns the server's success condition for the tool, which may be empty.
func (b successChecker) shellOf(tool string) (known *toolkind.Server, condition string) {
	if b.source.Config == nil {
		return nil, ""
	}
	for i := range b.source.Config.Servers {
		s := &b.source.Config.Servers[i]
		known := toolkind.FindServer(append([]string{s.Command, s.URL}, s.Args...), nil)
		if known == nil || s.Disabled {
			continue
		}
		for name, kind := range known.Kinds {
			if kind == toolkind.Run && slices.Contains(namesOf(s, name), tool) {
				return known, known.Success[name]
			}
		}
	}
	return nil, ""
}

// namesOf returns the names that rules can use for a server's tool.
func namesOf(s *config.Server, tool string) []string {
	return []string{tool, s.Name + "." + tool, s.Name + "_" + tool, s.Prefix + "_" + tool}
}

// hasCondition reports whether a success condition might apply to the tool, under any of its names.
func (b successChecker) hasCondition(tool string) bool {
	c := gate.Call{Tool: tool}
	if b.source.Config != nil {
		for i := range b.source.Config.Servers {
			for _, t := range b.source.Tools {
				if names := namesOf(&b.source.Config.Servers[i], t); slices.Contains(names, tool) {
					c.Also = append(c.Also, list.Map(names, func(name string) gate.Name { return gate.Name{Text: name} })...)
				}
			}
		}
	}
	return slices.ContainsFunc(b.labels.Successes, func(s gate.Condition) bool { return s.AboutCall(&c) })
}
