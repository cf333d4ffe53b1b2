package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
)

func newDiff(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Tell whether a policy is stricter or looser than another",
		Long: "diff compares two policies. Each is a file of rules or a configuration. For each direction it shows the\n" +
			"shortest calls after which the policies decide differently. It explores all calls that the policies\n" +
			"distinguish: calls that succeed, fail or end with an unknown outcome, and concurrent calls. If the search is\n" +
			"incomplete, diff says so, and exits with code 3 if it found no difference. With --fail-on looser it exits\n" +
			"with code 4 if the new policy allows more, or may allow more.",
		Args: cobra.ExactArgs(2),
	}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	states := c.Flags().Int("max-states", 20_000, "explore at most this many `states`")
	timeout := c.Flags().Duration("timeout", 10*time.Second, "stop the search after this time")
	direction := choose(c.Flags(), "fail-on", "", "exit with code 4 if the new policy is, or could be, looser, stricter or different", "looser", "stricter", "different")
	allowUnknown := c.Flags().Bool("allow-unknown", false, "do not fail just because the search is incomplete")
	c.RunE = func(c *cobra.Command, files []string) error {
		r, err := s.configLoader(c)
		if err != nil {
			return err
		}
		var sides [2]*policydiff.Side
		for i, file := range files {
			if sides[i], err = loadSide(r, file); err != nil {
				return err
			}
		}
		spent := check.Clock(time.Now)
		watch := newProgress(s.err)
		d, err := policydiff.Compare(sides[0], sides[1], *states, func() bool {
			watch.update(func() string { return "comparing" })
			return c.Context().Err() != nil || spent() > *timeout
		})
		watch.clear()
		if err != nil {
			return err
		}
		if *asJSON {
			err = printJSON(s.out, d.Report())
		} else {
			_, err = fmt.Fprint(s.out, d.Text(files[0], files[1]))
		}
		if err != nil {
			return err
		}
		return failOn(d, *direction, *allowUnknown)
	}
	return c
}

// failOn returns an error if the comparison found the kind of difference that --fail-on names:
// "looser", "stricter" or "different". Unless allowUnknown is true, an inconclusive comparison is
// also an error.
func failOn(d *policydiff.Comparison, direction string, allowUnknown bool) error {
	looser, stricter := d.Looser != nil, d.Stricter != nil
	found := map[string]bool{"looser": looser, "stricter": stricter, "different": looser || stricter}[direction]
	switch {
	case found:
		return &exitError{exitDiffers, fmt.Errorf("--fail-on %[1]s: the new policy is %[1]s for some calls", direction)}
	case direction != "" && !d.Excludes(direction) && !allowUnknown:
		return &exitError{exitDiffers, fmt.Errorf("--fail-on %[1]s: found no calls for which the new policy is %[1]s, but the search is incomplete; raise --max-states or --timeout, or pass --allow-unknown", direction)}
	case direction == "" && !allowUnknown && d.Undecided():
		return &exitError{exitInvalid, nil}
	}
	return nil
}

// loadSide builds one of the two policies to compare, either from a rules file or from a
// configuration.
func loadSide(r configLoader, file string) (*policydiff.Side, error) {
	r.path = file
	f := policyFlags{configLoader: r}
	if filepath.Ext(file) == ".rules" {
		f.rules = []string{file}
	}
	source, err := f.load()
	if err != nil {
		return nil, err
	}
	result, err := policy.Build(source)
	if err != nil {
		return nil, err
	}
	return policydiff.NewSide(result, source)
}
