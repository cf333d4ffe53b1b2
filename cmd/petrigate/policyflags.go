package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/simulate"
)

// policyFlags selects a policy: either a configuration, or files with rules and nets.
type policyFlags struct {
	found       bool // whether the configuration was found in a directory that was passed as an argument
	rules, nets []string
	configLoader
}

// add adds the flags to the command c. Their help texts begin with the given verb, such as "check".
func (f *policyFlags) add(c *cobra.Command, does string) {
	c.Flags().StringArrayVar(&f.rules, "rules", nil, does+" this `file` of rules instead of a configuration; may be given more than once")
	c.Flags().StringArrayVar(&f.nets, "net", nil, does+" this `file` with a net; may be given more than once")
}

// bare reports whether the policy consists of rules files and net files without a configuration.
func (f *policyFlags) bare() bool { return len(f.rules)+len(f.nets) > 0 }

// parse evaluates the flags of the command c and its arguments, which can be paths of policy files.
func (f *policyFlags) parse(s stdio, c *cobra.Command, files []string) (err error) {
	if f.configLoader, err = s.configLoader(c); err != nil {
		return err
	}
	if err := f.addArguments(c, files); err != nil {
		return err
	}
	if f.path != "" && f.bare() {
		return usage("--config cannot be combined with --rules or --net")
	}
	return nil
}

// load reads the policy from the selected files or the configuration.
func (f *policyFlags) load() (policy.Source, error) {
	if f.bare() {
		return policy.FromFiles(f.rules, f.nets)
	}
	o := f.options()
	o.Found = f.found
	cfg, err := f.configLoader.load(o)
	if err != nil {
		return policy.Source{}, err
	}
	return policy.FromConfig(cfg), nil
}

// open builds the policy and starts a simulated session.
func (f *policyFlags) open() (*simulate.Simulation, error) {
	source, err := f.load()
	if errors.Is(err, config.ErrNotFound) {
		err = fmt.Errorf("%w; or pass a policy with --rules FILE or --net FILE", err)
	}
	if err != nil {
		return nil, err
	}
	return simulate.New(source)
}
