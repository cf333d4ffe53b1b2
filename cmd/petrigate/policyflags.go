package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/simulate"
)

// policyFlags say which policy a verb plays with.
type policyFlags struct{ rules, nets []string }

func (f *policyFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.rules, "rules", nil, "take this `file` of rules instead of a configuration; may be given more than once")
	c.Flags().StringArrayVar(&f.nets, "net", nil, "take this `file` with a net; may be given more than once")
}

// open builds the policy and begins a session.
func (f *policyFlags) open(c *cobra.Command) (*simulate.Simulation, error) {
	path, _ := c.Flags().GetString("config")
	if len(f.rules)+len(f.nets) == 0 {
		cfg, err := config.Load(config.Options{Path: path, WorkDir: true})
		if errors.Is(err, config.ErrNotFound) {
			return nil, fmt.Errorf("%w; or name a policy by --rules FILE or --net FILE", err)
		} else if err != nil {
			return nil, err
		}
		return simulate.New(policy.FromConfig(cfg))
	}
	if path != "" {
		return nil, usage("--config cannot be combined with --rules or --net")
	}
	texts, nets, err := policyFiles(f.rules, f.nets)
	if err != nil {
		return nil, err
	}
	return simulate.New(policy.Source{Rules: texts, Nets: nets})
}
