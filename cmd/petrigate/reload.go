package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/control"
)

func newReload(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "reload", Short: "Reload the configuration of a running proxy", Args: cobra.NoArgs}
	c.Long = "reload makes the running proxy read its configuration, rules and nets again and apply the new policy if it is\n" +
		"valid. It prints how the new policy differs from the old one. Used limits stay used, unchanged nets keep their\n" +
		"state, and calls in flight finish under the policy that admitted them. A changed hand-written net is not replaced\n" +
		"while it has calls in flight or is not in its initial marking. A proxy also reloads when one of the files\n" +
		"changes, and on SIGHUP."
	reset := c.Flags().StringArray("reset-net", nil, "reset the `net`, whatever its state; may be given more than once")
	dry := c.Flags().Bool("dry-run", false, "show the changes without making them")
	asJSON := c.Flags().Bool("json", false, "print JSON")
	pid := proxyFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		found, err := running()
		if err != nil {
			return err
		}
		client, err := selectProxy(found, *pid, "a configuration")
		if err != nil {
			return err
		}
		r, err := client.Reload(control.Reload{Reset: *reset, DryRun: *dry, Actor: actor()})
		if err != nil {
			return err
		}
		if *asJSON {
			err = printAnswer(s.out, "reload", r)
		} else {
			printReloaded(s, r)
		}
		return errors.Join(err, reloadError(r, *asJSON))
	}
	return c
}

// reloadError returns an error if the new policy did not take effect. The error has no message if
// the result has already been printed.
func reloadError(r control.Reloaded, printed bool) error {
	code := map[string]int{control.Invalid: exitInvalid, control.Held: exitFailed, control.Failed: exitFailed}[r.Result]
	switch {
	case code == 0:
		return nil
	case printed:
		return &exitError{code, nil}
	}
	return &exitError{code, fmt.Errorf("the current policy is unchanged:\n%s", r.Problem)}
}

func printReloaded(s stdio, r control.Reloaded) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }
	if r.Warnings != "" {
		_, _ = fmt.Fprintln(s.err, r.Warnings)
	}
	if r.Diff != "" {
		say("%s\n", strings.TrimRight(r.Diff, "\n"))
	}
	say("%s", r.DescribeNets())
	switch r.Result {
	case control.Applied:
		say("the new policy was applied: nets %s\n", r.CountNets())
	case control.Unchanged:
		say("the policy is the same\n")
	case control.DryRun:
		say("nothing was changed (--dry-run)\n")
	}
	for _, key := range r.Restart {
		say("%s: the change requires a restart\n", key)
	}
}
