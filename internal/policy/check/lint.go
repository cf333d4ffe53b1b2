package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/rules"
)

// Codes of problems with a configuration as a whole.
const (
	codeConfig        = "E201" // an error in the configuration file
	codeNoCommand     = "E202" // a server's command cannot be run
	codeDoubt         = "W201" // a suspicious line in the configuration file
	codeNoPolicy      = "W202" // no policy gates any calls
	codeNoRule        = "W203" // a file or section for rules contains no rules
	codeNoCommandHere = "W204" // like E202, but the configuration is only being checked
	codeNoUpstream    = "W205" // no server to gate
	codeNoAuditHere   = "W208" // an audit log cannot be written
	codeChosenSession = "W209" // callers choose their own sessions
	codeShortSession  = "W210" // rules count calls per connection although states are kept in a database

	UnusableTLS        = "E203" // a TLS file cannot be used
	MissingTLS         = "W206" // like E203, but the configuration is only being checked
	ExpiredCertificate = "W207" // a certificate is expired or not yet valid

	UnusableTokens = "E204" // "petrigate serve" refuses a token file
	MissingTokens  = "W211" // a token file cannot be read
)

// NoPolicy warns about policies that admit every call or no call at all. Such policies are valid,
// but probably not intended.
func NoPolicy(s policy.Source) diag.List {
	var problems diag.List
	var whole config.Position
	if s.Config != nil {
		whole.File = s.Config.File
	}
	gates, counts := 0, make([]ruleCounts, len(s.Rules))
	for i, text := range s.Rules {
		counts[i] = countRules(text)
		gates += counts[i].gates
	}
	for i, text := range s.Rules {
		if n := counts[i]; n.gates+n.claims == 0 && (n.maps == 0 || gates == 0) { // a file with only map statements is fine if another file contains rules
			problems = append(problems, Warning(codeNoRule, text.Position(1, 1), "the file contains no rules", "begin a rule with require, block, limit or allow"))
		}
	}
	so := ": every call passes"
	if s.Default == "deny" {
		so = `, and the default is "deny": every call is refused`
	}
	switch {
	case gates > 0:
	case s.Active != nil && len(s.Active) == 0:
		problems = append(problems, Warning(codeNoPolicy, s.ActivePosition, "no net is active"+so, ""))
	case len(s.Nets) == 0:
		problems = append(problems, Warning(codeNoPolicy, whole, "no rule and no net gates anything"+so, ""))
	}
	return problems
}

// Warning returns a warning at a position in a configuration.
func Warning(code string, at config.Position, message, hint string) diag.Problem {
	p := diag.At(at, message, hint)
	p.Severity, p.Code = diag.Warning, code
	return p
}

// A ruleCounts value counts three kinds of statements in a file: those that gate calls, those that
// make claims, and all others (map, example and success statements). A syntax error counts as a
// statement that gates calls, so that a file with errors is not reported as empty.
type ruleCounts struct{ gates, claims, maps int }

func countRules(text config.RuleText) (n ruleCounts) {
	f, errs := rules.Parse(text.File, []byte(text.Text))
	n.gates = len(errs)
	for _, s := range f.Statements {
		switch s.(type) {
		case *rules.Map, *rules.Example, *rules.Success:
			n.maps++
		case *rules.Prove:
			n.claims++
		default:
			n.gates++
		}
	}
	return n
}

// NoUpstream warns about a configuration without an enabled server. It does not warn if the
// configuration is for agents' built-in tools, that is, if its "listen" section accepts hook events
// or its rules name such tools.
func NoUpstream(c *config.Config) diag.List {
	enabled := slices.ContainsFunc(c.Servers, func(s config.Server) bool { return !s.Disabled })
	if enabled || c.Listen.Hooks || speaksOfAgents(c) {
		return nil
	}
	return diag.List{Warning(codeNoUpstream, config.Position{File: c.File}, "no server is configured, so clients see no tools", `name servers under "mcpServers"`)}
}

// speaksOfAgents reports whether the rules name a tool that can only be a built-in tool of an
// agent. It ignores the many built-in tools that share their names with servers' tools.
func speaksOfAgents(c *config.Config) bool {
	own := slices.DeleteFunc(agenttool.Names(), func(name string) bool {
		return name == strings.ToLower(name) && name != "bash" && name != "apply_patch"
	})
	other := func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return slices.ContainsFunc(c.Rules, func(t config.RuleText) bool {
		for line := range strings.Lines(t.Text) {
			rule, _, _ := strings.Cut(line, "#")
			if slices.ContainsFunc(strings.FieldsFunc(rule, other), func(word string) bool { return slices.Contains(own, word) }) {
				return true
			}
		}
		return false
	})
}

// NoAudit warns about an audit log in a directory that does not exist. The proxy does not start
// without its audit log, because it would have to refuse every call that it cannot record.
func NoAudit(c *config.Config) diag.List {
	if c.Audit.File == "" {
		return nil
	}
	dir := filepath.Dir(c.Audit.File)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	return diag.List{Warning(codeNoAuditHere, config.Position{File: c.File},
		fmt.Sprintf("the audit log %s cannot be written: %s is not a directory", c.Audit.File, dir), "create the directory; petrigate serve does not start without it")}
}

// Sessions warns if callers can choose their sessions. Such a caller can reset any limit per
// session by choosing a new session.
func Sessions(c *config.Config) diag.List {
	if c == nil || c.Session.By != "header" && c.Session.By != "meta" {
		return nil
	}
	return diag.List{Warning(codeChosenSession, c.Of("session", ""),
		fmt.Sprintf("callers choose their session (session.by: %s), so a new session resets their budgets", c.Session.By),
		"write per user in rules, and scope: principal in nets, to limit a caller")}
}

// ShortSessions warns if states are kept in a database although rules count calls per connection.
// Such counts start anew with each connection.
func ShortSessions(s policy.Source) diag.List {
	c := s.Config
	if c == nil || c.Session.By != "connection" || !c.Has("state") || c.State.Driver == "memory" { // without a "state" section, the user does not expect states to be kept
		return nil
	}
	for _, text := range s.Rules {
		f, _ := rules.Parse(text.File, []byte(text.Text))
		for _, statement := range f.Statements {
			limit, ok := statement.(*rules.Limit)
			if ok && limit.Over == rules.Session && limit.Per == nil {
				return diag.List{Warning(codeShortSession, c.Of("state", ""),
					"the state is in a database, but a session is a connection: reconnecting resets budgets per session",
					`per user, or session: { by: principal }, or session: { name: "nightly" }`)}
			}
		}
	}
	return nil
}

// ConfigProblems returns the problems in an error from loading a configuration, and sets their
// codes. If the error contains no problems, ConfigProblems returns it unchanged.
func ConfigProblems(err error) (diag.List, error) {
	list, ok := diag.Find(err)
	if !ok {
		return nil, err
	}
	return list.Coded(diag.Error, codeConfig), nil
}

// ConfigWarnings returns the warnings that were found when the configuration was loaded.
func ConfigWarnings(c *config.Config) diag.List { return c.Warnings.Coded(diag.Warning, codeDoubt) }
