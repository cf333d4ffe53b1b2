package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

// knownTools are the tools that can be called, where that is asked for.
func (f checkFlags) knownTools(ctx context.Context, s stdio, cfg *config.Config) (check.ToolSet, error) {
	switch {
	case f.tools != "":
		list, err := recordedTools(f.tools)
		return check.KnownSet(list, cfg), err
	case f.live && cfg == nil:
		return check.ToolSet{}, usage("--live wants a configuration: --rules and --net name no servers to ask")
	case f.live:
		list, err := liveTools(ctx, s, cfg)
		return check.KnownSet(list, cfg), err
	default:
		return check.ToolSet{}, nil
	}
}

// recordedTools reads a tool list from a file.
func recordedTools(path string) ([]check.ListedTool, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the tool list %s: %w", path, text.Innermost(err))
	}
	tools, err := check.ParseTools(path, src)
	if err != nil {
		return nil, &exit{exitInvalid, err}
	}
	return tools, nil
}

// firstStart is how long check --live waits for the upstreams where the
// configuration does not say: a first start may have to fetch the program.
const firstStart = time.Minute

// liveTools asks the upstreams. One that does not answer fails the check.
func liveTools(ctx context.Context, s stdio, cfg *config.Config) ([]check.ListedTool, error) {
	if err := runnable(s.err, cfg); err != nil {
		return nil, err
	}
	quiet := *cfg
	quiet.Audit.File = ""
	if quiet.Startup == config.DefaultStartup {
		quiet.Startup = firstStart
	}
	p, err := build(&quiet, &policy.Result{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	p.Start()
	awaitUpstreams(ctx, s.err, p)
	status := p.Status()
	if down := silent(status.Upstreams, &quiet); len(down) > 0 {
		for _, why := range down {
			printError(s.err, why)
		}
		return nil, &exit{exitUpstream, nil}
	}
	tools, err := p.Tools("")
	for _, left := range status.LeftOut {
		_, _ = fmt.Fprintln(s.err, "petrigate: a tool is left out:", left)
	}
	for _, warning := range status.Warnings {
		_, _ = fmt.Fprintln(s.err, "petrigate: warning:", warning)
	}
	_, _ = fmt.Fprintf(s.err, "%s of %s\n", text.Count(len(tools), "tool"), text.Count(len(status.Upstreams), "upstream"))
	return asListed(tools), err
}

// asListed are the tools of a running proxy.
func asListed(tools []proxy.ToolInfo) []check.ListedTool {
	list := []check.ListedTool{}
	for _, t := range tools {
		list = append(list, check.ListedTool{Exposed: t.Exposed, Bare: t.Bare, Canonical: t.Canonical, InputSchema: t.InputSchema})
	}
	return list
}

// awaitUpstreams waits for the tools of all upstreams, and says on a terminal
// which of them have come up and which it still waits for.
func awaitUpstreams(ctx context.Context, w io.Writer, p *plant) {
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		p.AwaitTools(ctx)
	}()
	bar := newProgress(w)
	defer bar.clear()
	begin := time.Now()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-listed:
			return
		case <-tick.C:
			bar.say(func() string {
				return fmt.Sprintf("waiting for %s (%s)", text.And(silentNames(p)), time.Since(begin).Round(time.Second))
			})
		}
	}
}
