package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/doctor"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/takeover"
	"github.com/petrigate/petrigate/internal/text"
)

func newDoctor(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "doctor", Short: "Find common problems and suggest fixes", Args: cobra.NoArgs,
		Long: "doctor checks the configuration, file permissions, the upstreams (it starts them), and the files of clients:\n" +
			"whether they are connected, and which servers they reach without petrigate. Each finding comes with a fix.\n" +
			"--fix applies the safe fixes after confirmation. doctor exits with code 7 if a check fails.",
	}
	var f deskFlags
	fix := c.Flags().Bool("fix", false, "apply the safe fixes after confirmation")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "with --fix, do not ask for confirmation")
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if f.yes && !*fix {
			return usage("--yes requires --fix")
		}
		d, err := newDoctorOf(c, s, f)
		if err != nil {
			return err
		}
		if *asJSON {
			d.Desk.Out = s.err
		}
		report := d.Examine(c.Context())
		if *fix {
			if report, err = d.Mend(c.Context(), report); err != nil {
				return withExitCode(err)
			}
		}
		err = printEither(s.out, *asJSON, "doctor", report, func() error { return report.Print(s.out, newInk(s.out)) })
		if err == nil && !report.OK {
			err = &exitError{exitUpstream, nil}
		}
		return err
	}
	return c
}

// newDoctorOf returns a doctor for this machine and the configuration selected by the flags of the
// command c.
func newDoctorOf(c *cobra.Command, s stdio, f deskFlags) (*doctor.Doctor, error) {
	desk, err := f.desk(c.Context(), s)
	if err != nil {
		return nil, err
	}
	path, trusts, err := s.configPath(c)
	if err != nil && !errors.Is(err, config.ErrNotFound) {
		return nil, err
	}
	dir, err := daemon.StateDir()
	if err != nil {
		return nil, err
	}
	d := &doctor.Doctor{Config: path, Trusts: trusts, Desk: desk, Short: doctor.ShortPath(runtime.GOOS), Services: serviceManager(desk.System), StateDir: dir, Now: time.Now}
	if d.Program, err = takeover.Program(); err == nil {
		d.Connected.Launch.Command, d.Connected.Launch.Args = d.Program, []string{"serve", "--config", path}
	}
	d.Proxies, _ = askAll((*control.Client).Status) // an error means that no proxy is running, which is not a problem
	bar, begin := newProgress(s.err), time.Now()
	d.Waiting = func(servers []string) {
		bar.update(func() string {
			return fmt.Sprintf("waiting for %s (%s)", text.And(servers), time.Since(begin).Round(time.Second))
		})
	}
	d.Done = bar.clear
	return d, nil
}
