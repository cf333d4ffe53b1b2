package doctor

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/takeover"
	"github.com/petrigate/petrigate/internal/text"
)

// firstFailClosed is the first version of Claude Code where a failing hook can refuse a call.
const firstFailClosed = "2.1.295"

// hooks checks the hooks of every agent that runs petrigate in its hooks or is connected to
// petrigate as a client.
func (d *Doctor) hooks(ctx context.Context) []Finding {
	var all []Finding
	claude := false
	for _, h := range d.Desk.InspectHooks() {
		claude = claude || h.Agent == "claude-code" && len(h.There) > 0
		if h.Agent == "vscode" && len(h.There) > 0 && claude {
			all = append(all, warning("petrigate disconnect vscode --hooks", "VS Code also runs the hooks of Claude Code, so each call counts twice"))
		}
		switch {
		case h.Problem != "" && slices.ContainsFunc(d.clients, func(c takeover.Inspection) bool { return c.File == h.File }):
			// the client's check has already reported the problem
		case h.Problem != "":
			all = append(all, warning("correct the file", "%s: %s", h.Title, h.Problem))
		case len(h.There) > 0:
			all = append(append(all, d.checkHooks(h)...), d.unansweredHooks(ctx, h)...)
		case h.Kept:
			all = append(all, warning("petrigate connect "+h.Client+" --hooks", "hooks for %s are missing (%s)", h.Title, h.File))
		case d.isConnected(h.Client) && d.loaded != nil && d.loaded.Listen.Hooks:
			all = append(all, warning("petrigate connect "+h.Client+" --hooks", "%s is connected without hooks: no rule applies to its own tools", h.Title))
		}
	}
	return slices.Concat(all, d.service(), d.unreportedScripts(), d.deniedTools())
}

// deniedTools finds built-in tools that the policy denies by default. It considers only the agents
// that run petrigate as a hook.
func (d *Doctor) deniedTools() []Finding {
	agents, _ := d.Desk.HookedAgents()
	found := problems(check.Denied(d.loaded, agents))
	for i := range found {
		if d.loaded.Mode != "shadow" {
			found[i].Status = Failed
		}
	}
	return found
}

// unreportedScripts finds rules that depend on the result of a script although no hook reports that
// result.
func (d *Doctor) unreportedScripts() []Finding {
	agents, complete := d.Desk.HookedAgents()
	if len(agents) == 0 || d.result == nil || !d.answered {
		return nil
	}
	known := check.KnownSet(d.tools, d.loaded)
	known.AddHooks(agents, complete)
	source := policy.FromConfig(d.loaded)
	source.Tools, source.Unended = known.Names(), known.Unended()
	result, err := policy.Build(source)
	if err != nil {
		return nil // the check of the configuration has already reported the error
	}
	return problems(slices.DeleteFunc(result.Problems, func(p diag.Problem) bool { return p.Code != policy.UntoldEnd }))
}

// checkHooks checks an agent's hooks that run petrigate.
func (d *Doctor) checkHooks(h takeover.HookInspection) []Finding {
	fix := "petrigate connect " + h.Client + " --hooks"
	var all []Finding
	if missing := h.Missing(h.There); len(missing) > 0 {
		f := warning(fix, "%s has no petrigate hook for %s", h.Title, text.And(missing))
		if slices.Contains(missing, "PreToolUse") || slices.Contains(missing, "preToolUse") || slices.Contains(missing, "BeforeTool") {
			f.Status = Failed
		}
		all = append(all, f)
	}
	for _, line := range h.Off {
		all = append(all, failed("remove it, or work in another folder", "%s does not run hooks: %s", h.Title, text.Escape(line)))
	}
	for _, t := range h.There {
		if t.Before && t.Narrow {
			all = append(all, failed(fix, "%s does not run its hook for %s before each call, or does not wait for it", h.Title, t.Event))
		}
		if t.Before && h.CanClose(d.Desk.System) && !t.Closed {
			all = append(all, failed(fix, "%s lets a call pass if its hook for %s fails", h.Title, t.Event))
		}
	}
	if i := slices.IndexFunc(h.There, func(t clientcfg.Hook) bool { return t.URL != "" }); i >= 0 && d.loaded != nil {
		if at, _ := takeover.HookURL(d.loaded.Listen); h.There[i].URL != at+"/hook/"+h.Agent {
			all = append(all, failed(fix, "the hook in %s calls an address that does not serve hooks in this configuration", h.Title))
		}
	}
	switch {
	case h.Agent == "claude-code":
		all = append(all, d.claude()...)
	case !h.ClosesAll():
		all = append(all, warning("there is no complete fix: see docs/hooks.md", "%s: %s", h.Title, strings.Join(h.Config.Gaps, "; ")))
	}
	return orOK(all, "petrigate is installed as a hook in %s (%s)", h.Title, h.File)
}

// claude checks whether the installed version of Claude Code supports onFailure.
func (d *Doctor) claude() []Finding {
	switch v := d.claudeVersion(); {
	case v == "":
		return []Finding{warning("check claude --version", "the version of Claude Code is unknown; before %s a failing hook lets the call pass", firstFailClosed)}
	case !atLeast(v, firstFailClosed):
		return []Finding{failed("claude update", "Claude Code %s lets a call pass if a hook fails; %s is the first version that does not", v, firstFailClosed)}
	}
	return nil
}

var dotted = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// claudeVersion returns the version of the installed Claude Code, or "" if it cannot be determined.
// It reads the version from files, because the doctor does not run the programs that it checks,
// except the upstreams.
func (d *Doctor) claudeVersion() string {
	path, err := exec.LookPath("claude")
	if err != nil {
		return ""
	}
	found := []string{filepath.Dir(path)} // the program may be a wrapper script that npm installed in this directory, so the package may be below it
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return ""
	}
	for _, base := range []string{filepath.Base(path), filepath.Base(filepath.Dir(path))} {
		if dotted.MatchString(base) {
			return base
		}
	}
	for _, dir := range append(found, filepath.Dir(path)) {
		for _, of := range []string{dir, filepath.Dir(dir), filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code")} {
			if v := claudePackage(of); v != "" {
				return v
			}
		}
	}
	return ""
}

// claudePackage returns the version of the Claude Code package in a directory, or "" if the package
// is not there.
func claudePackage(dir string) string {
	src, err := os.ReadFile(filepath.Join(dir, "package.json"))
	var p struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if err != nil || json.Unmarshal(src, &p) != nil || !strings.Contains(p.Name, "claude-code") || !dotted.MatchString(p.Version) {
		return ""
	}
	return p.Version
}

// atLeast reports whether the version v is the minimum version or a later one. Both consist of
// three numbers.
func atLeast(v, minimum string) bool {
	numbers := func(s string) (all []int) {
		for part := range strings.SplitSeq(s, ".") {
			n, _ := strconv.Atoi(part)
			all = append(all, n)
		}
		return all
	}
	return slices.Compare(numbers(v), numbers(minimum)) >= 0
}
