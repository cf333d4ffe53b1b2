package main

import (
	"fmt"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/rules"
)

// What is doubtful in a configuration as a whole.
const (
	codeConfig        rules.Code = "E201" // what is wrong in a configuration
	codeNoCommandHere rules.Code = "W204" // the same, where nothing is started
	codeDoubt         rules.Code = "W201" // what is doubtful in it
	codeNoPolicy      rules.Code = "W202" // nothing is gated
	codeNoRule        rules.Code = "W203" // a text of rules without a rule
	codeNoCommand     rules.Code = "E202" // a command that cannot be run
	codeNoUpstream    rules.Code = "W205" // no server to gate
)

// emptyPolicy finds policies that let everything pass, or nothing: they load,
// and are hardly what is meant.
func emptyPolicy(s policy.Source) policy.Problems {
	var problems policy.Problems
	rulesThere := 0
	for _, text := range s.Rules {
		n := countRules(text)
		rulesThere += n
		if n == 0 {
			at := text.Position(1, 1)
			problems = append(problems, policy.Problem{
				Severity: policy.Warning, Code: codeNoRule, File: at.File, Line: at.Line, Column: at.Column,
				Message: "there is no rule here", Hint: "a rule begins with require, block or limit",
			})
		}
	}
	what := "no rule and no net gates anything"
	switch {
	case s.Active != nil && len(s.Active) == 0:
		what = "no net is active"
	case rulesThere+len(s.Nets) > 0:
		return problems
	}
	at := s.ActivePosition
	if s.Active == nil {
		at = config.Position{}
	}
	p := policy.Problem{Severity: policy.Warning, Code: codeNoPolicy, File: at.File, Line: at.Line, Column: at.Column}
	if p.Message, p.Hint = what+": every call passes", ""; s.Default == "deny" {
		p.Message, p.Hint = what+` and the default is "deny": every call is refused`, ""
	}
	return append(problems, p)
}

// countRules counts the statements that gate something: a map only names. A
// text with errors is left to those.
func countRules(text config.RuleText) int {
	f, errs := rules.Parse(text.File, []byte(text.Text))
	n := len(errs)
	for _, s := range f.Statements {
		if _, ok := s.(*rules.Map); !ok {
			n++
		}
	}
	return n
}

// noUpstream finds a configuration that leaves nothing to gate.
func noUpstream(c *config.Config) policy.Problems {
	for _, s := range c.Servers {
		if !s.Disabled {
			return nil
		}
	}
	return policy.Problems{{
		Severity: policy.Warning, Code: codeNoUpstream, File: c.File,
		Message: "no server is configured: clients will see no tools", Hint: `name servers under "mcpServers"`,
	}}
}

// missingCommands finds commands that cannot be run here. The proxy does not
// start with one; where a configuration is only checked, it may be for another
// machine.
func missingCommands(c *config.Config, severity policy.Severity) policy.Problems {
	var problems policy.Problems
	code := codeNoCommand
	if severity == policy.Warning {
		code = codeNoCommandHere
	}
	for _, s := range c.Servers {
		if s.Disabled || s.Command == "" {
			continue
		}
		if err := findCommand(s); err != nil {
			problems = append(problems, policy.Problem{
				Severity: severity, Code: code, File: s.Position.File, Line: s.Position.Line, Column: s.Position.Column,
				Message: fmt.Sprintf("the command %q of the server %q cannot be run: %v", s.Command, s.Name, innermost(err)),
				Hint:    commandHint(s.Command),
			})
		}
	}
	return problems
}
