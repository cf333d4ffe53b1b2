package main

import (
	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

func newWrap(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "wrap [flags] (-- command [arg...] | --url URL)",
		Short: "Gate one server, without a configuration file",
		Long: "wrap runs the proxy in front of one server: the command after --, or the server at --url. Its tools keep their\n" +
			"names. As with serve, standard output carries only the protocol in stdio mode.",
	}
	f := c.Flags()
	files := f.StringArray("rules", nil, "`file` of rules; may be given more than once")
	nets := f.StringArray("net", nil, "`file` with a net; may be given more than once")
	url := f.String("url", "", "the `URL` of the server's streamable HTTP endpoint, instead of a command")
	name := f.String("name", "", "`name` of the server in rules and records (default: from the command)")
	protocol := choose(f, "protocol", "auto", "the server's protocol revision", "auto", "legacy", "2026-07-28")
	deny := f.Bool("deny", false, "refuse calls that no rule or net covers")
	shadow := f.Bool("shadow", false, "let every call pass, and record what the policy would refuse")
	advertise := choose(f, "advertise", "all", "which tools to list", "all", "possible", "enabled")
	var addr address
	f.Var(&addr, "http", "serve streamable HTTP at this address instead of stdio")
	auth := choose(f, "auth", "token", "authentication over HTTP", "token", "none")
	audit := f.String("audit", "", "record decisions in this `file`")
	level := choose(f, "log-level", "info", "what to log", "debug", "info", "warn", "error")
	quiet := quietFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("config") {
			return usage("wrap does not read a configuration file: use serve --config, or --rules and --net")
		}
		if c.ArgsLenAtDash() > 0 {
			return usage("%q must follow --, like the server's command and all of its arguments", args[0])
		}
		if err := quiet(level); err != nil {
			return err
		}
		server, err := daemon.Wrapped(*name, *url, *protocol, args)
		if err != nil {
			return usage("%w; see petrigate wrap --help", err)
		}
		flags := map[string]string{"listen.auth": *auth, "log.level": *level}
		if addr != "" {
			flags["listen.http"] = string(addr)
		}
		cfg, err := config.Bare(config.Options{Flags: flags})
		if err != nil {
			return err
		}
		cfg.Servers, cfg.Audit.File = []config.Server{server}, *audit
		cfg.Advertise = *advertise
		if *deny {
			cfg.Default = "deny"
		}
		if *shadow {
			cfg.Mode = "shadow"
		}
		source, err := policy.FromFiles(*files, *nets)
		if err != nil {
			return err
		}
		cfg.Rules, cfg.Nets = source.Rules, source.Nets
		return serve(c.Context(), s, cfg, daemon.Options{})
	}
	return c
}
