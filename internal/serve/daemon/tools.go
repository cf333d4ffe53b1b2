package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// Default time limits of ListTools for the first answers. A program that fetches others must not be
// killed while it does: that could corrupt its cache.
const (
	firstStart = time.Minute
	firstFetch = 5 * time.Minute
)

// fetchers are programs that may fetch the program that they run.
var fetchers = []string{"npx", "bunx", "pnpm", "yarn", "uvx", "uv", "pipx", "docker", "podman", "deno"}

// startupTimeout returns the time limit for the first answers of the servers.
func startupTimeout(c *config.Config) time.Duration {
	if c.Startup != config.DefaultStartup {
		return c.Startup
	}
	for _, s := range c.Servers {
		program := strings.TrimSuffix(strings.ToLower(filepath.Base(s.Command)), ".exe")
		if !s.Disabled && slices.Contains(fetchers, strings.TrimSuffix(program, ".cmd")) {
			return firstFetch
		}
	}
	return firstStart
}

// A Listing holds the tools that the servers of a configuration list.
type Listing struct {
	Tools      []check.ListedTool
	Servers    int
	Unanswered []Unanswered
	Upstreams  []operator.UpstreamStatus
	Began      time.Time // time when the servers were started
	LeftOut    []string
	Warnings   []string
	Crowded    string // the warning about too many tools, if it is in Warnings
}

// An Unanswered is a server that does not answer.
type Unanswered struct {
	Upstream string
	Why      error // reason, with the server's position, last output and a hint
}

// ListTools starts the servers of a configuration, lists their tools, and ends them. It needs no
// policy and records nothing. While it waits, it calls waiting at the interval every with the
// servers that have not answered yet.
func ListTools(ctx context.Context, c *config.Config, every time.Duration, waiting func(servers []string)) (*Listing, error) {
	quiet := *c
	quiet.Audit.File, quiet.State = "", config.State{}
	quiet.Startup = startupTimeout(c)
	d, err := New(Options{Config: &quiet, Policy: &policy.Result{}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	began := time.Now()
	d.Start()
	d.awaitTools(ctx, every, waiting)
	if err := ctx.Err(); err != nil {
		return nil, err // the result is not needed
	}
	status := d.Status()
	l := &Listing{Servers: len(status.Upstreams), Unanswered: unanswered(status.Upstreams, &quiet), LeftOut: status.LeftOut, Warnings: status.Warnings,
		Crowded: status.Crowded, Upstreams: status.Upstreams, Began: began}
	tools, err := d.Tools("")
	l.Tools = ListedTools(tools)
	return l, err
}

// awaitTools waits for the tools of all servers.
func (d *Daemon) awaitTools(ctx context.Context, every time.Duration, waiting func(servers []string)) {
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		d.AwaitTools(ctx)
	}()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-listed:
			return
		case <-tick.C:
			waiting(d.pendingUpstreams())
		}
	}
}

// pendingUpstreams returns the upstreams that are starting. If all have started, it returns one
// entry for the missing tool lists.
func (d *Daemon) pendingUpstreams() []string {
	var names []string
	for _, u := range d.Status().Upstreams {
		if u.State == "starting" {
			names = append(names, u.Name)
		}
	}
	if len(names) == 0 {
		return []string{"lists of tools"}
	}
	return names
}

// unanswered describes the upstreams that do not answer, with the last output of their processes
// and a hint.
func unanswered(upstreams []operator.UpstreamStatus, c *config.Config) []Unanswered {
	var all []Unanswered
	for _, u := range upstreams {
		why := "does not answer: " + u.Error
		switch {
		case u.State == "up" && u.Error == "":
			continue
		case u.State == "up":
			why = "does not list its tools: " + strings.TrimPrefix(u.Error, "listing tools: ")
		case u.State == "starting":
			why = fmt.Sprintf("has not answered within %s", c.Startup)
		}
		text := fmt.Sprintf("%sthe upstream %s %s%s", positionOf(c, u.Name), u.Name, why, LastWords(u, "    "))
		if u.State == "starting" {
			text += fmt.Sprintf("\n  help: a first start may have to fetch the program; startup: %.0fs in the configuration waits longer", max(time.Minute, 2*c.Startup).Seconds())
		}
		all = append(all, Unanswered{u.Name, errors.New(text)})
	}
	return all
}

// positionOf returns the position of a server in the configuration.
func positionOf(c *config.Config, name string) string {
	for _, s := range c.Servers {
		if s.Name == name && s.Position.Line > 0 {
			return fmt.Sprintf("%s:%d:%d: ", s.Position.File, s.Position.Line, s.Position.Column)
		}
	}
	return ""
}
