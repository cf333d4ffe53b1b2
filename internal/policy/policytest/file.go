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

// A Source says where the policy of a file is. The zero value is what stands
// beside the file.
type Source struct {
	Config      string // a configuration
	Rules, Nets []string
	Default     string            // with Rules or Nets
	Env         map[string]string // variables for the configuration, before those of the process
	Position    config.Position

	named bool // Config is the one that all files are held against
}

// A Test is one test.
type Test struct {
	Name     string
	Position config.Position
	Sessions []sandbox.Participant // in order; none: one without a principal
	Steps    []Step
}

// A Step is a call, the end of one, or time that passes.
type Step struct {
	Position config.Position
	After    time.Duration // passes before

	Tool        string      // of a call; otherwise empty
	Foreign     bool        // the name of the tool is weak
	Also        []gate.Name // further names of the tool, beside those of the configuration
	Times       int         // that the call is made
	As          string
	Args        json.RawMessage // nil: {}
	Annotations json.RawMessage // of the tool; nil: {}
	Session     string
	Approve     sandbox.Consent // Yes, No or Nobody
	Result      string          // one of results; empty: success
	Returns     json.RawMessage // what the result of a success says; nil: nothing
	Expect      string          // one of verdicts
	Would       string          // refuse or ask: what nets in shadow would have said; empty: anything
	Reason      *Pattern        // nil: any
	Rule        string
	RuleAt      config.Position // of the key
	Names       []string

	Settles int // of the end of a call: the number of its step, from 1
}

// The words of a step.
var (
	results  = []string{"success", "failure", "error", "unknown", "pending"}
	verdicts = []string{allow, refuse, ask}
)

// What a step expects, and what becomes of its call.
const (
	allow  = "allow"
	refuse = "refuse"
	ask    = "ask"
)

// canSettleLater reports whether the call of the step can be settled later.
func (s *Step) canSettleLater() bool { return s.Result == "pending" || s.Result == "unknown" }

// admits reports whether the call of the step is expected to run.
func (s *Step) admits() bool {
	return s.Expect == allow || s.Expect == ask && s.Approve == sandbox.Yes
}

// A Pattern is what a text has to hold: words, or a /regular expression/.
type Pattern struct {
	Source string
	regex  *regexp.Regexp // nil: Source is words
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
		return p, nil // it begins with a slash, as paths do
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
