package policytest

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
)

// A File is a file of tests.
type File struct {
	Name   string
	Policy Source
	Tests  []Test
}

// A Source locates the policy of a file. The zero value means the policy in the directory of the
// file.
type Source struct {
	Config      string // path of a configuration
	Rules, Nets []string
	Default     string            // only with Rules or Nets
	Env         map[string]string // variables for the configuration, with precedence over those of the process
	Position    config.Position

	named bool // Config is the configuration that all files are tested against
}

// A Test is one test.
type Test struct {
	Name     string
	Position config.Position
	Sessions []sandbox.Participant // in order; empty: one session without a principal
	Steps    []Step
}

// A Step makes a call, ends an earlier call, or lets time pass.
type Step struct {
	Position config.Position
	After    time.Duration // time that passes before the step

	Tool        string      // tool of a call; otherwise empty
	Foreign     bool        // the name of the tool is weak
	Also        []gate.Name // further names of the tool besides those of the configuration
	Times       int         // number of calls
	As          string
	Args        json.RawMessage // nil: {}
	Annotations json.RawMessage // annotations of the tool; nil: {}
	Session     string
	Approve     sandbox.Consent // Yes, No or Nobody
	Result      string          // one of results; empty: success
	Returns     json.RawMessage // result of a successful call; nil: none
	Expect      string          // one of verdicts
	Would       string          // refuse or ask: expected verdict of nets in shadow; empty: any
	Reason      *Pattern        // nil: any
	Rule        string
	RuleAt      config.Position // position of the key
	Names       []string

	Settles int // for the end of a call: the number of its step, starting at 1
}

// Keywords of a step.
var (
	results  = []string{"success", "failure", "error", "unknown", "pending"}
	verdicts = []string{allow, refuse, ask}
)

// Expected and actual verdicts.
const (
	allow  = "allow"
	refuse = "refuse"
	ask    = "ask"
)

// canSettleLater reports whether the call of the step can be settled by a later step.
func (s *Step) canSettleLater() bool { return s.Result == "pending" || s.Result == "unknown" }

// admits reports whether the call of the step is expected to run.
func (s *Step) admits() bool {
	return s.Expect == allow || s.Expect == ask && s.Approve == sandbox.Yes
}

// A Pattern matches a text that contains it, or a /regular expression/.
type Pattern struct {
	Source string
	regex  *regexp.Regexp // nil: Source is a substring
}

func newPattern(source string) (*Pattern, error) {
	p := &Pattern{Source: source}
	inner, flag := strings.TrimPrefix(source, "/"), ""
	if inner == source {
		return p, nil
	}
	body, ok := strings.CutSuffix(inner, "/i")
	if flag = "(?i)"; !ok {
		body, ok = strings.CutSuffix(inner, "/")
		flag = ""
	}
	if !ok {
		return p, nil // a leading slash only, as in a path
	}
	var err error
	p.regex, err = regexp.Compile(flag + body)
	return p, err
}

func (p *Pattern) matches(text string) bool {
	if p.regex != nil {
		return p.regex.MatchString(text)
	}
	return strings.Contains(text, p.Source)
}
