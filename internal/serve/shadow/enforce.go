package shadow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/text"
)

// Options say how a policy comes to be enforced.
type Options struct {
	Out, Err io.Writer
	Yes      bool                                // write without a question
	Ask      func(question string) (bool, error) // nil: nobody is there to ask
	Actor    string                              // who does it, for the record
	Runtime  string                              // where the sockets of running proxies are
	Reading  func(records int)                   // is told how far the record was read
	Read     func()                              // and that it was

	Written func(file string, before, after []byte) // is told how the configuration was changed; nil: nobody is
}

// Enforce ends the shadow of a configuration: it shows what would have been refused and what changes,
// writes where that is wanted, and has the running proxies enforce it.
func Enforce(ctx context.Context, cfg *config.Config, o Options) error {
	e, err := newEnforcement(cfg)
	if err != nil {
		return err
	}
	after, err := e.newConfig()
	if err != nil {
		return err
	}
	result, _, err := daemon.Policy(ctx, after) // as a proxy would, which refuses what is not sound
	if err != nil {
		return err
	}
	defer func() {
		for _, left := range shadowNets(result) {
			_, _ = fmt.Fprintf(o.Out, "In shadow by itself, and it stays so: %s\n", left)
		}
	}()
	if e.enforced() {
		_, err := fmt.Fprintf(o.Out, "%s is not in shadow: its policy is enforced.\n", cfg.File)
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

// printSoFar says what the policy would have refused, by its record or else by the proxies that run.
func printSoFar(ctx context.Context, cfg *config.Config, o Options) error {
	r, err := readRecord(ctx, cfg, o.Reading)
	o.Read()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, daemon.ErrNoAuditLog):
		return printRunning(cfg, o)
	case err != nil:
		_, _ = fmt.Fprintf(o.Err, "petrigate: what shadow would have refused is not known: %v\n", err)
		return nil
	}
	_, _ = fmt.Fprintf(o.Out, "Of %s on record under this policy, it would have refused %d and asked a person about %d.\n", text.Count(r.calls, "call"), r.refused, r.asked)
	err = printWould(o.Out, r.would)
	_, _ = fmt.Fprintln(o.Out)
	return err
}

// printRunning says what the policy would have refused since the proxies that run were started.
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
		_, err = fmt.Fprintln(o.Out, "What shadow would have refused is not known: there is no record (audit.file), and no proxy with this configuration runs.")
	}
	_, _ = fmt.Fprintln(o.Out)
	return err
}

// reload has the running proxies of a configuration enforce it.
func reload(cfg *config.Config, o Options) error {
	done := 0
	err := eachProxy(cfg, o.Runtime, func(client *control.Client) error {
		r, err := client.Reload(control.Reload{Actor: o.Actor})
		switch {
		case err != nil:
			return err
		case r.Result != control.Applied && r.Result != control.Unchanged:
			return fmt.Errorf("the policy in force is as it was:\n%s", r.Problem)
		}
		done++
		return nil
	})
	switch {
	case done == 1:
		_, _ = fmt.Fprintln(o.Out, "The proxy that runs enforces it now.")
	case done > 1:
		_, _ = fmt.Fprintf(o.Out, "The %d proxies that run enforce it now.\n", done)
	case err == nil:
		_, _ = fmt.Fprintln(o.Out, "No proxy with it runs here; the next one enforces it.")
	}
	return err
}

// eachProxy does something for each running proxy of a configuration.
func eachProxy(cfg *config.Config, runtime string, do func(*control.Client) error) error {
	found, err := control.Find(runtime)
	if err != nil {
		return err
	}
	var failed []error
	for _, client := range found {
		status, err := client.Status()
		if err == nil && sameFile(status.Config, cfg.File) {
			err = do(client)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("proxy %d: %w", status.Pid, err))
		}
	}
	return errors.Join(failed...)
}

// sameFile reports whether two paths are of one file.
func sameFile(path, file string) bool {
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(file)
	return err == nil && os.SameFile(a, b)
}
