package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// stageFlags say which policy a verb plays with.
type stageFlags struct{ rules, nets []string }

func (f *stageFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.rules, "rules", nil, "take this `file` of rules instead of a configuration; may be given more than once")
	c.Flags().StringArrayVar(&f.nets, "net", nil, "take this `file` with a net; may be given more than once")
}

// A stage is a policy, and a session of it in which calls are only made up.
type stage struct {
	config  *config.Config // nil: rules and nets alone
	source  policy.Source
	result  *policy.Result
	box     *sandbox.Sandbox
	session *sandbox.Session
	call    func(tool string) gate.Call
	guide   *verify.Guide
	tools   check.ToolSet // those that can be called, where they are known
}

// open builds the policy and begins a session.
func (f *stageFlags) open(c *cobra.Command) (*stage, error) {
	s := &stage{}
	path, _ := c.Flags().GetString("config")
	var err error
	switch {
	case len(f.rules)+len(f.nets) == 0:
		if s.config, err = config.Load(config.Options{Path: path, WorkDir: true}); errors.Is(err, config.ErrNotFound) {
			return nil, fmt.Errorf("%w; or name a policy by --rules FILE or --net FILE", err)
		} else if err != nil {
			return nil, err
		}
		s.source = policy.FromConfig(s.config)
	case path != "":
		return nil, usage("%s looks at --config, or at --rules and --net, and not at both", c.Name())
	default:
		if s.source.Rules, s.source.Nets, err = policyFiles(f.rules, f.nets); err != nil {
			return nil, err
		}
	}
	if s.result, err = policy.Build(s.source); err != nil {
		return nil, err
	}
	s.call = check.CallsUnder(s.config)
	s.guide = verify.NewGuide(s.result.Policy, verify.Options{})
	s.restart()
	return s, nil
}

// restart begins a new session.
func (s *stage) restart() {
	s.box = sandbox.New(s.result.Policy, s.result.Active)
	s.session = s.box.Session("")
	if s.tools.Known {
		s.offer()
	}
}

// names are those that the policy speaks of.
func (s *stage) names() []string { return check.NamesIn(s.result) }

// net describes a net of the policy.
func (s *stage) net(name string) gate.NetInfo {
	for _, n := range s.result.Policy.Nets() {
		if n.Name == name {
			return n
		}
	}
	return gate.NetInfo{}
}
