// Package policy builds a single gate policy from everything that a user wrote: rules, nets, map
// statements, and the default decision.
//
// [Build] compiles a [Source], which comes from a configuration ([FromConfig]) or from files
// ([FromFiles]), into a [Result]: the [gate.Policy], a description of its nets, and the claims to
// prove. It reports the problems of all parts at once, as the [diag.List] that "check --json"
// prints. Codes that start with E are errors and prevent the policy from being loaded; codes that
// start with W are warnings or notes.
//
// The builder has three stages. First, package rules compiles the rules, and the nets are converted
// for the gate. Second, the gate validates the nets. Third, checks look for names, fields and
// approvals that cannot have their intended effect: bare names that several servers may have
// (bare.go), names that no tool has (tools.go), probable misspellings (near.go), arguments that no
// schema lists (fields.go), commands whose success never counts or cannot be determined
// (evidence.go, unjudged.go), and approvals that no person can give (people.go).
//
// The functions of a net (hooks.go) are written in CEL. Validators check calls before they are
// made, and memories record values when calls succeed. The package starts no goroutines and uses no
// locks.
package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/rules"
)

// Build builds the policy of a source. The error is a [diag.List] with the problems that prevent
// the policy from being loaded. The result is never nil and also contains the warnings.
func Build(s Source) (*Result, error) {
	b := &builder{source: s, netReader: netReader{report: report{result: &Result{}}}, netMaps: make(map[string][]gate.Map)}
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
	readIgnored{fieldChecker{b}}.check()
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

// rules parses and compiles the source's rules.
func (b *builder) rules() *rules.Compiled {
	bases := 0 // number of entries at the start of source.Rules that come from base policies
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
	o := b.source.scriptOptions()
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

// policy builds the gate policy from the nets. It does so even after other errors, so that all
// errors, including the gate's, are reported together.
func (b *builder) policy(nets []gate.Net, o gate.PolicyOptions) {
	p, err := gate.NewPolicy(nets, o)
	var errs gate.ErrorList
	errors.As(err, &errs)
	for _, e := range errs {
		b.add(b.netError(e))
	}
	b.result.Policy = p
}

// active determines the nets that are active at the start. The key "active" selects some of the
// hand-written nets, while nets generated from rules are always active. A misspelled name must be
// an error, because a net that is not active restricts no calls. Names are checked only if all nets
// are known.
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
			msg, hint = fmt.Sprintf("%q is the net of a rule, and rules are always active", name), "leave it out"
		}
		p := problem(diag.Error, UnknownActive, position(b.source.ActivePosition), msg, hint)
		if c := b.source.Config; c != nil {
			at := c.Of("active", name)
			p.Line, p.Column, p.Excerpt = at.Line, at.Column, c.Excerpt(at.Line, at.Column)
		}
		b.add(p)
	}
}
