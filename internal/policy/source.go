package policy

import (
	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/shell"
	"github.com/petrigate/petrigate/rules"
)

// A Source is everything that a policy is built from.
type Source struct {
	Rules   []config.RuleText
	Nets    []config.Net
	Default string // "", "allow" or "deny"
	Mode    string // "", "enforce" or "shadow"

	Active         []string // hand-written nets that are active at the start; nil: all. Nets of rules are always active
	ActivePosition config.Position

	Config *config.Config // configuration of the source, for the positions of its keys; may be nil

	Tools   []string            // all known physical names of tools; nil: the tools are unknown
	Schemas map[string][]Schema // argument schemas of the known tools, by each of their names
	Hooked  []string            // names that only built-in tools of agents have, which hooks report
	Unended []string            // those of Hooked that run scripts without a hook that reports how a script ended
}

// FromConfig returns the source of a configuration, without tools.
func FromConfig(c *config.Config) Source {
	return Source{Rules: c.Rules, Nets: c.Nets, Default: c.Default, Mode: c.Mode, Active: c.Active, ActivePosition: c.ActivePosition, Config: c}
}

// FromFiles reads the source from files of rules and of nets. Each name may be a pattern.
func FromFiles(ruleFiles, netFiles []string) (s Source, err error) {
	for _, file := range ruleFiles {
		texts, err := config.ReadRules(file)
		if err != nil {
			return Source{}, err
		}
		s.Rules = append(s.Rules, texts...)
	}
	for _, file := range netFiles {
		nets, err := config.ReadNets(file)
		if err != nil {
			return Source{}, err
		}
		s.Nets = append(s.Nets, nets...)
	}
	return s, nil
}

// scripts returns the options for reading scripts.
func (s *Source) scripts() shell.Options {
	if s.Config == nil {
		return shell.Options{}
	}
	return shell.Options{Strict: s.Config.Shell.Strict, Pass: s.Config.Shell.Doubt == "pass"}
}

// A Result is a policy, or the reasons why it cannot be built.
type Result struct {
	Policy   *gate.Policy // nil if a problem is an error
	Problems diag.List    // rules first, in their order, then nets
	Nets     []Net        // nets of the policy: those of rules, then the others
	Claims   []Claim      // claims to prove: those of rules, then of nets
	Active   []string     // nets that are active at the start, for gate.SessionOptions; nil: all
}

// A Claim is a property that a policy must have: a line that begins with prove, or an entry of
// "prove" in a net. Its net and places exist. See rules.Prove for its fields. A claim about several
// names has the fields of the first one, and Parts.
type Claim struct {
	Kind  rules.Claim
	Text  string // as a line of rules
	Rule  gate.Position
	Tool  gate.Tool
	Tools []gate.Tool // for rules.AtMost and rules.Only: all tools that count together
	First gate.Tool   // the other call: after "before", "after", "while" or "per"
	Until []gate.Tool
	Once  bool

	Approval   *rules.Approval
	Count      int
	Over       rules.Span
	User       bool
	Successful bool
	OwnBudget  bool
	Key        []rules.KeyField
	File       string

	Net    string // also set for rules.Exclusive
	Places []string

	Parts []Claim // all parts must hold; nil: a single claim
}
