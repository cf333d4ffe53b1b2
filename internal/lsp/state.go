package lsp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/policy/check"
)

// A state is what the answers to requests and the checks share. What it returns does
// not change.
type state struct {
	mu       sync.Mutex
	shutdown bool
	snippets bool                 // the editor fills in forms
	tools    []check.ListedTool   // nil: not known
	open     map[string]*document // by path
	stale    map[string]bool      // paths of documents that have to be checked
	cancel   context.CancelFunc   // ends the check that runs; nil: none does
	known    map[string]*project  // by the path of an open document: what was checked last
	offered  map[string]offered   // by the main file of a policy
}

// offered are tools of a running proxy, as they were last told.
type offered struct {
	tools check.ToolSet
	asked time.Time
}

func newState(tools []check.ListedTool) *state {
	return &state{tools: tools, open: map[string]*document{}, stale: map[string]bool{}, known: map[string]*project{}, offered: map[string]offered{}}
}

// initialize takes what the editor says of itself. Tools that are known already stay.
func (s *state) initialize(snippets bool, tools []check.ListedTool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snippets = snippets
	if s.tools == nil {
		s.tools = tools
	}
}

func (s *state) fillsIn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snippets
}

// recorded returns the recorded tools; nil: there is no list.
func (s *state) recorded() []check.ListedTool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tools)
}

func (s *state) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shutdown = true
}

func (s *state) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shutdown
}

// document returns an open document, or nil.
func (s *state) document(path string) *document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[path]
}

// documents returns what is open now.
func (s *state) documents() map[string]*document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.open)
}

func (s *state) put(d *document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[d.path] = d
}

func (s *state) remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, path)
}

// outdate marks documents as stale and ends the check that runs.
func (s *state) outdate(paths ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range paths {
		s.stale[path] = true
	}
	if s.cancel != nil {
		s.cancel()
	}
}

// begin begins a check, which cancel ends. It returns the stale documents, which are
// stale no longer, and all open ones.
func (s *state) begin(cancel context.CancelFunc) (stale []string, open map[string]*document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = cancel
	stale, open = slices.Sorted(maps.Keys(s.stale)), maps.Clone(s.open)
	clear(s.stale)
	return stale, open
}

// end ends a check; the documents that are left are stale as before.
func (s *state) end(left []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = nil
	for _, path := range left {
		s.stale[path] = true
	}
}

// project returns the policy of a document as it was last checked, or nil.
func (s *state) project(path string) *project {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[path]
}

func (s *state) learn(projects map[string]*project) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = projects
}

// offer records the tools of the proxy that runs a policy.
func (s *state) offer(main string, o offered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offered[main] = o
}

func (s *state) offers(main string) offered {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offered[main]
}
