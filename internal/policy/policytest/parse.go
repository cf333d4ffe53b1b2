package policytest

import (
	"fmt"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
)

// Parse parses a test file. Any error is a [config.ErrorList].
func Parse(name string, src []byte) (*File, error) {
	root := config.ReadDocument(name, src, "a file of tests")
	p := &parser{root: root, file: &File{Name: name, Policy: Source{Position: config.Position{File: name}}}, seen: make(map[string]bool)}
	root.Fields(config.Keys{
		"config":  p.config,
		"rules":   func(v config.Value) { p.file.Policy.Rules = p.paths(v) },
		"nets":    func(v config.Value) { p.file.Policy.Nets = p.paths(v) },
		"default": func(v config.Value) { p.file.Policy.Default, _ = v.Word("allow", "deny") },
		"env":     p.env,
		"tests":   func(v config.Value) { v.Items("a test", p.test) },
	})
	s := &p.file.Policy
	bare := len(s.Rules)+len(s.Nets) > 0
	switch err := root.Err(); {
	case err != nil:
		return nil, err
	case s.Config != "" && bare:
		root.Fault("the policy is a configuration, or rules and nets, not both", "omit config")
	case s.Default != "" && !bare:
		root.Fault("default requires rules and nets: a configuration has its own default", "")
	case s.Env != nil && bare:
		root.Fault("env requires a configuration: rules and nets read no variables", "")
	case len(p.file.Tests) == 0:
		root.Fault("there are no tests", `write "tests:" and below it "- name: ..."`)
	}
	return p.file, root.Err()
}

func (p *parser) config(v config.Value) {
	if path, ok := v.Text(); ok {
		p.file.Policy.Config, p.file.Policy.Position = p.near(path), v.Position()
	}
}

func (p *parser) paths(v config.Value) []string {
	p.file.Policy.Position = v.Position()
	return list.Map(v.Texts(), p.near)
}

func (p *parser) env(v config.Value) {
	p.file.Policy.Env = make(map[string]string)
	v.Each(func(name string, v config.Value) {
		if text, ok := v.Text(); ok {
			p.file.Policy.Env[name] = text
		}
	})
}

func (p *parser) test(v config.Value) {
	t := Test{Position: v.Position()}
	var steps, events []config.Value
	expect := ""
	before := p.root.Faults()
	v.Fields(config.Keys{
		"name":     func(v config.Value) { t.Name, _ = v.Text() },
		"sessions": func(v config.Value) { t.Sessions = sessions(v) },
		"events":   func(v config.Value) { v.Items("an event", func(v config.Value) { events = append(events, v) }) },
		"expect":   func(v config.Value) { expect, _ = v.Word(verdicts...) },
		"steps":    func(v config.Value) { v.Items("a step", func(v config.Value) { steps = append(steps, v) }) },
	})
	switch {
	case p.root.Faults() > before: // skip the other checks: a missing key may just be misspelt
	case t.Name == "":
		v.Fault("the test has no name", "")
	case p.seen[t.Name]:
		v.Fault(fmt.Sprintf("another test has the name %q", t.Name), "")
	case len(steps) > 0 && len(events)+len(expect) > 0:
		v.Fault("a test must have either steps, or the events of a counterexample and the expected decision on its last call", "omit events and expect")
	case len(steps)+len(events) == 0:
		v.Fault("the test has no steps", `write "steps:" and below it "- call: ..."`)
	}
	p.seen[t.Name] = true
	for _, step := range steps {
		t.Steps = append(t.Steps, p.step(&t, step))
	}
	for _, event := range events {
		p.event(&t, event)
	}
	if expect != "" {
		t.expectLast(expect)
	}
	p.file.Tests = append(p.file.Tests, t)
}

func sessions(v config.Value) (all []sandbox.Participant) {
	v.Each(func(name string, v config.Value) {
		principal, _ := v.Text()
		all = append(all, sandbox.Participant{Name: name, Principal: principal})
	})
	return all
}
