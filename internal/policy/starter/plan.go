package starter

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
)

// FileName is the name of the rules file in the configuration's directory.
const FileName = "petrigate.rules"

// A Plan is a verified first policy with the files to be written for it.
type Plan struct {
	Rules  string // content of the rules file
	File   string // path of the rules file
	Report check.Report
	Tools  int
	Left   []string // lines omitted because "check" would report problems with them

	Missing []string // servers that did not respond; the plan has no rules for their tools

	Enforced bool // whether the new rules are enforced at once; this is so if the configuration has a mode other than shadow, or has a policy and no mode

	Config        string // path of the configuration; only missing keys are added to it
	Before, After []byte // content of the configuration before and after the change

	// ExistingPolicy is the path of the rules file or configuration that contains an existing
	// policy, or the empty string. If it is set, nothing is written.
	ExistingPolicy string

	// Client reports whether the configuration file probably belongs to a client: it is a JSON
	// object without a version. Such a file is not changed.
	Client bool

	made  bool   // whether the configuration file does not exist yet
	agent *Agent // the agent that uses the policy; nil for servers' tools

	tested   bool // whether commands that run the project's tests are known
	shell    bool // whether the configuration contains the key "shell"
	pipefail bool // whether the plan adds shell.pipefail

	texts   []string     // the existing rules, as source text
	secrets []string     // secrets used in the configuration
	fetch   config.Fetch // used to load the configuration; see [config.Options]
	text    bool         // whether the configuration was loaded without resolving ${...}; see [config.Config.TextOnly]
}

var (
	// ErrNoTools is returned if no server lists any tool.
	ErrNoTools = errors.New("the servers list no tools, so there is nothing to propose rules for")
	// ErrClient is returned if the configuration probably belongs to a client.
	ErrClient = errors.New("it has no \"version\" and may be a client's file, which init does not change; petrigate import makes a configuration from it")
	// ErrChanged is returned if the configuration was changed after the plan was created.
	ErrChanged = errors.New("it has changed in the meantime; run petrigate init again")
)

// maxRounds is the maximum number of verifications. After each verification, the lines that did not
// pass are removed.
const maxRounds = 20

// New creates a plan for a configuration and the tools that its servers list. missing contains the
// servers that did not respond. effort limits the work spent on proofs.
func New(ctx context.Context, c *config.Config, tools []check.ListedTool, missing []string, effort check.Effort) (*Plan, error) {
	if len(tools) == 0 {
		return nil, ErrNoTools
	}
	src, err := os.ReadFile(c.File)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration %s: %w", c.File, text.Innermost(err))
	}
	plan := &Plan{Config: c.File, File: filepath.Join(filepath.Dir(c.File), FileName), Before: src, Tools: len(tools), Missing: missing, secrets: c.Secrets(), fetch: c.Fetched, text: c.TextOnly}
	plan.ExistingPolicy, plan.Enforced = existingPolicy(c, plan.File), c.Has("mode") && c.Mode != "shadow"
	if err := plan.prepare(c); err != nil {
		return nil, err
	}
	known := check.KnownSet(tools, c) // KnownSet adds the missing names of each tool, and guess needs these names
	p := &proposal{servers: guess(tools, c.Servers), missing: missing, deny: c.Default == "deny" || !c.Has("default")}
	p.propose()
	for range maxRounds {
		plan.Rules = p.text()
		wrong, err := plan.verify(ctx, known, p.deny, effort)
		if err != nil {
			return nil, err
		}
		left, again := p.removeLines(wrong)
		plan.Left = append(plan.Left, left...)
		if !again {
			break
		}
	}
	return plan, plan.problems()
}

// prepare reads the existing policy. Without one, it prepares the new configuration.
func (plan *Plan) prepare(c *config.Config) (err error) {
	plan.readExisting(c)
	plan.Client = !c.Has("version") && objectOffset(plan.Before) >= 0
	if plan.ExistingPolicy == "" {
		plan.After, err = splice(plan.Before, missingKeys(c))
	}
	return err
}

// readExisting reads the rules in the configuration. If the configuration has no rules,
// readExisting reads the existing rules file instead.
func (plan *Plan) readExisting(c *config.Config) {
	plan.texts = list.Map(c.Rules, func(r config.RuleText) string { return r.Text })
	if len(c.Rules) == 0 && plan.ExistingPolicy != "" {
		src, _ := os.ReadFile(plan.File) // an unreadable file counts as empty
		plan.texts = append(plan.texts, string(src))
	}
}

