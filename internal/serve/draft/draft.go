// Package draft evaluates proposed changes to the policy in force. It checks a draft, compares it
// with the policy in force, and replays recorded decisions under it.
//
// A draft replaces one source of the policy: a file of rules or nets, or rules written inline in
// the configuration. It is never written to disk and never takes effect. Its content cannot make
// this package start a process, fetch anything, or read a file that the policy in force does not
// name.
//
//	d := draft.New(draft.Options{InForce: func() (*config.Config, *policy.Result) { return c, result }})
//	defer d.Close()
//	p, err := d.Policy(ctx, "ann")
//	checked, err := d.Check(ctx, "ann", draft.Draft{Of: p.Texts[0].ID, Text: "block rm"})
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
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// A Log contains the recorded decisions of a proxy.
type Log struct {
	trail.Source
	Name    string // display name of the log; contains no secrets
	Durable bool   // whether sessions survive a restart of the proxy
}

// Options configures an [Evaluator]. InForce is required, and all other fields are optional.
type Options struct {
	InForce  func() (*config.Config, *policy.Result) // returns the policy in force
	Files    func(*config.Config) []audit.File       // returns the files of the policy for display
	Problems func(*config.Config) diag.List          // returns the problems with the configuration, except those with its policy
	Tools    func() []check.ListedTool               // returns the servers' tools, or nothing if they are unknown
	Log      func() *Log                             // returns the recorded decisions, or nil if decisions are not recorded
	Busy     func() (done func())                    // called when an evaluation begins; the returned function is called when the evaluation ends
	Now      func() time.Time                        // if nil, time.Now is used
}

// A Draft is proposed new content for a [Text], that is, for one source of the policy in force.
type Draft struct {
	Of    string // ID of the [Text] whose content the draft replaces
	Text  string
	Known bool // whether to check names against the servers' tools, if the tools are known
}

// An Evaluator evaluates drafts. It is safe for concurrent use. The caller must close it.
type Evaluator struct {
	options Options
	turns   *limiter        // limits the number of concurrent checks and comparisons
	replays *limiter        // ensures that only one replay runs at a time
	ctx     context.Context //nolint:containedctx // canceled by Close, which ends all work
	cancel  context.CancelFunc

	mu     sync.Mutex
	cached *currentPolicy // results for the policy in force; nil until they are requested
	work   sync.WaitGroup
	closed bool // whether Close has been called
}

// currentPolicy holds results for the policy in force, so that they are computed only once.
type currentPolicy struct {
	result   *policy.Result
	problems diag.List
	report   *check.Report // nil if not available yet
}

// New returns an Evaluator.
func New(o Options) *Evaluator {
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Evaluator{options: o, turns: newLimiter(maxConcurrent), replays: newLimiter(1)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Close cancels all work and waits until it has finished.
func (d *Evaluator) Close() {
	d.cancel()
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.work.Wait()
}

// begin registers work, so that Close waits for it. It returns false if Close has been called.
func (d *Evaluator) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.work.Add(1)
	}
	return !d.closed
}

// An acquirer waits for a free slot in a [limiter]. The caller must call release when the work is
// done.
type acquirer func(context.Context) (release func(), err error)

// slotFor returns an acquirer for the checks and comparisons of the person with the given name.
func (d *Evaluator) slotFor(who string) acquirer {
	return func(ctx context.Context) (func(), error) { return d.turns.acquire(ctx, who) }
}

// run waits for a free slot, calls work, and waits until work returns. If the time limit passes,
// ctx is done, or the Evaluator is closed, run cancels the context that it passed to work and
// returns at once. The slot stays occupied until work has returned. The time limit includes the
// wait for the slot. If the limit has passed, run returns [ErrSlow].
func (d *Evaluator) run(ctx context.Context, take acquirer, limit time.Duration, work func(context.Context) error) error {
	if !d.begin() {
		return ErrSlow
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(d.ctx, cancel)
	release, err := take(ctx)
	if err != nil {
		stop()
		cancel()
		d.work.Done()
		return userError(err)
	}
	done := make(chan error, 1)
	go func() {
		defer d.work.Done()
		defer cancel()
		defer stop()
		err := d.runMarked(ctx, work)
		release() // release the slot first, so that the slot is already free when run returns
		done <- err
	}()
	select {
	case err := <-done:
		return userError(err)
	case <-ctx.Done():
	}
	select {
	case err := <-done: // work finished just before the context was canceled
		return userError(err)
	default:
		return userError(ctx.Err())
	}
}

// runMarked calls the given function. If Busy is set, runMarked calls Busy first, and when the
// function returns, it calls the function returned by Busy. It turns a panic into an error, because
// a user's draft must not crash the proxy.
func (d *Evaluator) runMarked(ctx context.Context, work func(context.Context) error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("analyzing the draft failed: %v", fault)
		}
	}()
	if d.options.Busy != nil {
		defer d.options.Busy()()
	}
	return work(ctx)
}

// userError replaces an error with one that users can understand.
func userError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrSlow
	}
	return err
}

// currentPolicy returns the cached results for the policy in force.
func (d *Evaluator) currentPolicy(c *config.Config, result *policy.Result) currentPolicy {
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

func (d *Evaluator) cache(known currentPolicy) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cached = &known
}

// knownTools returns the tools of the servers. If wanted is false or the tools are not known, it
// returns an empty set.
func (d *Evaluator) knownTools(c *config.Config, wanted bool) check.ToolSet {
	if !wanted || d.options.Tools == nil {
		return check.ToolSet{}
	}
	list := d.options.Tools()
	if len(list) == 0 {
		return check.ToolSet{}
	}
	return check.KnownSet(list, c)
}
