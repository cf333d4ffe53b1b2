package lsp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// Time limits for a check. A proof that takes longer than proofTime is reported as unknown.
const (
	proofTime   = 5 * time.Second
	earlyReport = 300 * time.Millisecond // after this time, the problems found so far are shown without waiting for the proofs
)

// A checker runs the server's checks in its own goroutine.
type checker struct {
	*server
	published map[string][]string // paths of the files that have diagnostics, keyed by the policy's main file
}

// checkLoop checks stale documents whenever the user pauses typing.
func (s *server) checkLoop(ctx context.Context) {
	c := &checker{server: s, published: map[string][]string{}}
	for s.waitForPause(ctx) {
		one, cancel := context.WithCancel(ctx)
		stale, open := s.begin(cancel)
		s.end(c.check(one, stale, open))
		cancel()
	}
}

// waitForPause waits for a change and then for a pause in typing. It returns false once ctx is
// done.
func (s *server) waitForPause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-s.wake:
	}
	for {
		pause := time.NewTimer(s.options.Quiet)
		select {
		case <-ctx.Done():
			return false
		case <-s.wake:
			pause.Stop()
		case <-pause.C:
			return true
		}
	}
}

// check checks the policies of the given stale documents. It also clears the diagnostics of
// policies without open documents. If a change interrupts the check, check returns the documents
// that remain to be checked.
func (c *checker) check(ctx context.Context, stale []string, open map[string]*document) (left []string) {
	projects := c.projects(stale, open)
	var mains []string
	for _, p := range projects {
		mains = append(mains, p.main)
	}
	for main, paths := range c.published {
		if !slices.Contains(mains, main) {
			for _, path := range paths {
				c.publish(path, []diagnostic{}, open)
			}
			delete(c.published, main)
		}
	}
	done := map[string]bool{}
	for i, path := range stale {
		p := projects[path]
		if p == nil || done[p.main] {
			continue
		}
		if done[p.main] = c.run(ctx, p, open); !done[p.main] {
			return stale[i:]
		}
	}
	return nil
}

// projects returns the policies of the open documents, keyed by document path. It reloads the
// policies of stale documents.
func (c *checker) projects(stale []string, open map[string]*document) map[string]*project {
	all := map[string]*project{}
	for path, d := range open {
		known := c.project(path)
		switch {
		case d.kind == otherFile:
		case !slices.Contains(stale, path) && known != nil:
			all[path] = known
		case d.refused != "":
			all[path] = &project{main: path}
		default:
			all[path] = c.projectOf(d, open)
		}
	}
	c.setProjects(all)
	return all
}

// run checks a policy and publishes its diagnostics. It returns false if a later change has made
// the check outdated.
func (c *checker) run(ctx context.Context, p *project, open map[string]*document) (done bool) {
	defer func() {
		if fault := recover(); fault != nil {
			c.warn(fmt.Sprintf("a check of %s failed: %v", p.main, fault))
			done = true
		}
	}()
	for _, path := range p.files() {
		if d := open[path]; d != nil && d.refused != "" {
			c.show(p, diag.List{{Severity: diag.Warning, File: path, Msg: d.refused}}, open)
			return true
		}
	}
	problems, err := c.problems(ctx, p, func(early diag.List) { c.show(p, early, open) })
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		problems = append(problems, diag.Problem{Severity: diag.Error, File: p.main, Msg: err.Error()})
	}
	c.show(p, problems, open)
	c.refreshTools(p)
	return true
}

// problems returns the problems that the check command reports for a policy. If the proofs take a
// long time, it first calls the given function with the problems found before the proofs.
func (c *checker) problems(ctx context.Context, p *project, early func(diag.List)) (diag.List, error) {
	if p.broken {
		return p.problems, nil
	}
	source, known := p.source, check.ToolSet{}
	if tools := c.recorded(); tools != nil {
		known = check.KnownSet(tools, source.Config)
	}
	source.Tools, source.Schemas, source.Hooked = known.Names(), known.Schemas, known.Hooked()
	result, err := policy.Build(source)
	var invalid diag.List
	if err != nil && !errors.As(err, &invalid) {
		return p.problems, err
	}
	problems := slices.Concat(p.problems, result.Problems, check.NoPolicy(source))
	if err != nil || ctx.Err() != nil {
		return problems, nil
	}
	if source.Config != nil && c.options.Widened != nil {
		problems = append(problems, c.options.Widened(ctx, source.Config, result)...)
	}
	likely := known
	if !known.Known {
		likely = check.LikelyTools(source.Config, result)
	}
	shown := false
	v, err := check.Run(ctx, result, source, likely, check.Effort{Time: proofTime, Report: func(spent time.Duration) {
		if !shown && spent > earlyReport && ctx.Err() == nil {
			shown = true
			early(problems)
		}
	}})
	if err != nil {
		return problems, err
	}
	return slices.Concat(problems, v.Problems()), nil
}

// show publishes the problems in the policy's files, and clears outdated diagnostics.
func (c *checker) show(p *project, problems diag.List, open map[string]*document) {
	at := map[string]diag.List{}
	for _, q := range problems {
		q = p.relocate(q)
		path := p.main
		if q.File != "" {
			path = filepath.Clean(q.File)
		}
		at[path] = append(at[path], q)
	}
	paths := slices.AppendSeq(p.files(), maps.Keys(at))
	paths = append(paths, c.published[p.main]...)
	slices.Sort(paths)
	var shown []string
	sources := &sources{project: p, open: open, texts: map[string]*content{}}
	for _, path := range slices.Compact(paths) {
		if len(at[path]) == 0 && open[path] == nil && !slices.Contains(c.published[p.main], path) {
			continue // nothing was published for this file
		}
		c.publish(path, sources.diagnostics(at[path]), open)
		if len(at[path]) > 0 {
			shown = append(shown, path)
		}
	}
	c.published[p.main] = shown
}

func (c *checker) publish(path string, found []diagnostic, open map[string]*document) {
	p := publishParams{URI: uriOf(path), Diagnostics: found}
	if d := open[path]; d != nil {
		p.URI, p.Version = d.uri, &d.version
	}
	_ = c.conn.Notify(context.Background(), "textDocument/publishDiagnostics", p)
}

// askInterval is the minimum time between two requests to a running proxy for its tools.
const askInterval = 10 * time.Second

// refreshTools gets the tools from the proxy that runs the policy, unless it has done so recently.
func (c *checker) refreshTools(p *project) {
	if c.options.Running == nil || p.source.Config == nil || c.recorded() != nil || time.Since(c.runningTools(p.main).asked) < askInterval {
		return
	}
	c.setRunningTools(p.main, proxyTools{c.options.Running(p.source.Config), time.Now()})
}
