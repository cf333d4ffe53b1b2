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
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// Default limits on how long [ListTools] waits for the servers' first answers. The limit firstFetch
// applies if a server's command may have to download a program. It is longer than firstStart,
// because killing the command during a download could corrupt the command's cache.
const (
	firstStart = time.Minute
	firstFetch = 5 * time.Minute
)

// fetchers lists programs that run other programs and may have to download them first.
var fetchers = []string{"npx", "bunx", "pnpm", "yarn", "uvx", "uv", "pipx", "docker", "podman", "deno"}

// startupTimeout returns how long to wait for the servers' first answers.
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

// A Listing contains the tools that the configured servers have listed.
type Listing struct {
	operator.Status // status of the temporary proxy that was started to list the tools

	Tools      []check.ListedTool
	Unanswered []Unanswered
	Began      time.Time // time when the servers were started
}

// An Unanswered value describes a server that does not answer.
type Unanswered struct {
	Upstream string
	Why      error // reason, including the server's position in the configuration, its last output, and a hint
}

// ListTools starts the configured servers, lists their tools, and stops the servers. It needs no
// policy and records nothing. At the given interval, it calls report with the names of the servers
// that have not answered yet.
func ListTools(ctx context.Context, c *config.Config, every time.Duration, report func(servers []string)) (*Listing, error) {
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
	d.awaitTools(ctx, every, report)
	if err := ctx.Err(); err != nil {
		return nil, err // the caller no longer needs the result
	}
	l := &Listing{Status: d.Status(), Began: began}
	l.Unanswered = unanswered(l.Upstreams, &quiet)
	tools, err := d.Tools("")
	l.Tools = ListedTools(tools)
	return l, err
}

// awaitTools waits until all servers have listed their tools or are known to be down. At the given
// interval, it calls report with the names of the servers that have not answered yet.
func (d *Daemon) awaitTools(ctx context.Context, every time.Duration, report func(servers []string)) {
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
			report(d.pendingUpstreams())
		}
	}
}

// pendingUpstreams returns the names of the upstreams that are still starting. If all upstreams
// have started, only their lists of tools are missing, and pendingUpstreams returns the phrase
// "lists of tools".
func (d *Daemon) pendingUpstreams() []string {
	starting := list.Filter(d.Status().Upstreams, func(u operator.UpstreamStatus) bool { return u.State == "starting" })
	if len(starting) == 0 {
		return []string{"lists of tools"}
	}
	return list.Map(starting, func(u operator.UpstreamStatus) string { return u.Name })
}

// unanswered describes the upstreams that do not answer. Each description contains the last output
// of the process and a hint.
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
			text += fmt.Sprintf("\n  help: the first start may have to download the program; set startup: %.0fs in the configuration to wait longer", max(time.Minute, 2*c.Startup).Seconds())
		}
		all = append(all, Unanswered{u.Name, errors.New(text)})
	}
	return all
}

// positionOf returns the position of the named server in the configuration, formatted as a prefix
// for a message. It returns "" if the position is unknown.
func positionOf(c *config.Config, name string) string {
	for _, s := range c.Servers {
		if s.Name == name && s.Position.Line > 0 {
			return fmt.Sprintf("%s:%d:%d: ", s.Position.File, s.Position.Line, s.Position.Column)
		}
	}
	return ""
}
