package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/text"
)

// Enforce ends the shadow mode of a configuration. It shows the calls that would have been refused,
// and the change that the configuration file needs. If the user agrees, it writes the file and
// makes the running proxies enforce the policy.
func Enforce(ctx context.Context, cfg *config.Config, o Options) error {
	e, err := newEnforcement(cfg)
	if err != nil {
		return err
	}
	after, err := e.newConfig()
	if err != nil {
		return err
	}
	result, _, err := daemon.Policy(ctx, after) // returns an error if a proxy could not start with the enforced policy
	if err != nil {
		return err
	}
	defer func() {
		for _, left := range shadowNets(result) {
			_, _ = fmt.Fprintf(o.Out, "Still in shadow mode because of its own setting: %s\n", left)
		}
	}()
	if e.isEnforced() {
		_, err := fmt.Fprintf(o.Out, "%s is not in shadow mode: its policy is enforced.\n", cfg.File)
		return err
	}
	if err := printSoFar(ctx, cfg, o); err != nil {
		return err
	}
	if written, err := e.write(o); err != nil || !written {
		return err
	}
	return reload(cfg, o)
}

// printSoFar prints which calls the policy would have refused so far. It reads the audit log or, if
// none is configured, asks the running proxies.
func printSoFar(ctx context.Context, cfg *config.Config, o Options) error {
	r, err := readRecord(ctx, cfg, o.Reading)
	o.Read()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, daemon.ErrNoAuditLog):
		return printRunning(cfg, o)
	case err != nil:
		_, _ = fmt.Fprintf(o.Err, "petrigate: cannot tell what shadow mode would have refused: %v\n", err)
		return nil
	}
	would := r.counts()
	_, _ = fmt.Fprintf(o.Out, "Of %s recorded under this policy, it would have refused %d and required approval for %d.\n", text.Count(r.calls, "call"), would.Refused, would.Asked)
	err = printVerdicts(o.Out, would.Would)
	_, _ = fmt.Fprintln(o.Out)
	return err
}

// printRunning prints what the policy would have refused since the running proxies started.
func printRunning(cfg *config.Config, o Options) error {
	found := false
	err := eachProxy(cfg, o.Runtime, func(client *control.Client) error {
		found = true
		r, err := client.Shadow("")
		if err == nil {
			err = Print(o.Out, r)
		}
		return err
	})
	if !found && err == nil {
		_, err = fmt.Fprintln(o.Out, "Cannot tell what shadow mode would have refused: there is no audit log (audit.file), and no proxy runs with this configuration.")
	}
	_, _ = fmt.Fprintln(o.Out)
	return err
}

// reload makes the running proxies that use this configuration reload it, so that they enforce the
// policy.
func reload(cfg *config.Config, o Options) error {
	done := 0
	err := eachProxy(cfg, o.Runtime, func(client *control.Client) error {
		r, err := client.Reload(control.Reload{Actor: o.Actor})
		switch {
		case err != nil:
			return err
		case r.Result != control.Applied && r.Result != control.Unchanged:
			return fmt.Errorf("the current policy is unchanged:\n%s", r.Problem)
		}
		done++
		return nil
	})
	switch {
	case done == 1:
		_, _ = fmt.Fprintln(o.Out, "The running proxy enforces it now.")
	case done > 1:
		_, _ = fmt.Fprintf(o.Out, "The %d running proxies enforce it now.\n", done)
	case err == nil:
		_, _ = fmt.Fprintln(o.Out, "No proxy runs with it here; the next one will enforce it.")
	}
	return err
}

// eachProxy calls f for each running proxy that uses the configuration.
func eachProxy(cfg *config.Config, runtime string, f func(*control.Client) error) error {
	found, err := control.Find(runtime)
	if err != nil {
		return err
	}
	var failed []error
	for _, client := range found {
		status, err := client.Status()
		if err == nil && sameFile(status.Config, cfg.File) {
			err = f(client)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("proxy %d: %w", status.Pid, err))
		}
	}
	return errors.Join(failed...)
}

func sameFile(path, file string) bool {
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(file)
	return err == nil && os.SameFile(a, b)
}
