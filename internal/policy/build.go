// Package policy makes one gate policy of everything that a user wrote: rules,
// nets, maps, the default. [Build] reports all problems of all parts at once,
// in the form that "check --json" prints.
package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/cel"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/shell"
	"github.com/petrigate/petrigate/rules"
)

// A Source is what a policy is made of.
type Source struct {
	Rules   []config.RuleText
	Nets    []config.Net
	Default string // "", "allow" or "deny"
	Mode    string // "", "enforce" or "shadow"

	Active         []string // of the hand-written nets, those to begin with; nil: all. Nets of rules are always active
	ActivePosition config.Position

	Config *config.Config // where it comes from one: has the places of its keys; may be nil

	Tools   []string            // every known physical name of a tool; nil: they are not known
	Schemas map[string][]Schema // of the arguments of the known tools, by each of their names
	Hooked  []string            // the names that only tools of agents themselves have, of which hooks tell
	Unended []string            // those of them that run scripts, and of which no hook tells how a script ended
}

// FromConfig is the policy of a configuration. The tools are not in it.
func FromConfig(c *config.Config) Source {
	return Source{Rules: c.Rules, Nets: c.Nets, Default: c.Default, Mode: c.Mode, Active: c.Active, ActivePosition: c.ActivePosition, Config: c}
}

// scripts returns the options for reading scripts.
func (s *Source) scripts() shell.Options {
	if s.Config == nil {
		return shell.Options{}
	}
	return shell.Options{Strict: s.Config.Shell.Strict, Pass: s.Config.Shell.Doubt == "pass"}
}

// FromFiles reads the policy of files of rules and of nets. Each name may be a pattern.
func FromFiles(ruleFiles, netFiles []string) (s Source, err error) {
	for _, file := range ruleFiles {
		texts, err := config.ReadRules(file)
		if err != nil {
			return Source{}, err
		}
		s.Rules = append(s.Rules, texts...)
	}
	for _, file := range netFiles {
		nets, err := config.ReadNets(file)
		if err != nil {
			return Source{}, err
		}
		s.Nets = append(s.Nets, nets...)
	}
	return s, nil
}

// A Result is a policy, or why there is none.
type Result struct {
	Policy   *gate.Policy // nil if a problem is an error
	Problems diag.List    // rules first, in their order, then nets
	Nets     []Net        // of the policy: those of rules, then the others
	Claims   []Claim      // to be proved of the policy: those of rules, then of nets
	Active   []string     // the nets to begin with, for gate.SessionOptions; nil: all
}

// Build makes the policy of a source. Its error is the [diag.List] that keeps it
// from loading; the result is never nil and holds the warnings too.
func Build(s Source) (*Result, error) {
	b := &builder{source: s, result: &Result{}, netMaps: make(map[string][]gate.Map)}
	compiled := b.rules()
	written := b.nets()
	for _, n := range written {
		b.netMaps[n.Name] = n.Maps
	}
	nets := append(compiled.Nets, written...)
	deny := b.deny()
	b.labels = compiled.Labels
	b.policy(nets, gate.PolicyOptions{Labels: []*gate.Labels{compiled.Labels}, Deny: deny, Shadow: s.Mode == "shadow", AskDoubts: s.Config != nil && s.Config.Shell.Doubt == "ask", Ignored: s.ignored()})
	b.checkBare()
	b.checkEvidence()
	b.checkDefault()
	b.checkPeople()
	readIgnored{b}.check()
	b.checkTools()
	b.active()
	b.invalid = len(b.errors()) > 0
	b.claims(compiled.Claims, nets)
	b.checkNear()
	if errs := b.errors(); len(errs) > 0 {
		b.result.Policy = nil
		return b.result, errs
	}
	b.result.Nets = describe(b.result.Policy, compiled.Verification())
	return b.result, nil
}

type builder struct {
	source Source
	files  []*rules.File
	result *Result
	labels *gate.Labels // of the rules

	netMaps map[string][]gate.Map // of the hand-written nets, by name
	invalid bool                  // apart from its claims

	// Made when a net needs them.
	cel     *cel.Compiler
	calls   *cel.Reader
	scripts *shell.Reader
}

func (b *builder) errors() diag.List { return b.result.Problems.Of(diag.Error) }

func (b *builder) add(p diag.Problem) { b.result.Problems = append(b.result.Problems, p) }

// rules parses and compiles all texts.
func (b *builder) rules() *rules.Compiled {
	bases := 0 // the texts of the bases are the first ones
	if b.source.Config != nil {
		for _, base := range b.source.Config.Bases {
			bases += len(base.Rules)
		}
	}
	for i, text := range b.source.Rules {
		f, _ := rules.ParseAt([]byte(text.Text), func(line, column int) gate.Position {
			return position(text.Position(line, column))
		})
		f.Base = i < bases
		b.files = append(b.files, f)
	}
	o := b.source.scripts()
	compiled, err := rules.Options{Strict: o.Strict, Pass: o.Pass}.Compile(b.files...)
	var errs rules.ErrorList
	errors.As(err, &errs)
	for _, e := range errs {
		b.add(RuleProblem(e))
	}
	for _, w := range compiled.Warnings {
		b.add(ruleWarning(w))
	}
	return compiled
}

func (b *builder) deny() bool {
	switch b.source.Default {
	case "", "allow":
	case "deny":
		return true
	default:
		b.add(problem(diag.Error, BadDefault, gate.Position{}, fmt.Sprintf("the default %q is not supported", b.source.Default), `"allow" or "deny"`))
	}
	return false
}

// policy asks the gate, which has the last word on every net. It is asked also
// where something else is wrong, so that all errors come at once.
func (b *builder) policy(nets []gate.Net, o gate.PolicyOptions) {
	p, err := gate.NewPolicy(nets, o)
	var errs gate.ErrorList
	errors.As(err, &errs)
	for _, e := range errs {
		b.add(b.netError(e))
	}
	b.result.Policy = p
}

// active finds which nets are active at the start: "active" chooses among the
// hand-written ones, and a rule holds whatever it says. A net that is not active
// gates nothing, so a misspelt name must not pass. It looks only where all nets
// are there.
func (b *builder) active() {
	if b.result.Policy == nil || len(b.errors()) > 0 || b.source.Active == nil {
		return
	}
	var written, ofRules []string
	for _, n := range b.result.Policy.Nets() {
		if n.Labels != nil {
			ofRules = append(ofRules, n.Name)
		} else {
			written = append(written, n.Name)
		}
	}
	b.result.Active = append(ofRules, b.source.Active...)
	for _, name := range b.source.Active {
		msg, hint := fmt.Sprintf("no net %q to activate", name), nearestNet(name, written)
		switch {
		case slices.Contains(written, name):
			continue
		case slices.Contains(ofRules, name):
			msg, hint = fmt.Sprintf("%q is a net of a rule, and rules are always active", name), "leave it out"
		}
		p := problem(diag.Error, UnknownActive, position(b.source.ActivePosition), msg, hint)
		if c := b.source.Config; c != nil {
			at := c.Of("active", name)
			p.Line, p.Column, p.Excerpt = at.Line, at.Column, c.Excerpt(at.Line, at.Column)
		}
		b.add(p)
	}
}
