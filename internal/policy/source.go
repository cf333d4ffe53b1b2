package policy

import (
	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/shell"
	"github.com/petrigate/petrigate/rules"
)

// A Source holds everything that a policy is built from.
type Source struct {
	Rules   []config.RuleText
	Nets    []config.Net
	Default string // "allow" or "deny"; may be empty
	Mode    string // "enforce" or "shadow"; may be empty

	Active         []string // the hand-written nets that are active at the start; nil: all; nets generated from rules are always active
	ActivePosition config.Position

	Config *config.Config // the configuration that the source comes from, used for the positions of its keys; may be nil

	Tools   []string            // all known physical tool names; nil: the tools are unknown
	Schemas map[string][]Schema // argument schemas of the known tools; each tool is listed under all its names
	Hooked  []string            // names that only agents' built-in tools have; hooks report the calls of these tools
	Unended []string            // names in Hooked whose tools run scripts although no hook reports how a script ended
}

// FromConfig returns the source that a configuration contains. The source's tools are unknown.
func FromConfig(c *config.Config) Source {
	return Source{Rules: c.Rules, Nets: c.Nets, Default: c.Default, Mode: c.Mode, Active: c.Active, ActivePosition: c.ActivePosition, Config: c}
}

// FromFiles reads the source from rules files and net files. Each file name may be a pattern.
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

// A Result is a policy, or the problems that prevent it from being built.
type Result struct {
	Policy   *gate.Policy // nil if Problems contains an error
	Problems diag.List    // the problems in rules, in the order of the rules, followed by the problems in nets
	Nets     []Net        // the policy's nets; those generated from rules come first
	Claims   []Claim      // claims to prove; claims in rules come first
	Active   []string     // nets that are active at the start, for gate.SessionOptions; nil: all
}

// A Claim is a property that a policy must have. It comes from a line in rules that begins with
// "prove" or from an entry under "prove" in a net. Its net and places exist. For the meaning of its
// fields, see rules.Prove. A claim about several names has Parts; its own fields are those of the
// first element of Parts.
type Claim struct {
	Kind  rules.Claim
	Text  string // the claim's text in the rules
	Rule  gate.Position
	Tool  gate.Tool
	Tools []gate.Tool // for rules.AtMost and rules.Only: all tools that are counted together
	First gate.Tool   // the call that follows "before", "after", "while" or "per" in the claim
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

	Net    string // the net that the claim is about; also set for rules.Exclusive
	Places []string

	Parts []Claim // if the claim is about several names, one claim for each of them; all must hold; nil: a single claim
}
