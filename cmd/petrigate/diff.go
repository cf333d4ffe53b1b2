package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/text"
)

func newDiff(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say whether a policy is stricter or looser than another",
		Long: "diff compares two policies, each a file of rules or a configuration, and shows for each direction the\n" +
			"shortest calls after which they decide differently. It plays all calls that the policies tell apart: they\n" +
			"succeed, fail, or end and nobody knows how, and others begin meanwhile. Where it has not seen everything\n" +
			"it says so. With --fail-on looser it ends with exit code 4 where the new policy allows more, or may do so.",
		Args: cobra.ExactArgs(2),
	}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	states := c.Flags().Int("max-states", 20_000, "how many `states` to look at")
	timeout := c.Flags().Duration("timeout", 10*time.Second, "how long to look")
	failOn := choose(c.Flags(), "fail-on", "", "end with exit code 4 where the new policy is so, or may be", "looser", "stricter", "different")
	allowUnknown := c.Flags().Bool("allow-unknown", false, "with --fail-on: pass where no such calls were found, though not everything was seen")
	c.RunE = func(c *cobra.Command, files []string) error {
		var sides [2]*side
		for i, file := range files {
			var err error
			if sides[i], err = loadSide(file); err != nil {
				return err
			}
		}
		if err := errors.Join(sides[0].lift(sides[1]), sides[1].lift(sides[0])); err != nil {
			return err
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		spent := check.WorkClock()
		d := newComparison(sides[0], sides[1])
		watch := newProgress(s.err)
		err := d.explore(*states, func() bool {
			watch.say(func() string { return "comparing" })
			return c.Context().Err() != nil || spent() > *timeout
		})
		watch.clear()
		if err != nil {
			return err
		}
		if *asJSON {
			err = printJSON(s.out, d.report())
		} else {
			_, err = fmt.Fprint(s.out, d.text(files[0], files[1]))
		}
		if err != nil {
			return err
		}
		return d.failOn(*failOn, *allowUnknown)
	}
	return c
}

// failOn is an error where the new policy differs in the direction that a change
// must not have, or where that is not known.
func (d *comparison) failOn(direction string, allowUnknown bool) error {
	looser, stricter := d.looser != nil, d.stricter != nil
	found := map[string]bool{"looser": looser, "stricter": stricter, "different": looser || stricter}[direction]
	switch {
	case found:
		return &exit{exitDiffers, fmt.Errorf("--fail-on %s: there are such calls", direction)}
	case direction != "" && !d.complete && !allowUnknown:
		return &exit{exitDiffers, fmt.Errorf("--fail-on %s: no such calls were found, but not everything was seen (--max-states, --timeout, or --allow-unknown)", direction)}
	}
	return nil
}

// loadSide builds the policy of a file of rules or of a configuration.
func loadSide(file string) (*side, error) {
	var source policy.Source
	var cfg *config.Config
	if filepath.Ext(file) == ".rules" {
		texts, _, err := policyFiles([]string{file}, nil)
		if err != nil {
			return nil, err
		}
		source.Rules = texts
	} else {
		var err error
		if cfg, err = config.Load(config.Options{Path: file}); err != nil {
			return nil, err
		}
		source = policy.FromConfig(cfg)
	}
	result, err := policy.Build(source)
	if err != nil {
		return nil, err
	}
	return newSide(result, source, check.LikelyTools(cfg, result).Tools)
}

// diffReport is the answer of diff as JSON.
type diffReport struct {
	Version  int          `json:"version"`
	Result   string       `json:"result"`   // "stricter", "looser", "both", "equal"; where not complete "stricter-or-both", "looser-or-both", "unknown"
	Complete bool         `json:"complete"` // everything that diff looks for was seen
	States   int          `json:"states"`
	Stricter *diffWitness `json:"stricter"` // null: none was found
	Looser   *diffWitness `json:"looser"`
}

type diffWitness struct {
	Calls  []string      `json:"calls"`
	Events []check.Event `json:"events"` // the last is the call on which the policies differ
	Old    string        `json:"old"`    // "allow", "ask", "refuse"
	New    string        `json:"new"`
}

func (d *comparison) report() diffReport {
	return diffReport{
		Version: 1, Result: d.result(), Complete: d.complete, States: d.states,
		Stricter: d.stricter.witness(d.tools()), Looser: d.looser.witness(d.tools()),
	}
}

// result is the answer in a word. Where not everything was seen, the other
// direction may be in what was not.
func (d *comparison) result() string {
	direction := "equal"
	switch {
	case d.stricter != nil && d.looser != nil:
		return "both"
	case d.stricter != nil:
		direction = "stricter"
	case d.looser != nil:
		direction = "looser"
	case !d.complete:
		return "unknown"
	}
	if !d.complete {
		direction += "-or-both"
	}
	return direction
}

func (w *witness) witness(tools check.ToolSet) *diffWitness {
	if w == nil {
		return nil
	}
	return &diffWitness{Calls: w.trace.Calls(), Events: tools.Events(w.trace), Old: w.old.String(), New: w.new.String()}
}

// text is the answer for people.
func (d *comparison) text(from, to string) string {
	var b strings.Builder
	switch d.result() {
	case "both":
		fmt.Fprintf(&b, "%s is stricter than %s in some calls and looser in others\n", to, from)
	case "equal":
		fmt.Fprintf(&b, "%s and %s decide alike\n", from, to)
	case "unknown":
		b.WriteString("no difference was found\n")
	case "stricter-or-both":
		fmt.Fprintf(&b, "%s is stricter than %s in some calls, and may be looser in others\n", to, from)
	case "looser-or-both":
		fmt.Fprintf(&b, "%s is looser than %s in some calls, and may be stricter in others\n", to, from)
	default:
		fmt.Fprintf(&b, "%s is %s than %s\n", to, d.result(), from)
	}
	for _, w := range []*witness{d.stricter, d.looser} {
		if w != nil {
			w.write(&b)
		}
	}
	if !d.complete {
		fmt.Fprintf(&b, "not everything was looked at (%s): %s\n", text.Count(d.states, "state"), d.why)
	}
	return b.String()
}

func (w *witness) write(b *strings.Builder) {
	title := "looser:"
	if w.new > w.old {
		title = "stricter:"
	}
	fmt.Fprintf(b, "\n%s\n", title)
	last := len(w.trace) - 1
	lines := check.Story(w.trace[:last])
	for i, line := range append(lines, fmt.Sprintf("%s: %s before, %s now", check.Called(w.trace[last]), w.old, w.new)) {
		fmt.Fprintf(b, "  %2d. %s\n", i+1, line)
	}
}
