package lsp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// The bounds of one check. What takes longer is not known, and said so.
const (
	proofTime = 5 * time.Second
	firstNews = 300 * time.Millisecond // then what is known before the proofs is shown
)

// A checker checks, in a goroutine of its own.
type checker struct {
	*server
	shown map[string][]string // the paths with diagnostics, by the main file of the policy
}

// checkLoop checks what is stale whenever nobody has typed for a moment.
func (s *server) checkLoop(ctx context.Context) {
	c := &checker{server: s, shown: map[string][]string{}}
	for s.quiet(ctx) {
		one, cancel := context.WithCancel(ctx)
		stale, open := s.begin(cancel)
		s.end(c.check(one, stale, open))
		cancel()
	}
}

// quiet waits for a change and for the pause after it; false: the server ends.
func (s *server) quiet(ctx context.Context) bool {
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

// check checks the policies of all stale documents, and takes away what was shown of
// policies that no document belongs to any more. It returns the documents that are left
// where it is outdated.
func (c *checker) check(ctx context.Context, stale []string, open map[string]*document) (left []string) {
	projects := c.projects(stale, open)
	var mains []string
	for _, p := range projects {
		mains = append(mains, p.main)
	}
	for main, paths := range c.shown {
		if !slices.Contains(mains, main) {
			c.takeAway(paths, open)
			delete(c.shown, main)
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

// projects finds the policies of the open documents, anew for the stale ones.
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
	c.learn(all)
	return all
}

// run checks one policy and shows what it finds; false: it is outdated.
func (c *checker) run(ctx context.Context, p *project, open map[string]*document) (done bool) {
	defer func() {
		if fault := recover(); fault != nil {
			c.tell(fmt.Sprintf("a check of %s failed: %v", p.main, fault))
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
	c.ask(p)
	return true
}

// problems is what check reports of a policy. early is told of what is known before
// the proofs where these take long.
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
		if !shown && spent > firstNews && ctx.Err() == nil {
			shown = true
			early(problems)
		}
	}})
	if err != nil {
		return problems, err
	}
	return slices.Concat(problems, v.Problems()), nil
}

// show sends what was found in each file of a policy, and takes away what is no longer.
func (c *checker) show(p *project, problems diag.List, open map[string]*document) {
	at := map[string]diag.List{}
	for _, q := range problems {
		q = p.here(q)
		path := p.main
		if q.File != "" {
			path = filepath.Clean(q.File)
		}
		at[path] = append(at[path], q)
	}
	paths := p.files()
	for path := range at {
		paths = append(paths, path)
	}
	paths = append(paths, c.shown[p.main]...)
	slices.Sort(paths)
	var shown []string
	sources := &sources{project: p, open: open, texts: map[string]*content{}}
	for _, path := range slices.Compact(paths) {
		if len(at[path]) == 0 && open[path] == nil && !slices.Contains(c.shown[p.main], path) {
			continue // nothing was said of it
		}
		c.publish(path, sources.diagnostics(at[path]), open)
		if len(at[path]) > 0 {
			shown = append(shown, path)
		}
	}
	c.shown[p.main] = shown
}

// takeAway takes away what was shown of files.
func (c *checker) takeAway(paths []string, open map[string]*document) {
	for _, path := range paths {
		c.publish(path, nil, open)
	}
}

func (c *checker) publish(path string, found []diagnostic, open map[string]*document) {
	p := publishParams{URI: uriOf(path), Diagnostics: found}
	if p.Diagnostics == nil {
		p.Diagnostics = []diagnostic{}
	}
	if d := open[path]; d != nil {
		p.URI, p.Version = d.uri, &d.version
	}
	_ = c.conn.Notify(context.Background(), "textDocument/publishDiagnostics", p)
}

// offeredLasts is for how long a running proxy is not asked again.
const offeredLasts = 10 * time.Second

// ask asks the proxy that runs the policy for its tools, now and then.
func (c *checker) ask(p *project) {
	if c.options.Running == nil || p.source.Config == nil || c.recorded() != nil || time.Since(c.offers(p.main).asked) < offeredLasts {
		return
	}
	c.offer(p.main, offered{c.options.Running(p.source.Config), time.Now()})
}

// tell shows a message in the editor.
func (s *server) tell(message string) {
	const warning = 2
	_ = s.conn.Notify(context.Background(), "window/showMessage", map[string]any{"type": warning, "message": "petrigate: " + message})
}

// sources are the texts of files, read once.
type sources struct {
	project *project
	open    map[string]*document
	texts   map[string]*content
}

// text returns the text of a file: that of the editor, or that on the disk.
func (s *sources) text(path string) *content {
	if d := s.open[path]; d != nil {
		return d.content
	}
	if s.texts[path] == nil {
		src := []byte{}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() <= maxDocument {
			src, _ = os.ReadFile(path) // without it, places are the begin of the file
		}
		s.texts[path] = newContent(string(src))
	}
	return s.texts[path]
}
