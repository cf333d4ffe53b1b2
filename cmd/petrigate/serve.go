package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/serve/terminal"
)

func newServe(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve [FILE]",
		Short: "Run the proxy that a configuration describes",
		Long: "serve runs the proxy: over stdio, so that an MCP client can start it, or at an HTTP address. In stdio mode\n" +
			"standard output carries only the protocol; logs go to standard error.",
		Args: cobra.MaximumNArgs(1),
	}
	var addr address
	c.Flags().Var(&addr, "http", "serve streamable HTTP at this address instead of stdio")
	auth := choose(c.Flags(), "auth", "", "authentication over HTTP", "token", "jwt", "none")
	session := c.Flags().String("session", "", "put all calls into the session with this `name`")
	still := c.Flags().Bool("no-watch", false, "do not reload when a configuration file changes")
	require := c.Flags().StringArray("require-base", nil, "require the configuration to extend this `base`: a digest, or [NAME[@VERSION]=]KEY")
	level := choose(c.Flags(), "log-level", "", "what to log", "debug", "info", "warn", "error")
	quiet := quietFlag(c)
	c.RunE = func(c *cobra.Command, files []string) error {
		var f policyFlags
		f.path, _ = c.Flags().GetString("config")
		if err := f.addArguments(c, files); err != nil {
			return err
		}
		if f.bare() {
			return usage("serve requires a configuration, but %q is not one; use petrigate wrap to gate one server with rules and nets", files[0])
		}
		if f.found {
			return usage("serve requires a file, not a folder: petrigate serve %s", shellWord(f.path))
		}
		if err := quiet(level); err != nil {
			return err
		}
		flags := map[string]string{}
		for name, value := range map[string]string{"listen.http": string(addr), "listen.auth": *auth, "session.name": *session, "log.level": *level} {
			if value != "" {
				flags[name] = value
			}
		}
		from := config.Options{Path: f.path, Flags: flags, Fetch: daemon.BaseFetcher(c.Context()), Require: *require}
		cfg, err := config.Load(from)
		if file := configIn("."); errors.Is(err, config.ErrNotFound) && file != "" {
			return fmt.Errorf("%w; to serve the one in this folder, run petrigate serve --config ./%s", err, file)
		}
		if err != nil {
			return err
		}
		from.Path = cfg.File
		again := daemon.Options{Load: func() (*config.Config, error) { return config.Load(from) }, Watch: !*still}
		return serve(c.Context(), s, cfg, again)
	}
	return c
}

// serve runs a proxy until ctx is canceled or its stdio client disconnects. In o, the caller sets
// only Load and Watch; serve sets all other options.
func serve(ctx context.Context, s stdio, cfg *config.Config, o daemon.Options) error {
	result, known, err := daemon.Policy(ctx, cfg)
	if err != nil {
		return err
	}
	printProblems(s.err, known)
	if err := checkRunnable(s.err, cfg); err != nil {
		return err
	}
	daemon.TuneMemory()
	defer daemon.OutlivePipes()() // wait for everything to stop and for the last log lines to be written
	level := new(slog.LevelVar)
	level.Set(daemon.Level(cfg.Log.Level))
	log := logHandler(s.err, cfg.Log, level)
	o.Config, o.Policy, o.Known, o.Log, o.Level, o.Version, o.Tune = cfg, result, known, log, level, versionString(), true
	var say io.Writer
	if terminal.Is(s.err) {
		say = s.err
	}
	if say != nil && cfg.Log.Format != "json" {
		o.Narration, o.Ink = s.err, newInk(s.err)
	}
	if o.Load != nil && !terminal.Is(s.in) { // a proxy started at a terminal must end, not reload, when the terminal is closed
		o.HangUps = s.hup.claim()
	}
	d, err := daemon.New(o)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if cfg.Listen.Stdio && terminal.Is(s.in) {
		slog.New(log).Warn("standard input is a terminal, but serve expects an MCP client there; see petrigate demo for an example")
	}
	return d.Run(ctx, s.in, s.out, say)
}

// quietFlag adds the --quiet flag. If the flag is set, the returned function sets the log level to
// "warn".
func quietFlag(c *cobra.Command) func(level *string) error {
	quiet := c.Flags().BoolP("quiet", "q", false, "show only problems, approvals and operator actions")
	return func(level *string) error {
		switch {
		case *quiet && c.Flags().Changed("log-level"):
			return usage("--quiet and --log-level cannot be combined")
		case *quiet:
			*level = "warn"
		}
		return nil
	}
}

// logHandler returns a log handler that writes in the configured format. The default is readable
// text on a terminal and JSON elsewhere.
func logHandler(w io.Writer, c config.Log, level slog.Leveler) slog.Handler {
	if c.Format == "json" || c.Format != "text" && !terminal.Is(w) {
		return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
	}
	return tint.NewTextHandler(w, &tint.Options{
		Level: level, TimeFormat: time.TimeOnly, NoColor: !terminal.Is(w) || os.Getenv("NO_COLOR") != "",
	})
}
