package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/netfile"
	"github.com/petrigate/petrigate/internal/text"
)

// analyzeFlags holds the flags of petrigate analyze, which select the net and limit the search.
type analyzeFlags struct {
	net       string
	maxStates int
	timeout   time.Duration
	live      bool
	json      bool
}

// maxAnalyzeBytes is the maximum amount of memory, in bytes, that an analysis uses for the states
// of a net.
const maxAnalyzeBytes = 4 << 30

func newAnalyze(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "analyze FILE",
		Short: "Analyze one Petri net: states, deadlocks, bounds, invariants",
		Long: "analyze explores one net: its states, deadlocks, dead transitions, place bounds and invariants. FILE is a net\n" +
			"as in a configuration (YAML or JSON), a plain place/transition net in JSON, or PNML; - reads standard input.\n" +
			"--live also finds the transitions that can always fire again. This takes about ten times as long; if time runs\n" +
			"out, the other results still hold.",
		Args: cobra.ExactArgs(1),
	}
	var f analyzeFlags
	c.Flags().StringVar(&f.net, "net", "", "the `name` of the net, if FILE contains several")
	c.Flags().IntVar(&f.maxStates, "max-states", 10_000_000, "give up after this many `states`")
	c.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "give up after this `duration`")
	c.Flags().BoolVar(&f.live, "live", false, "also find the transitions that can always fire again")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.maxStates < 1 || f.timeout <= 0 {
			return usage("--max-states and --timeout must be above 0")
		}
		n, err := f.read(s, args[0])
		if err != nil {
			return err
		}
		return analyze(c.Context(), s, f, n)
	}
	return c
}

// read returns the net selected by --net or, if the flag is not set, the only net in the file.
func (f analyzeFlags) read(s stdio, path string) (*netfile.Net, error) {
	nets, err := readNets(s, path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range nets {
		if n.Name == f.net || f.net == "" && len(nets) == 1 {
			return n, nil
		}
		names = append(names, n.Name)
	}
	if f.net == "" {
		return nil, usage("%s contains %d nets; choose one with --net: %s", path, len(nets), strings.Join(names, ", "))
	}
	return nil, usage("%s has no net %q%s", path, f.net, text.DidYouMean(f.net, "", names))
}

// readNets reads a net file in any supported format. The path "-" means standard input.
func readNets(s stdio, path string) ([]*netfile.Net, error) {
	if filepath.Ext(path) == ".rules" {
		return nil, usage("%s is a file of rules: use petrigate check %s", path, shellWord(path))
	}
	var src []byte
	var err error
	name := path
	if path == "-" {
		name = "standard input"
		src, err = io.ReadAll(s.in)
	} else {
		src, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the net %s: %w", path, text.Innermost(err))
	}
	nets, err := netfile.Read(name, src)
	if wrong, ok := err.(diag.Problem); ok {
		return nil, &exitError{exitInvalid, errors.New(wrong.Error())}
	}
	return nets, err
}

func analyze(ctx context.Context, s stdio, f analyzeFlags, n *netfile.Net) error {
	spent := check.Clock(time.Now)
	p := newProgress(s.err)
	result := petri.Analyze(&n.Petri, n.Initial, petri.Options{
		MaxStates: f.maxStates,
		MaxBytes:  maxAnalyzeBytes,
		Terminal:  n.Terminal,
		Liveness:  f.live,
		Continue: func(states int) bool {
			p.update(func() string { return text.Grouped(states) + " states" })
			return ctx.Err() == nil && spent() < f.timeout
		},
	})
	p.clear()
	if ctx.Err() != nil {
		return errors.New("the analysis was stopped")
	}
	r := netfile.NewReport(n, result, f.live, spent())
	if f.json {
		return printJSON(s.out, r)
	}
	return r.Print(s.out)
}
