package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/rules"
)

// The problems of a configuration as a whole.
const (
	codeConfig        rules.Code = "E201" // an error in the file
	codeNoCommand     rules.Code = "E202" // a command that cannot be run
	codeDoubt         rules.Code = "W201" // a doubtful line in the file
	codeNoPolicy      rules.Code = "W202" // nothing is gated
	codeNoRule        rules.Code = "W203" // a text of rules without a rule
	codeNoCommandHere rules.Code = "W204" // E202, where nothing is started
	codeNoUpstream    rules.Code = "W205" // no server to gate
	codeNoAuditHere   rules.Code = "W208" // an audit log that cannot be written

	UnusableTLS        rules.Code = "E203" // a file for TLS that cannot be used
	MissingTLS         rules.Code = "W206" // E203, where nothing is started
	ExpiredCertificate rules.Code = "W207" // a certificate that is not valid now
)

// NoPolicy warns of policies that let everything pass, or nothing: they load, but
// are hardly intended. The file is that of the configuration, if any.
func NoPolicy(file string, s policy.Source) policy.Problems {
	var problems policy.Problems
	gates := 0
	for _, text := range s.Rules {
		n, claims := countRules(text)
		gates += n
		if n+claims == 0 {
			p := Warning(codeNoRule, text.Position(1, 1), "there is no rule here")
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
		problems = append(problems, Warning(codeNoPolicy, s.ActivePosition, "no net is active"+so))
	case len(s.Nets) == 0:
		problems = append(problems, Warning(codeNoPolicy, config.Position{File: file}, "no rule and no net gates anything"+so))
	}
	return problems
}

// Warning returns a warning about a place in a configuration.
func Warning(code rules.Code, at config.Position, message string) policy.Problem {
	return policy.Problem{Severity: policy.Warning, Code: code, File: at.File, Line: at.Line, Column: at.Column, Message: message}
}

// countRules counts the statements that gate something, and the claims. Maps and
// examples gate nothing. Each error counts as a statement.
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

// NoUpstream warns of a configuration without an enabled server.
func NoUpstream(c *config.Config) policy.Problems {
	for _, s := range c.Servers {
		if !s.Disabled {
			return nil
		}
	}
	p := Warning(codeNoUpstream, config.Position{File: c.File}, "no server is configured: clients will see no tools")
	p.Hint = `name servers under "mcpServers"`
	return policy.Problems{p}
}

// NoAudit warns of an audit log in a directory that does not exist: the proxy would
// not start, because it refuses calls that it cannot record.
func NoAudit(c *config.Config) policy.Problems {
	if c.Audit.File == "" {
		return nil
	}
	dir := filepath.Dir(c.Audit.File)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	p := Warning(codeNoAuditHere, config.Position{File: c.File}, fmt.Sprintf("the audit log %s cannot be written: %s is not a directory", c.Audit.File, dir))
	p.Hint = "make the directory: petrigate serve does not start without it"
	return policy.Problems{p}
}

// ConfigProblems turns the errors of a configuration into problems. It returns any
// other error as it is.
func ConfigProblems(err error) (policy.Problems, error) {
	var list config.ErrorList
	var one *config.Error
	switch {
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = config.ErrorList{one}
	default:
		return nil, err
	}
	var problems policy.Problems
	for _, e := range list {
		problems = append(problems, configProblem(policy.Error, codeConfig, e))
	}
	return problems, nil
}

// ConfigWarnings returns the warnings that came with a configuration.
func ConfigWarnings(c *config.Config) policy.Problems {
	var problems policy.Problems
	for _, w := range c.Warnings {
		problems = append(problems, configProblem(policy.Warning, codeDoubt, w))
	}
	return problems
}

func configProblem(severity policy.Severity, code rules.Code, e *config.Error) policy.Problem {
	return policy.Problem{
		Severity: severity, Code: code, File: e.File, Line: e.Line, Column: e.Column,
		Message: e.Msg, Hint: e.Hint, Excerpt: e.Excerpt,
	}
}
