// Package draft looks at drafts of the policy in force: checks one text of it anew, compares
// it with the policy in force, and makes the decisions on record again under it.
//
// A draft is never written to a disk and never put in force. What it says has no process
// started, no other file read and nothing fetched. The texts are those that were read when
// the policy was put in force.
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

// Bounds of what is done for a draft.
const (
	MaxText     = 256 << 10 // bytes
	MaxRules    = 2000      // the work for a policy grows with the square of them
	checkTime   = 5 * time.Second
	proofTime   = 4 * time.Second // of work, so that a check says what it knows before its time is over
	compareTime = 5 * time.Second
	replayTime  = 10 * time.Second
	maxRecords = 100_000 // that are replayed
	maxShown   = 100     // decisions that come out otherwise, and problems
	maxConcurrent  = 2       // of checks and comparisons
)

var (
	// ErrGone says that the policy in force has no such text any more.
	ErrGone = errors.New("the policy in force has changed meanwhile and has no such text any more; load the page again")
	// ErrLong says that the text has more than [MaxText] bytes.
	ErrLong = fmt.Errorf("the text has more than %d KiB; petrigate check takes it from a file", MaxText>>10)
	// ErrMany says that the text has more than [MaxRules] rules.
	ErrMany = fmt.Errorf("the text has more than %d rules; petrigate check takes them from a file", MaxRules)
	// ErrSlow says that the time for a draft is over.
	ErrSlow = errors.New("this takes longer than a page waits; petrigate check, diff and replay take their time")
	// ErrBusy says that decisions are being made again for somebody else.
	ErrBusy = errors.New("the record is being read for another draft; try again when that has ended")
	// ErrNoRecord says that there is nothing to be replayed.
	ErrNoRecord = errors.New("nothing is on record: this proxy has neither a database (state.driver) nor an audit log (audit.file)")
)

// A Log is what a proxy has put on record.
type Log struct {
	trail.Source
	Name    string // for people, without secrets
	Durable bool   // the states outlive a process
}

// A File is a file of the policy in force, as it was read.
type File struct{ Name, SHA256 string }

// Options are what a Desk works with. InForce is required.
type Options struct {
	InForce  func() (*config.Config, *policy.Result) // the policy in force
	Files    func(*config.Config) []File             // nil: none are shown
	Problems func(*config.Config) diag.List          // of a configuration apart from its policy; nil: none
	Tools    func() []check.ListedTool               // that the servers list; empty: not known; nil: never known
	Log      func() *Log                             // nil, or a nil of it: nothing is on record
	Busy     func() (done func())                    // is told of work beside the calls; may be nil
	Now      func() time.Time                        // nil: time.Now
}

// A Draft is another text for one of the policy in force.
type Draft struct {
	Of    string // a [Text.ID]
	Text  string
	Known bool // names are held against the tools that the servers list, where these are known
}

// A Desk looks at drafts. It is safe for concurrent use. Close it.
type Desk struct {
	options Options
	turns   *limiter          // of checks and comparisons
	replays *limiter          // one
	ctx     context.Context //nolint:containedctx // ends with Close, and with it all work
	cancel  context.CancelFunc

	mu    sync.Mutex
	cached *currentPolicy // nil: nobody has asked
	work  int
	idle  chan struct{} // closed when the last work ends after Close; nil: it is not closed
}

// currentPolicy is what was found out about the policy in force.
type currentPolicy struct {
	result   *policy.Result
	problems diag.List
	report   *check.Report // nil: not yet
}

// New returns a desk.
func New(o Options) *Desk {
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Desk{options: o, turns: newLimiter(maxConcurrent), replays: newLimiter(1)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Close ends all work and waits for it.
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

// begin counts work that Close waits for; false: the desk is closed.
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

// A acquirer takes the turn for some work.
type acquirer func(context.Context) (release func(), err error)

// slotFor is the turn of a person.
func (d *Desk) slotFor(who string) acquirer {
	return func(ctx context.Context) (func(), error) { return d.turns.acquire(ctx, who) }
}

// run does work in its turn, and waits for it for so long. Work that does not end then
// keeps its turn until it does. It is told to stop when the time is over or nobody waits.
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
		release() // before anybody knows: the turn is free then
		done <- err
	}()
	select {
	case err := <-done:
		return userError(err)
	case <-ctx.Done():
	}
	select {
	case err := <-done: // it has ended as well
		return userError(err)
	default:
		return userError(ctx.Err())
	}
}

// runMarked does work beside the calls.
func (d *Desk) runMarked(ctx context.Context, work func(context.Context) error) error {
	if d.options.Busy != nil {
		defer d.options.Busy()()
	}
	return recovered(ctx, work)
}

// recovered makes a panic an error: a text of somebody's must not end the proxy.
func recovered(ctx context.Context, work func(context.Context) error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("looking at the draft failed: %v", fault)
		}
	}()
	return work(ctx)
}

// userError is an error for people.
func userError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrSlow
	}
	return err
}

// candidate is the configuration in force with a draft in it.
type candidate struct {
	text   Text
	current    *config.Config
	inForce  *policy.Result
	config *config.Config // nil: the draft cannot be read, see problems

	problems diag.List // of the configuration, and of reading the draft
	outside  int       // how many of them are of the configuration
}

// applyDraft puts a draft into the configuration.
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
		draft.Text = strings.ReplaceAll(draft.Text, "\r\n", "\n") // forms are sent so
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
		x.problems, x.outside = found, 0 // as of a configuration that does not load
		return x, rest
	}
	return x, nil
}

// build builds the policy of the draft, and the one in force. One in shadow, which lets every
// call pass, is built as it is when it is enforced. The error is that of a draft that does
// not load.
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

// source is what an enforced policy is made of.
func (x *candidate) source(c *config.Config) policy.Source {
	s := policy.FromConfig(c)
	s.Mode = ""
	return s
}

// currentPolicy returns what is known of the policy in force.
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

// knownTools are those that the servers list, where they are wanted and known.
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

// narrower compares with the files that claims of the policy in force name, and with no
// others: a draft has no file read.
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
