package lsp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/policy/check"
)

// A state is the data shared by requests and checks. The values returned by its methods are
// immutable.
type state struct {
	mu      sync.Mutex
	tools   []check.ListedTool    // recorded list of tools; may be nil
	open    map[string]*document  // open documents, keyed by path
	stale   map[string]bool       // paths of the documents to be checked
	cancel  context.CancelFunc    // cancels the running check; nil if no check is running
	known   map[string]*project   // policies of the open documents as of the last check, keyed by document path
	byProxy map[string]proxyTools // tools of running proxies, keyed by the policy's main file
}

// A proxyTools holds the tools of a running proxy as of the last request to the proxy.
type proxyTools struct {
	tools check.ToolSet
	asked time.Time
}

func newState(tools []check.ListedTool) *state {
	return &state{tools: tools, open: map[string]*document{}, stale: map[string]bool{}, known: map[string]*project{}, byProxy: map[string]proxyTools{}}
}

// setTools sets the recorded list of tools, unless it is already set.
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

// documents returns a copy of the map of open documents, keyed by path.
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

// begin records the start of a check and the function that cancels it. It returns the stale
// documents, which need a check, and all open documents. It also empties the set of stale
// documents.
func (s *state) begin(cancel context.CancelFunc) (stale []string, open map[string]*document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = cancel
	stale, open = slices.Sorted(maps.Keys(s.stale)), maps.Clone(s.open)
	clear(s.stale)
	return stale, open
}

// end records the end of a check. It marks the given documents, which the check did not reach, as
// stale again.
func (s *state) end(left []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = nil
	for _, path := range left {
		s.stale[path] = true
	}
}

// project returns the policy that a document belonged to as of the last check, or nil.
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

// setRunningTools records the tools of the proxy that runs the policy with the given main file.
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