// existingPolicy returns the path of a file with existing rules or nets, or the empty string. The
// file is one that the configuration uses. If it uses no such file, existingPolicy returns the
// given rules file if it exists.
func existingPolicy(c *config.Config, file string) string {
	switch {
	case len(c.Rules) > 0:
		return c.Rules[0].File
	case len(c.Nets) > 0:
		return c.Nets[0].Position.File
	case mayExist(file):
		return file
	}
	return ""
}

// mayExist reports whether a file exists or cannot be examined.
func mayExist(file string) bool {
	_, err := os.Lstat(file)
	return !errors.Is(err, fs.ErrNotExist)
}

// verify checks the plan in the same way as "check --live". It returns the numbers of the lines
// that do not pass.
func (plan *Plan) verify(ctx context.Context, known check.ToolSet, deny bool, effort check.Effort) (wrong map[int]bool, err error) {
	source := policy.Source{Rules: []config.RuleText{{File: plan.File, Text: plan.Rules}}, Mode: "shadow"}
	if deny {
		source.Default = "deny"
	}
	if plan.ExistingPolicy == "" {
		c, err := plan.parseConfig()
		if err != nil {
			return nil, err
		}
		source = policy.FromConfig(c)
	}
	effort.Time = cmp.Or(effort.Time, 10*time.Second)
	report, _, err := check.Look(ctx, source, nil, known, effort)
	if err != nil {
		return nil, err
	}
	report.Judge(plan.agent == nil, false) // other problems in the configuration do not affect the rules for an agent
	plan.Report, wrong = report, map[int]bool{}
	for _, p := range report.Problems {
		if p.Severity != diag.Note && p.Line > 0 && filepath.Base(p.File) == filepath.Base(plan.File) {
			wrong[p.Line] = true
		}
	}
	for _, c := range report.Claims() {
		if c.Result != "proved" {
			wrong[c.Rule.Line] = true
		}
	}
	return wrong, nil
}

// parseConfig parses the new configuration. It treats the rules file as already written.
func (plan *Plan) parseConfig() (*config.Config, error) {
	rules, err := filepath.Abs(plan.File)
	if err != nil {
		return nil, err
	}
	return config.Parse(plan.Config, plan.After, config.Options{Fetch: plan.fetch, Kept: plan.fetch, Found: plan.text, Unsaved: func(path string) ([]byte, bool) {
		if abs, err := filepath.Abs(path); err == nil && abs == rules {
			return []byte(plan.Rules), true
		}
		return nil, false
	}})
}

// problems returns the problems that the verification found, or nil if the plan passed it.
func (plan *Plan) problems() error {
	if plan.Report.OK {
		return nil
	}
	return plan.Report.Problems
}

// Write creates the rules file and adds the missing keys to the configuration. If the configuration
// does not exist yet, Write also creates it, along with its directory.
func (plan *Plan) Write() error {
	if plan.Client {
		return fmt.Errorf("changing %s: %w", plan.Config, ErrClient)
	}
	save := textfile.Replace
	if plan.made {
		save = textfile.Create
		if err := os.MkdirAll(filepath.Dir(plan.Config), 0o700); err != nil {
			return fmt.Errorf("creating the configuration's folder: %w", err)
		}
	} else {
		now, err := os.ReadFile(plan.Config)
		if err == nil && !bytes.Equal(now, plan.Before) {
			err = ErrChanged
		}
		if err != nil {
			return fmt.Errorf("changing %s: %w", plan.Config, text.Innermost(err))
		}
	}
	if err := textfile.Create(plan.File, []byte(plan.Rules)); err != nil {
		return err
	}
	if bytes.Equal(plan.After, plan.Before) {
		return nil
	}
	if err := save(plan.Config, plan.After); err != nil {
		return errors.Join(err, os.Remove(plan.File))
	}
	return nil
}

// missingKeys returns the keys that activate the rules in shadow mode, except those that the
// configuration already has.
func missingKeys(c *config.Config) []key {
	all := []key{
		shadowKey,
		{"default", "default: deny", `"default": "deny"`},
		{"rules", "rules:\n  - file: " + FileName, `"rules": [{ "file": "` + FileName + `" }]`},
	}
	return list.Filter(all, func(k key) bool { return !c.Has(k.name) })
}

// Options control how a plan is printed and written.
type Options struct {
	Out io.Writer                           // receives the rules
	Err io.Writer                           // receives messages
	Ask func(question string) (bool, error) // asks for confirmation; nil if the user cannot be asked
	Yes bool                                // whether to write without confirmation
}
