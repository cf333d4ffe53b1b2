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
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/rules"
)

// Limits of the work for one draft.
const (
	MaxText       = 256 << 10 // bytes
	MaxRules      = 2000      // the work for a policy grows with the square of the number of rules
	checkTime     = 5 * time.Second
	proofTime     = 4 * time.Second // CPU time; less than checkTime, so that a check returns partial results in time
	compareTime   = 5 * time.Second
	replayTime    = 10 * time.Second
	maxRecords    = 100_000 // records that are replayed
	maxShown      = 100     // changed decisions, or problems
	maxConcurrent = 2       // checks and comparisons
)

var (
	// ErrGone: the policy in force no longer has this text.
	ErrGone = errors.New("the policy in force has changed meanwhile and has no such text any more; load the page again")
	// ErrLong: the text has more than [MaxText] bytes.
	ErrLong = fmt.Errorf("the text has more than %d KiB; petrigate check takes it from a file", MaxText>>10)
	// ErrMany: the text has more than [MaxRules] rules.
	ErrMany = fmt.Errorf("the text has more than %d rules; petrigate check takes them from a file", MaxRules)
	// ErrSlow: the time limit has passed.
	ErrSlow = errors.New("this takes longer than a page waits; petrigate check, diff and replay take their time")
	// ErrBusy: another replay is running.
	ErrBusy = errors.New("the record is being read for another draft; try again when that has ended")
	// ErrNoRecord: no decisions are recorded that could be replayed.
	ErrNoRecord = errors.New("nothing is on record: this proxy has neither a database (state.driver) nor an audit log (audit.file)")
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
			err = fmt.Errorf("looking at the draft failed: %v", fault)
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

// A candidate is the configuration in force with a draft applied.
type candidate struct {
	text    Text
	current *config.Config
	inForce *policy.Result
	config  *config.Config // nil: the draft cannot be parsed, see problems

	problems diag.List // problems of the configuration, followed by those of parsing the draft
	outside  int       // number of problems that belong to the configuration
}

// applyDraft applies a draft to the configuration in force.
func (d *Desk) applyDraft(draft Draft) (*candidate, error) {
	if len(draft.Text) > MaxText {
		return nil, ErrLong
	}
	c, result := d.options.InForce()
	all := texts(c)
	i := slices.IndexFunc(all, func(t Text) bool { return t.ID == draft.Of })
	switch {
	case i < 0:
		return nil, ErrGone
	case all[i].Closed != "":
		return nil, errors.New(all[i].Closed)
	}
	t := all[i]
	if !strings.Contains(t.Text, "\r\n") {
		draft.Text = strings.ReplaceAll(draft.Text, "\r\n", "\n") // browsers send form text with CRLF
	}
	if t.Text = draft.Text; t.Kind != Nets {
		if f, wrong := rules.Parse(t.Name, []byte(t.Text)); len(f.Statements)+len(wrong) > MaxRules {
			return nil, ErrMany
		}
	}
	x := &candidate{text: t, current: c, inForce: result, problems: slices.Clone(d.currentPolicy(c, result).problems)}
	x.outside = len(x.problems)
	var err error
	if t.Kind == Nets {
		x.config, err = c.WithNets(t.Name, t.Text)
	} else {
		x.config, err = c.WithRules(t.index, t.Text)
	}
	if err != nil {
		found, rest := check.ConfigProblems(err)
		x.problems, x.outside = found, 0 // like a configuration that does not load
		return x, rest
	}
	return x, nil
}

// build builds the policy of the draft and the one in force. A policy in shadow mode, which lets
// every call pass, is built as if it were enforced. The error is that of a draft that does not
// load.
func (x *candidate) build() (is, was *policy.Result, err error) {
	if x.config == nil {
		return nil, nil, x.problems
	}
	if is, err = policy.Build(x.source(x.config)); err != nil {
		return nil, nil, err
	}
	if was = x.inForce; x.current.Mode == "shadow" {
		was, err = policy.Build(x.source(x.current))
	}
	return is, was, err
}

// source returns the source of a policy as if it were enforced.
func (x *candidate) source(c *config.Config) policy.Source {
	s := policy.FromConfig(c)
	s.Mode = ""
	return s
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

// narrower returns a function that proves narrower-than claims only against files that claims of
// the policy in force name: a draft must not make petrigate read other files.
func narrower(force *policy.Result) func(policy.Claim, *policy.Result, policy.Source, func() bool) verify.Proof {
	place := func(c policy.Claim) string {
		if filepath.IsAbs(c.File) {
			return filepath.Clean(c.File)
		}
		return filepath.Join(filepath.Dir(c.Rule.File), c.File)
	}
	named := map[string]bool{}
	for _, c := range force.Claims {
		if c.Kind == rules.NarrowerThan {
			named[place(c)] = true
		}
	}
	return func(c policy.Claim, result *policy.Result, source policy.Source, stop func() bool) verify.Proof {
		if !named[place(c)] {
			return verify.Proof{Why: "no file is read for a draft; petrigate check compares with " + c.File}
		}
		return policydiff.Narrower(c, result, source, stop)
	}
}
