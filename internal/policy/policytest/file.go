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

// A File is a test file.
type File struct {
	Name   string
	Policy Source
	Tests  []Test
}

// A Source locates the policy that a test file tests. The zero value denotes the policy in the
// file's directory.
type Source struct {
	Config      string // path of a configuration file
	Rules, Nets []string
	Default     string            // default decision, "allow" or "deny"; allowed only with Rules or Nets
	Env         map[string]string // variables for the configuration; they take precedence over the process environment
	Position    config.Position

	named bool // whether the caller chose Config for all files
}

// A Test is a single test in a test file.
type Test struct {
	Name     string
	Position config.Position
	Sessions []sandbox.Participant // sessions in order; if empty, the test has a single session without a principal
	Steps    []Step
}

// A Step makes a call, ends an earlier call, or lets time pass.
type Step struct {
	Position config.Position
	After    time.Duration // time that passes before the step

	Tool        string      // the tool to call; empty if the step makes no call
	Foreign     bool        // whether Tool might be the name of a different tool; such a name can only restrict the call
	Also        []gate.Name // names of the tool besides those from the configuration
	Times       int         // number of consecutive calls
	As          string
	Args        json.RawMessage // arguments; nil means {}
	Annotations json.RawMessage // tool annotations; nil means {}
	Session     string
	Approve     sandbox.Consent // answer to an approval request: Yes, No or Nobody
	Result      string          // how the call ends, an element of results; empty means success
	Returns     json.RawMessage // result of a successful call, or nil
	Expect      string          // expected verdict, an element of verdicts
	Would       string          // expected verdict of shadow nets, refuse or ask; empty means any
	Reason      *Pattern        // expected reason; nil means any
	Rule        string
	Names       []string

	Settles int // 1-based number of the step whose call this step ends; 0 if this step ends no call
}

// Words allowed for a step's result and for its expected verdict.
var (
	results  = []string{"success", "failure", "error", "unknown", "pending"}
	verdicts = []string{allow, refuse, ask}
)

// Verdicts on a call, expected or actual.
const (
	allow  = "allow"
	refuse = "refuse"
	ask    = "ask"
)

// canSettleLater reports whether a later step can end the step's call.
func (s *Step) canSettleLater() bool { return s.Result == "pending" || s.Result == "unknown" }

// admits reports whether the step expects its call to be admitted.
func (s *Step) admits() bool {
	return s.Expect == allow || s.Expect == ask && s.Approve == sandbox.Yes
}

// A Pattern matches every string that contains Source. If Source has the form /regular expression/,
// it is matched as a regular expression instead.
type Pattern struct {
	Source string
	regex  *regexp.Regexp // compiled regular expression; if nil, Source is matched as a substring
}

// slashed matches a pattern of the form /regular expression/ or /regular expression/i. It does not
// match a path with only a leading slash.
var slashed = regexp.MustCompile(`(?s)^/(.*)/(i?)$`)

func newPattern(source string) (*Pattern, error) {
	p := &Pattern{Source: source}
	m := slashed.FindStringSubmatch(source)
	if m == nil {
		return p, nil
	}
	body := m[1]
	if m[2] == "i" {
		body = "(?i)" + body
	}
	var err error
	p.regex, err = regexp.Compile(body)
	return p, err
}

func (p *Pattern) matches(text string) bool {
	if p.regex != nil {
		return p.regex.MatchString(text)
	}
	return strings.Contains(text, p.Source)
}
