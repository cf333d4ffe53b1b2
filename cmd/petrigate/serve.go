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
)

func newServe(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve [FILE]",
		Short: "Run the proxy that a configuration describes",
		Long: "serve runs the proxy: over stdio, so that an MCP client can start it, or at an HTTP address.\n" +
			"In stdio mode standard output carries the protocol alone; logs go to standard error.",
		Args: cobra.MaximumNArgs(1),
	}
	var addr address
	c.Flags().Var(&addr, "http", "serve streamable HTTP there instead of stdio")
	auth := choose(c.Flags(), "auth", "", "authentication over HTTP", "token", "jwt", "none")
	session := c.Flags().String("session", "", "all calls are in the session of this `name`")
	still := c.Flags().Bool("no-watch", false, "do not read the configuration again when one of its files changes")
	require := c.Flags().StringArray("require-base", nil, "serve no configuration that does not extend this `base`: a digest, or [NAME[@VERSION]=]KEY")
	level := choose(c.Flags(), "log-level", "", "what to log", "debug", "info", "warn", "error")
	quiet := quietFlag(c)
	c.RunE = func(c *cobra.Command, files []string) error {
		var f policyFlags
		if err := f.addArguments(c, files); err != nil {
			return err
		}
		if f.bare() {
			return usage("serve requires a configuration, and %q is not one; use petrigate wrap for rules and nets of one server", files[0])
		}
		if f.found {
			return usage("serve requires the file itself, and not its folder: petrigate serve %s", shellWord(f.config))
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
		from := config.Options{Path: f.config, Flags: flags, Fetch: daemon.Fetching(c.Context()), Require: *require}
		cfg, err := config.Load(from)
		if file := configIn("."); errors.Is(err, config.ErrNotFound) && file != "" {
			return fmt.Errorf("%w; the one in this folder is served by petrigate serve --config ./%s", err, file)
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

// serve runs a proxy until ctx or its client ends it. o controls how the configuration is reloaded.
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
	defer daemon.OutlivePipes()() // until everything has ended and its last log lines are written
	level := new(slog.LevelVar)
	level.Set(daemon.Level(cfg.Log.Level))
	log := logHandler(s.err, cfg.Log, level)
	o.Config, o.Policy, o.Known, o.Log, o.Level, o.Version, o.Tune = cfg, result, known, log, level, versionString(), true
	var say io.Writer
	if isTerminal(s.err) {
		say = s.err
	}
	if say != nil && cfg.Log.Format != "json" {
		o.Narration, o.Ink = s.err, newInk(s.err)
	}
	if o.Load != nil && !isTerminal(s.in) { // a proxy started by hand ends with its terminal
		o.HangUps = s.hup.claim()
	}
	d, err := daemon.New(o)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if cfg.Listen.Stdio && isTerminal(s.in) {
		slog.New(log).Warn("standard input is a terminal: an MCP client should start this program; petrigate demo shows what it does")
	}
	return d.Run(ctx, s.in, s.out, say)
}

// quietFlag adds --quiet. The function that it returns lowers the log level if the flag is given.
func quietFlag(c *cobra.Command) func(level *string) error {
	quiet := c.Flags().BoolP("quiet", "q", false, "tell only problems, approvals and what operators do")
	return func(level *string) error {
		switch {
		case *quiet && c.Flags().Changed("log-level"):
			return usage("use --quiet or --log-level, and not both")
		case *quiet:
			*level = "warn"
		}
		return nil
	}
}

// logHandler returns a handler that writes text for people on a terminal and JSON elsewhere, unless
// the configuration chooses a format.
func logHandler(w io.Writer, c config.Log, level slog.Leveler) slog.Handler {
	if c.Format == "json" || c.Format != "text" && !isTerminal(w) {
		return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
	}
	return tint.NewTextHandler(w, &tint.Options{
		Level: level, TimeFormat: time.TimeOnly, NoColor: !isTerminal(w) || os.Getenv("NO_COLOR") != "",
	})
}
