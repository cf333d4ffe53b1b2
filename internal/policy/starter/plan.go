package starter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
)

// FileName is the file that the rules are written to, beside the configuration.
const FileName = "petrigate.rules"

// A Plan is a first policy that was verified, and where it goes.
type Plan struct {
	Rules  string // the text of the file of rules
	File   string // that is made
	Report check.Report
	Tools  int
	Left   []string // lines that were left out: check would complain about them

	Missing []string // servers that did not answer: no rule is about their tools

	Enforced bool // the configuration says so itself: the rules are not in shadow

	Config        string // the configuration, of which it changes only the keys that are missing
	Before, After []byte // its text

	// There is what a policy has already: nothing is written. It is the name of the file with
	// the rules, or of the configuration.
	There string

	// Client says that the configuration seems to be the file of a client: an object of JSON
	// without a version. It stays as it is.
	Client bool

	made  bool   // the configuration is not there yet
	agent *Agent // whose own tools the policy is for; nil: it is for those of servers

	tested   bool // commands that run tests are known
	shell    bool // the configuration has the key
	pipefail bool // shell.pipefail is added to it

	texts   []string     // of the rules that are there
	secrets []string     // of the configuration
	fetch   config.Fetch // see [config.Options]
	text    bool         // see [config.Config.TextOnly]
}

var (
	// ErrNoTools says that there is nothing to propose rules for.
	ErrNoTools = errors.New("the servers list no tools, so there is nothing to propose rules for")
	// ErrClient says that the configuration is not one of petrigate's own.
	ErrClient = errors.New("it has no \"version\" and may be the file of a client, which stays as it is; petrigate import makes a configuration of it")
	// ErrMeanwhile says that the configuration is not the one that the plan was made for.
	ErrMeanwhile = errors.New("it was changed meanwhile; run petrigate init again")
)

// rounds bounds how often rules are left out that would not pass.
const rounds = 20

// New makes a plan for a configuration and the tools that its servers list. Missing are the servers
// that did not answer; effort bounds the proofs.
func New(ctx context.Context, c *config.Config, tools []check.ListedTool, missing []string, effort check.Effort) (*Plan, error) {
	if len(tools) == 0 {
		return nil, ErrNoTools
	}
	src, err := os.ReadFile(c.File)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration %s: %w", c.File, text.Innermost(err))
	}
	plan := &Plan{Config: c.File, File: filepath.Join(filepath.Dir(c.File), FileName), Before: src, Tools: len(tools), Missing: missing, secrets: c.Secrets(), fetch: c.Fetched, text: c.TextOnly}
	plan.There, plan.Enforced = existingPolicy(c, plan.File), c.Has("mode") && c.Mode != "shadow"
	if err := plan.prepare(c); err != nil {
		return nil, err
	}
	known := check.KnownSet(tools, c) // it completes their names
	p := &proposal{servers: guess(tools, c.Servers), missing: missing, deny: c.Default == "deny" || !c.Has("default")}
	p.propose()
	for range rounds {
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
	return plan, plan.passes()
}

// prepare reads what is there, or else makes the configuration as it will be.
func (plan *Plan) prepare(c *config.Config) (err error) {
	for _, r := range c.Rules {
		plan.texts = append(plan.texts, r.Text)
	}
	plan.Client = !c.Has("version") && object(plan.Before) >= 0
	switch {
	case plan.There == "":
		plan.After, err = splice(plan.Before, missing(c))
	case len(c.Rules) == 0:
		src, _ := os.ReadFile(plan.File) // that it is there was seen; what cannot be read is all new
		plan.texts = append(plan.texts, string(src))
	}
	return err
}

// existingPolicy is what a policy has already: the file of rules, or the configuration with rules or
// nets; empty: nothing.
func existingPolicy(c *config.Config, file string) string {
	for _, r := range c.Rules {
		return r.File
	}
	for _, n := range c.Nets {
		return n.Position.File
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return file
	}
	return ""
}

// verify looks at the plan as check --live does, and returns the lines of rules that keep it from
// passing.
func (plan *Plan) verify(ctx context.Context, known check.ToolSet, deny bool, effort check.Effort) (wrong map[int]bool, err error) {
	source := policy.Source{Rules: []config.RuleText{{File: plan.File, Text: plan.Rules}}, Mode: "shadow"}
	if deny {
		source.Default = "deny"
	}
	if plan.There == "" {
		c, err := plan.loaded()
		if err != nil {
			return nil, err
		}
		source = policy.FromConfig(c)
	}
	if effort.Time == 0 {
		effort.Time = 10 * time.Second
	}
	report, _, err := check.Look(ctx, source, nil, known, effort)
	if err != nil {
		return nil, err
	}
	report.Judge(plan.agent == nil, false) // what else the configuration lacks is no fault of the rules for an agent
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

// loaded is the configuration as it will be.
func (plan *Plan) loaded() (*config.Config, error) {
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

// passes is an error where the plan is not one to begin with.
func (plan *Plan) passes() error {
	if plan.Report.OK {
		return nil
	}
	return plan.Report.Problems
}

// Write makes the file of rules, and adds the missing keys to the configuration.
func (plan *Plan) Write() error {
	if plan.Client {
		return fmt.Errorf("changing %s: %w", plan.Config, ErrClient)
	}
	if plan.made {
		return plan.create()
	}
	now, err := os.ReadFile(plan.Config)
	if err == nil && !bytes.Equal(now, plan.Before) {
		err = ErrMeanwhile
	}
	if err != nil {
		return fmt.Errorf("changing %s: %w", plan.Config, text.Innermost(err))
	}
	if err := textfile.Create(plan.File, []byte(plan.Rules)); err != nil {
		return err
	}
	if bytes.Equal(plan.After, plan.Before) {
		return nil
	}
	if err := textfile.Replace(plan.Config, plan.After); err != nil {
		return errors.Join(err, os.Remove(plan.File))
	}
	return nil
}

// create makes the configuration as well, and the folder that it is in.
func (plan *Plan) create() error {
	if err := os.MkdirAll(filepath.Dir(plan.Config), 0o700); err != nil {
		return fmt.Errorf("making the folder of the configuration: %w", err)
	}
	if err := textfile.Create(plan.File, []byte(plan.Rules)); err != nil {
		return err
	}
	if err := textfile.Create(plan.Config, plan.After); err != nil {
		return errors.Join(err, os.Remove(plan.File))
	}
	return nil
}
