package lsp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/policy/check"
)

// A state holds the data that requests and checks share. The values that its methods return are
// immutable.
type state struct {
	mu      sync.Mutex
	tools   []check.ListedTool    // a recorded list of tools; may be nil
	open    map[string]*document  // the open documents, by path
	stale   map[string]bool       // paths of documents that need to be checked
	cancel  context.CancelFunc    // the function that cancels the running check; nil: no check is running
	known   map[string]*project   // for each open document, by path, its policy as of the last check
	byProxy map[string]proxyTools // for each policy, by its main file, the tools of the running proxy
}

// proxyTools holds the tools in the last answer of a running proxy.
type proxyTools struct {
	tools check.ToolSet
	asked time.Time
}

func newState(tools []check.ListedTool) *state {
	return &state{tools: tools, open: map[string]*document{}, stale: map[string]bool{}, known: map[string]*project{}, byProxy: map[string]proxyTools{}}
}

// setTools records a list of tools. If a list already exists, it is kept.
func (s *state) setTools(tools []check.ListedTool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools == nil {
		s.tools = tools
	}
}

// recorded returns the recorded list of tools, or nil.
func (s *state) recorded() []check.ListedTool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tools)
}

// document returns the open document with the given path, or nil.
func (s *state) document(path string) *document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[path]
}

// documents returns the open documents, by path.
func (s *state) documents() map[string]*document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.open)
}

func (s *state) setDocument(d *document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[d.path] = d
}

func (s *state) remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, path)
}

// markStale marks documents as stale and cancels the running check.
func (s *state) markStale(paths ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range paths {
		s.stale[path] = true
	}
	if s.cancel != nil {
		s.cancel()
	}
}

// begin records the start of a check. The function cancel cancels this check. begin returns the
// documents that were stale, and all open documents. The stale documents are then no longer marked
// as stale.
func (s *state) begin(cancel context.CancelFunc) (stale []string, open map[string]*document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = cancel
	stale, open = slices.Sorted(maps.Keys(s.stale)), maps.Clone(s.open)
	clear(s.stale)
	return stale, open
}

// end records the end of a check and marks the documents in left as stale again.
func (s *state) end(left []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = nil
	for _, path := range left {
		s.stale[path] = true
	}
}

// project returns the policy that a document belonged to in the last check, or nil.
func (s *state) project(path string) *project {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[path]
}

func (s *state) setProjects(projects map[string]*project) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = projects
}

// setRunningTools records the tools of the proxy that runs a policy.
func (s *state) setRunningTools(main string, o proxyTools) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byProxy[main] = o
}

func (s *state) runningTools(main string) proxyTools {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byProxy[main]
}
