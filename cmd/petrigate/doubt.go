package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/text"
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
	codeTLS           rules.Code = "E203" // a file for TLS that cannot be used
	codeTLSHere       rules.Code = "W206" // one that is not there, where nothing is started
	codeExpired       rules.Code = "W207" // a certificate that is not valid now
	codeNoAuditHere   rules.Code = "W208" // an audit log that cannot be written here
)

// emptyPolicy finds policies that let everything pass, or nothing: they load,
// and are hardly what is meant. The file is that of the configuration, if any.
func emptyPolicy(file string, s policy.Source) policy.Problems {
	var problems policy.Problems
	gates := 0
	for _, text := range s.Rules {
		n, claims := countRules(text)
		gates += n
		if n+claims == 0 {
			p := warning(codeNoRule, text.Position(1, 1), "there is no rule here")
			p.Hint = "a rule begins with require, block or limit"
			problems = append(problems, p)
		}
	}
	so := ": every call passes"
	if s.Default == "deny" {
		so = ` and the default is "deny": every call is refused`
	}
	switch {
	case gates > 0:
	case s.Active != nil && len(s.Active) == 0:
		problems = append(problems, warning(codeNoPolicy, s.ActivePosition, "no net is active"+so))
	case len(s.Nets) == 0:
		problems = append(problems, warning(codeNoPolicy, config.Position{File: file}, "no rule and no net gates anything"+so))
	}
	return problems
}

func warning(code rules.Code, at config.Position, message string) policy.Problem {
	return policy.Problem{Severity: policy.Warning, Code: code, File: at.File, Line: at.Line, Column: at.Column, Message: message}
}

// countRules counts the statements that gate something: a map only names
// and its example only tests, and a claim only asks. A text with errors is left to those.
func countRules(text config.RuleText) (n, claims int) {
	f, errs := rules.Parse(text.File, []byte(text.Text))
	n = len(errs)
	for _, s := range f.Statements {
		switch s.(type) {
		case *rules.Map, *rules.Example:
		case *rules.Prove:
			claims++
		default:
			n++
		}
	}
	return n, claims
}

// noUpstream finds a configuration that leaves nothing to gate.
func noUpstream(c *config.Config) policy.Problems {
	for _, s := range c.Servers {
		if !s.Disabled {
			return nil
		}
	}
	p := warning(codeNoUpstream, config.Position{File: c.File}, "no server is configured: clients will see no tools")
	p.Hint = `name servers under "mcpServers"`
	return policy.Problems{p}
}

// runnable says what of the configuration cannot be used on this machine, all
// at once, and warns of the rest.
func runnable(w io.Writer, c *config.Config) error {
	found := slices.Concat(missingCommands(c, policy.Error), tlsFiles(c, policy.Error))
	if errs := found.Of(policy.Error); len(errs) > 0 {
		return errs
	}
	printProblems(w, found)
	return nil
}

// noAudit finds an audit log in a directory that is not there: a proxy would not
// start, since it refuses what it cannot record.
func noAudit(c *config.Config) policy.Problems {
	if c.Audit.File == "" {
		return nil
	}
	dir := filepath.Dir(c.Audit.File)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	p := warning(codeNoAuditHere, config.Position{File: c.File}, fmt.Sprintf("the audit log %s cannot be written: %s is not a directory", c.Audit.File, dir))
	p.Hint = "make the directory: petrigate serve does not start without it"
	return policy.Problems{p}
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
			p := warning(code, s.Position, fmt.Sprintf("the command %q of the server %q cannot be run: %v", s.Command, s.Name, text.Innermost(err)))
			p.Severity, p.Hint = severity, commandHint(s.Command)
			problems = append(problems, p)
		}
	}
	return problems
}
