package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/text"
)

// knownTools returns the tools that can be called. With neither --tools nor --live, it returns an
// empty set.
func (f checkFlags) knownTools(ctx context.Context, s stdio, cfg *config.Config) (check.ToolSet, error) {
	switch {
	case f.tools == "" && !f.live:
		return check.ToolSet{}, nil
	case f.tools == "" && cfg == nil:
		return check.ToolSet{}, usage("--live requires a configuration: --rules and --net name no servers to ask")
	}
	list, missing, err := f.listedTools(ctx, s, cfg)
	if len(missing) > 0 {
		err = &exitError{exitUpstream, nil}
	}
	known := check.KnownSet(list, cfg)
	if d, failed := (&deskFlags{}).desk(ctx, s); failed == nil {
		known.AddHooks(d.HookedAgents())
	}
	return known, err
}

// listedTools returns the tools in the recorded list. Without such a list, it returns the tools
// that the upstreams currently list, and the names of the upstreams that did not answer.
func (f checkFlags) listedTools(ctx context.Context, s stdio, cfg *config.Config) (tools []check.ListedTool, missing []string, err error) {
	if f.tools != "" {
		tools, err = recordedTools(f.tools)
		return tools, nil, err
	}
	return liveTools(ctx, s, cfg)
}

// recordedTools reads a recorded tool list from a file.
func recordedTools(path string) ([]check.ListedTool, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the tool list %s: %w", path, text.Innermost(err))
	}
	tools, err := check.ParseTools(path, src)
	if err != nil {
		return nil, &exitError{exitInvalid, err}
	}
	return tools, nil
}

// liveTools asks the upstreams for their tools. For each upstream that does not answer, it prints
// an error and returns the upstream's name. If some upstreams do not answer and the others have no
// tools, liveTools returns an error.
func liveTools(ctx context.Context, s stdio, cfg *config.Config) (tools []check.ListedTool, missing []string, err error) {
	if err := checkRunnable(s.err, cfg); err != nil {
		return nil, nil, err
	}
	bar, begin := newProgress(s.err), time.Now()
	listing, err := daemon.ListTools(ctx, cfg, progressEvery, func(servers []string) {
		bar.update(func() string {
			return fmt.Sprintf("waiting for %s (%s)", text.And(servers), time.Since(begin).Round(time.Second))
		})
	})
	bar.clear()
	if err != nil {
		return nil, nil, err
	}
	for _, u := range listing.Unanswered {
		printError(s.err, u.Why)
		missing = append(missing, u.Upstream)
	}
	if len(missing) > 0 && len(listing.Tools) == 0 {
		return nil, nil, &exitError{exitUpstream, nil}
	}
	for _, left := range listing.LeftOut {
		_, _ = fmt.Fprintln(s.err, "petrigate: a tool is omitted:", left)
	}
	for _, warning := range listing.Warnings {
		_, _ = fmt.Fprintln(s.err, "petrigate: warning:", warning)
	}
	of := text.Count(len(listing.Upstreams), "upstream")
	if len(missing) > 0 {
		of = fmt.Sprintf("%d of %s", len(listing.Upstreams)-len(missing), of)
	}
	_, _ = fmt.Fprintf(s.err, "%s of %s\n", text.Count(len(listing.Tools), "tool"), of)
	return listing.Tools, missing, nil
}
