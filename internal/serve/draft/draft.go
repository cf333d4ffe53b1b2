// Package draft evaluates drafts of the policy in force: it checks a changed text of the policy,
// compares it with the policy in force, and replays the recorded decisions under it.
//
// A draft is never written to disk and never put in force. Its content cannot make the package
// start a process, read another file or fetch anything. The texts to change are those that were
// read when the policy was put in force.
//
//	d := draft.New(draft.Options{InForce: func() (*config.Config, *policy.Result) { return c, result }})
//	defer d.Close()
//	checked, err := d.Check(ctx, "ann", draft.Draft{Of: texts[0].ID, Text: "block rm"})
package draft

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// A Log holds the recorded decisions of a proxy.
type Log struct {
	trail.Source
	Name    string // for people, without secrets
	Durable bool   // the states outlive the process
}

// A File identifies a file of the policy in force by the content that was read.
type File struct{ Name, SHA256 string }

// Options configures a Desk. InForce is required.
type Options struct {
	InForce  func() (*config.Config, *policy.Result) // returns the policy in force
	Files    func(*config.Config) []File             // returns the files of the policy; nil: none are shown
	Problems func(*config.Config) diag.List          // finds problems of a configuration apart from its policy; nil: none
	Tools    func() []check.ListedTool               // returns the tools that the servers list; nil or empty: unknown
	Log      func() *Log                             // returns the recorded decisions; nil, or a nil result: nothing is recorded
	Busy     func() (done func())                    // called before background work; done is called after it; may be nil
	Now      func() time.Time                        // nil: time.Now
}

// A Draft is a replacement for one text of the policy in force.
type Draft struct {
	Of    string // id of the replaced text, see [Text]
	Text  string
	Known bool // check names against the tools that the servers list, if known
}

// A Desk evaluates drafts. It is safe for concurrent use. The caller must close it.
type Desk struct {
	options Options
	turns   *limiter        // limits checks and comparisons
	replays *limiter        // allows one replay at a time
	ctx     context.Context //nolint:containedctx // ends with Close, and with it all work
	cancel  context.CancelFunc

	mu     sync.Mutex
	cached *currentPolicy // results for the policy in force; nil: not requested yet
	work   int
	idle   chan struct{} // closed when the last work ends after Close; nil: Close was not called
}

// currentPolicy caches results about the policy in force.
type currentPolicy struct {
	result   *policy.Result
	problems diag.List
	report   *check.Report // nil: not available yet
}

// New returns a Desk.
func New(o Options) *Desk {
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Desk{options: o, turns: newLimiter(maxConcurrent), replays: newLimiter(1)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Close cancels all work and waits until it has ended.
func (d *Desk) Close() {
	d.cancel()
	d.mu.Lock()
	if d.idle == nil {
		d.idle = make(chan struct{})
		if d.work == 0 {
			close(d.idle)
		}
	}
	idle := d.idle
	d.mu.Unlock()
	<-idle
}

// begin registers work that Close waits for. It returns false after Close.
func (d *Desk) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.idle != nil {
		return false
	}
	d.work++
	return true
}

func (d *Desk) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.work--; d.work == 0 && d.idle != nil {
		close(d.idle)
	}
}

// An acquirer waits for a slot in a limiter.
type acquirer func(context.Context) (release func(), err error)

// slotFor returns the acquirer for a person.
func (d *Desk) slotFor(who string) acquirer {
	return func(ctx context.Context) (func(), error) { return d.turns.acquire(ctx, who) }
}

// run does work in a slot and waits for it, most at the longest. When that time is over or ctx
// ends, the context of the work ends; work that continues nevertheless keeps its slot.
func (d *Desk) run(ctx context.Context, take acquirer, most time.Duration, work func(context.Context) error) error {
	if !d.begin() {
		return ErrSlow
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	stop := context.AfterFunc(d.ctx, cancel)
	release, err := take(ctx)
	if err != nil {
		stop()
		cancel()
		d.end()
		return userError(err)
	}
	done := make(chan error, 1)
	go func() {
		defer d.end()
		defer cancel()
		defer stop()
		err := d.runMarked(ctx, work)
		release() // before the caller returns, so that the slot is free by then
		done <- err
	}()
	select {
	case err := <-done:
		return userError(err)
	case <-ctx.Done():
	}
	select {
	case err := <-done: // the work ended at the same time
		return userError(err)
	default:
		return userError(ctx.Err())
	}
}

// runMarked does work and reports it to Busy, so that calls can take precedence.
func (d *Desk) runMarked(ctx context.Context, work func(context.Context) error) error {
	if d.options.Busy != nil {
		defer d.options.Busy()()
	}
	return recovered(ctx, work)
}

// recovered turns a panic into an error: a text from a user must not crash the proxy.
func recovered(ctx context.Context, work func(context.Context) error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("analyzing the draft failed: %v", fault)
		}
	}()
	return work(ctx)
}

// userError replaces an error by one for people.
func userError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrSlow
	}
	return err
}

// currentPolicy returns the cached results about the policy in force.
func (d *Desk) currentPolicy(c *config.Config, result *policy.Result) currentPolicy {
	d.mu.Lock()
	known := d.cached
	d.mu.Unlock()
	if known != nil && known.result == result {
		return *known
	}
	known = &currentPolicy{result: result}
	if d.options.Problems != nil {
		known.problems = d.options.Problems(c)
	}
	d.cache(*known)
	return *known
}

func (d *Desk) cache(known currentPolicy) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cached = &known
}

// knownTools returns the tools that the servers list, if wanted and known.
func (d *Desk) knownTools(c *config.Config, wanted bool) check.ToolSet {
	if !wanted || d.options.Tools == nil {
		return check.ToolSet{}
	}
	list := d.options.Tools()
	if len(list) == 0 {
		return check.ToolSet{}
	}
	return check.KnownSet(list, c)
}
