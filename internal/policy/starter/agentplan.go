package starter

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// NewAgent creates a plan for an agent's built-in tools. If the configuration c is nil, the
// configuration file does not exist and the plan creates it. tests contains the commands that run
// the project's tests.
func NewAgent(ctx context.Context, file string, c *config.Config, a Agent, tests []string, effort check.Effort) (*Plan, error) {
	src, made := []byte("version: 1\n"), c == nil
	var err error
	if made {
		c, err = config.Parse(file, src, config.Options{})
	} else {
		file = c.File
		src, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	plan := &Plan{
		Config: file, File: filepath.Join(filepath.Dir(file), a.FileName()), Before: src, made: made, agent: &a,
		secrets: c.Secrets(), fetch: c.Fetched, text: c.TextOnly, Enforced: c.Has("mode") && c.Mode != "shadow",
		Rules: a.rules(tests, c.Default == "deny"), tested: len(tests) > 0, shell: c.Has("shell"),
	}
	if err := plan.prepareAgent(c); err != nil {
		return nil, err
	}
	if _, err := plan.verify(ctx, check.ToolSet{Agents: true}, c.Default == "deny", effort); err != nil {
		return nil, err
	}
	return plan, plan.problems()
}

// prepareAgent adds the rules file to the list of rules in the new configuration. If the
// configuration has no rules, no nets and no mode, prepareAgent also adds shadow mode. If the file
// already exists or the list cannot be extended, prepareAgent sets ExistingPolicy instead, so that
// nothing is written.
func (plan *Plan) prepareAgent(c *config.Config) (err error) {
	plan.Client = !plan.made && !c.Has("version") && objectOffset(plan.Before) >= 0
	name := filepath.Base(plan.File)
	plan.Enforced = plan.Enforced || !c.Has("mode") && (c.Has("rules") || c.Has("nets"))
	switch {
	case mayExist(plan.File):
		plan.ExistingPolicy = plan.File
	case c.Has("rules"):
		if plan.After = appendRuleFile(plan.Before, name); plan.After == nil {
			plan.ExistingPolicy = plan.Config
		}
	default:
		keys := []key{{"rules", "rules:\n  - file: " + name, `"rules": [{ "file": "` + name + `" }]`}}
		if !c.Has("mode") && !c.Has("nets") { // nets that are already enforced must stay enforced
			keys = append([]key{shadowKey}, keys...)
		}
		plan.After, err = splice(plan.Before, keys)
	}
	plan.readExisting(c)
	return err
}

var rulesList = regexp.MustCompile(`(?m)^rules:[ \t]*(#[^\r\n]*)?\r?\n((?:[ \t]*(?:-|#|[ \t])[^\r\n]*\r?\n)+)`)

// appendRuleFile adds a file to the list of rules in a YAML configuration. It returns nil if the
// list is not a plain list of files.
func appendRuleFile(src []byte, name string) []byte {
	at := rulesList.FindSubmatchIndex(append(bytes.Clone(src), '\n'))
	if at == nil {
		return nil
	}
	list := string(append(bytes.Clone(src), '\n')[at[4]:at[5]])
	newline, indent, used := "\n", "", 0
	if strings.Contains(list, "\r\n") {
		newline = "\r\n"
	}
	for line := range strings.Lines(list) {
		if !strings.HasPrefix(strings.TrimLeft(line, " "), "- file: ") {
			break
		}
		indent, used = line[:len(line)-len(strings.TrimLeft(line, " "))], used+len(line)
	}
	end := at[4] + used
	if used == 0 || strings.TrimSpace(list[used:]) != "" {
		return nil
	}
	var b bytes.Buffer
	b.Write(src[:min(end, len(src))])
	if !bytes.HasSuffix(b.Bytes(), []byte("\n")) {
		b.WriteString(newline)
	}
	b.WriteString(indent + "- file: " + name + newline)
	b.Write(src[min(end, len(src)):])
	return b.Bytes()
}
