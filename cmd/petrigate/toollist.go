package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/proxy"
)

// knownTools are all names that calls can have, or nil where they are not known.
func (f checkFlags) knownTools(ctx context.Context, s stdio, cfg *config.Config) ([]string, error) {
	switch {
	case f.tools != "":
		return recordedTools(f.tools)
	case f.live && cfg == nil:
		return nil, usage("--live wants a configuration: --rules and --net name no servers to ask")
	case f.live:
		return liveTools(ctx, s, cfg)
	default:
		return nil, nil
	}
}

// recordedTools reads a result of tools/list, its tools, or a list of names.
func recordedTools(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the tool list %s: %w", path, innermost(err))
	}
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(b, &list) != nil && json.Unmarshal(b, &list.Tools) != nil {
		return nil, &exit{exitInvalid, fmt.Errorf("%s is not a tool list: write what tools/list answers, or a list of names", path)}
	}
	names := []string{}
	for i, raw := range list.Tools {
		var tool struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &tool.Name) != nil && json.Unmarshal(raw, &tool) != nil || tool.Name == "" {
			return nil, &exit{exitInvalid, fmt.Errorf("%s: entry %d of the tool list has no name", path, i+1)}
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

// liveTools asks the upstreams. One that does not answer fails the check.
func liveTools(ctx context.Context, s stdio, cfg *config.Config) ([]string, error) {
	if missing := missingCommands(cfg, policy.Error); len(missing) > 0 {
		return nil, missing
	}
	quiet := *cfg
	quiet.Audit.File = ""
	p, err := build(&quiet, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	p.Start()
	p.AwaitTools(ctx)
	status := p.Status()
	if err := silent(status.Upstreams); err != nil {
		return nil, &exit{exitUpstream, err}
	}
	tools, err := p.Tools("")
	var names []string
	for _, t := range tools {
		names = append(names, t.Exposed, t.Bare, t.Canonical)
	}
	for _, left := range status.LeftOut {
		_, _ = fmt.Fprintln(s.err, "petrigate: a tool is left out:", left)
	}
	_, _ = fmt.Fprintf(s.err, "%s of %s\n", number(len(tools), "tool"), number(len(status.Upstreams), "upstream"))
	return names, err
}

// silent names the upstreams that did not answer.
func silent(upstreams []proxy.UpstreamStatus) error {
	var all []error
	for _, u := range upstreams {
		switch {
		case u.Error != "":
			all = append(all, fmt.Errorf("the upstream %s does not answer: %s", u.Name, u.Error))
		case u.State != "up":
			all = append(all, fmt.Errorf("the upstream %s has not answered in time", u.Name))
		}
	}
	return errors.Join(all...)
}
