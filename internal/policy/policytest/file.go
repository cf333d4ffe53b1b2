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

// A Source is the location of the policy that a test file tests. The zero value means the policy in
// the file's directory.
type Source struct {
	Config      string // path of a configuration file
	Rules, Nets []string
	Default     string            // default decision ("allow" or "deny") of the policy; allowed only with Rules or Nets
	Env         map[string]string // variables for the configuration, which take precedence over the variables of the process
	Position    config.Position

	named bool // the caller chose Config; all files are tested against it
}

// A Test is a single test in a test file.
type Test struct {
	Name     string
	Position config.Position
	Sessions []sandbox.Participant // the sessions, in order; empty: a single session without a principal
	Steps    []Step
}

// A Step makes a call, ends an earlier call, or lets time pass.
type Step struct {
	Position config.Position
	After    time.Duration // the time that passes before the step

	Tool        string      // the tool that is called; empty: the step makes no call
	Foreign     bool        // the name of the tool only restricts and is not evidence
	Also        []gate.Name // further names of the tool, in addition to those that the configuration gives
	Times       int         // number of consecutive calls
	As          string
	Args        json.RawMessage // the arguments; nil: {}
	Annotations json.RawMessage // the annotations of the tool; nil: {}
	Session     string
	Approve     sandbox.Consent // the answer to an approval request: Yes, No or Nobody
	Result      string          // one of the words in results; empty: success
	Returns     json.RawMessage // the result of a successful call; nil: none
	Expect      string          // one of the words in verdicts
	Would       string          // the expected verdict of shadow nets, refuse or ask; empty: any
	Reason      *Pattern        // the expected reason; nil: any
	Rule        string
	Names       []string

	Settles int // if the step ends an earlier call, the number of the step that made that call; numbers start at 1
}

// These variables hold the keywords of a step.
var (
	results  = []string{"success", "failure", "error", "unknown", "pending"}
	verdicts = []string{allow, refuse, ask}
)

// These are the expected and actual verdicts.
const (
	allow  = "allow"
	refuse = "refuse"
	ask    = "ask"
)

// canSettleLater reports whether a later step can end the call that this step makes.
func (s *Step) canSettleLater() bool { return s.Result == "pending" || s.Result == "unknown" }

// admits reports whether the call of the step is expected to be admitted.
func (s *Step) admits() bool {
	return s.Expect == allow || s.Expect == ask && s.Approve == sandbox.Yes
}

// A Pattern matches all strings that contain its text. A pattern of the form /regular expression/
// matches as a regular expression.
type Pattern struct {
	Source string
	regex  *regexp.Regexp // nil: Source is matched as a substring
}

// slashed matches a pattern of the form /regular expression/ or /regular expression/i. A path with a
// slash only at its beginning does not match.
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
