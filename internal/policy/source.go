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
	Default string // default decision, "allow" or "deny"; may be empty
	Mode    string // mode of the policy, "enforce" or "shadow"; may be empty

	Active         []string // hand-written nets that are active at the start; nil means all; nets generated from rules are always active
	ActivePosition config.Position

	Config *config.Config // the configuration that the source comes from; may be nil

	Tools   []string            // names of all known tools, excluding names assigned by map statements and map entries; nil if the tools are unknown
	Schemas map[string][]Schema // argument schemas of the known tools; a tool with several names has an entry for each name
	Hooked  []string            // names that only agents' built-in tools have; hooks report the calls to these tools
	Unended []string            // names of the script tools of those agents that never report how a script ended
}

// FromConfig returns the source for a configuration. The source's tools are unknown.
func FromConfig(c *config.Config) Source {
	return Source{Rules: c.Rules, Nets: c.Nets, Default: c.Default, Mode: c.Mode, Active: c.Active, ActivePosition: c.ActivePosition, Config: c}
}

// FromFiles reads a source from rules files and net files. Each file name may be a pattern.
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

// scriptOptions returns the options for reading scripts.
func (s *Source) scriptOptions() shell.Options {
	if s.Config == nil {
		return shell.Options{}
	}
	return shell.Options{Strict: s.Config.Shell.Strict, Pass: s.Config.Shell.Doubt == "pass"}
}

// A Result is a policy, or the problems that prevent it from being built.
type Result struct {
	Policy   *gate.Policy // the policy; nil if Problems contains an error
	Problems diag.List    // problems in rules, in the same order as the rules, followed by problems in nets
	Nets     []Net        // nets of the policy, starting with those generated from rules
	Claims   []Claim      // claims to prove, starting with those in rules
	Active   []string     // nets that are active at the start, for gate.SessionOptions; nil means all
}

// A Claim is a property that a policy must have. It is written in rules as a line that begins with
// "prove", or in a net as an entry under "prove". The policy always contains the net and the places
// that the claim mentions. Fields without a comment have the same meaning as in [rules.Prove].
//
// If [rules.Prove.Each] splits a claim into several parts, Parts contains them. Text is then the
// text of the whole claim, and all other fields are those of the first part.
type Claim struct {
	Kind  rules.Claim
	Text  string // the claim as a line in rules
	Rule  gate.Position
	Tool  gate.Tool   // first element of Tools, if any
	Tools []gate.Tool // for rules.AtMost and rules.Only, all tools of the claim
	First gate.Tool   // the call after the word "before", "after", "while" or "per" in the claim
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

	Net    string // the net that the claim is about; for rules.Exclusive, the net that contains Places
	Places []string

	Parts []Claim // the claims that this claim is split into; nil if it is not split
}
