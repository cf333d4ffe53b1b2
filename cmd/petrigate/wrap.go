package main

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
)

func newWrap(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:     "wrap [flags] (-- command [arg...] | --url URL)",
		Short:   "Gate one server, without a configuration file",
		Example: "  petrigate wrap --rules safety.rules -- npx -y @modelcontextprotocol/server-filesystem /tmp",
	}
	f := c.Flags()
	files := f.StringArray("rules", nil, "`file` of rules; may be given more than once")
	nets := f.StringArray("net", nil, "`file` with a net; may be given more than once")
	url := f.String("url", "", "the server's streamable HTTP endpoint, instead of a command")
	name := f.String("name", "", "name of the server in rules and records (default: from the command)")
	protocol := f.String("protocol", "auto", "auto, legacy or 2026-07-28")
	deny := f.Bool("deny", false, "refuse calls that no rule or net knows")
	addr := f.String("http", "", "serve streamable HTTP at `host:port` instead of stdio")
	auth := f.String("auth", "token", "authentication over HTTP: token or none")
	audit := f.String("audit", "", "put decisions on record in `file`")
	level := f.String("log-level", "info", "debug, info, warn or error")
	c.RunE = func(c *cobra.Command, args []string) error {
		server, err := wrapped(*name, *url, *protocol, args)
		if err != nil {
			return &exit{exitUsage, err}
		}
		flags := map[string]string{"listen.auth": *auth, "log.level": *level}
		if *addr != "" {
			flags["listen.http"] = *addr
		}
		cfg, err := config.Parse("", []byte("version: 1"), config.Options{Flags: flags})
		if err != nil {
			return err
		}
		cfg.Servers, cfg.Audit.File = []config.Server{server}, *audit
		if *deny {
			cfg.Default = "deny"
		}
		if cfg.Rules, cfg.Nets, err = policyFiles(*files, *nets); err != nil {
			return err
		}
		return serve(c.Context(), s, cfg)
	}
	return c
}

// wrapped is the one server. Its tools keep their names.
func wrapped(name, url, protocol string, args []string) (config.Server, error) {
	server := config.Server{Name: name, HasPrefix: true, Protocol: protocol, URL: url, Type: "http"}
	switch {
	case url == "" && len(args) == 0:
		return server, errors.New("wrap wants a command behind --, or --url")
	case url != "" && len(args) > 0:
		return server, errors.New("wrap wants a command or --url, and not both")
	case len(args) > 0:
		server.Type, server.Command, server.Args = "stdio", args[0], args[1:]
	}
	if name == "" {
		server.Name = "server"
		if base := filepath.Base(server.Command); len(args) > 0 && base != "npx" && base != "uvx" {
			server.Name = strings.TrimSuffix(base, filepath.Ext(base))
		}
	}
	return server, nil
}

// policyFiles reads the files of rules and nets that flags name.
func policyFiles(ruleFiles, netFiles []string) (texts []config.RuleText, nets []config.Net, err error) {
	for _, file := range ruleFiles {
		more, err := config.ReadRules(file)
		if err != nil {
			return nil, nil, err
		}
		texts = append(texts, more...)
	}
	for _, file := range netFiles {
		more, err := config.ReadNets(file)
		if err != nil {
			return nil, nil, err
		}
		nets = append(nets, more...)
	}
	return texts, nets, nil
}
