// Package narrate tells people at a terminal what a proxy does, one line each: calls,
// approvals, sessions, what operators do, the start and the end.
//
//	12:03:44 pass files.read_text_file      12ms  cursor 1.2
//	12:03:51 stop files.edit_file           requires a successful call to read_text_file first (safety.rules:1)
//	12:04:02 wait deploy                    ap_7F3K  on ops, by cursor 1.2
//
// Most lines are told from the records of decisions, see [audit.Feed], and the others from
// lines of the log that have a mark, see package logkind, and from what the proxy says of approvals.
package narrate

import (
	"io"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/text"
)

const (
	maxRecordsHeld   = 10_000 // by the feed, until they are told
	maxApprovalsHeld = 1000
)

// Options describe a Narrator.
type Options struct {
	Out   io.Writer // each line is written at once
	Ink   text.Ink
	Quiet func() bool           // only approvals and what operators do are told; nil: all is
	Mask  func(s string) string // of texts of others, without secrets; nil: as they are
	Now   func() time.Time      // nil: time.Now
}

// A Narrator tells what a proxy does. A nil Narrator tells nothing. It is safe for
// concurrent use. End it.
type Narrator struct {
	lines  lines
	now    func() time.Time
	work   sync.WaitGroup
	ending sync.Once
	ended  chan struct{}
	ready  chan struct{} // has one element while approvals are held

	mu        sync.Mutex
	approvals []approval // the oldest first
	lost      int        // approvals that there was no room for
}

// An approval was asked for or answered.
type approval struct {
	operator.ApprovalInfo
	at       time.Time
	answered bool
}

// New returns a narrator, which has not started.
func New(o Options) *Narrator {
	n := &Narrator{now: o.Now, ended: make(chan struct{}), ready: make(chan struct{}, 1)}
	if n.now == nil {
		n.now = time.Now
	}
	n.lines = lines{out: o.Out, ink: o.Ink, quiet: o.Quiet, mask: o.Mask}
	return n
}

// Start tells how the proxy begins, and then what it does, until End.
func (n *Narrator) Start(feed *audit.Feed, how string) {
	if n == nil {
		return
	}
	n.lines.print(line{at: n.now(), verb: "run", about: "petrigate", text: how})
	records := feed.Follow(maxRecordsHeld)
	n.work.Go(func() {
		defer records.Close()
		n.follow(records)
	})
}

// End tells what is left, and returns then.
func (n *Narrator) End() {
	if n == nil {
		return
	}
	n.ending.Do(func() { close(n.ended) })
	n.work.Wait()
}

// Asked tells of an approval that is wanted. It does not block.
func (n *Narrator) Asked(a operator.ApprovalInfo) { n.add(approval{ApprovalInfo: a}) }

// Answered tells of an answer to an approval. It does not block.
func (n *Narrator) Answered(a operator.ApprovalInfo) {
	n.add(approval{ApprovalInfo: a, answered: true})
}

func (n *Narrator) add(a approval) {
	if n == nil {
		return
	}
	a.at = n.now()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.approvals) == maxApprovalsHeld {
		n.approvals = n.approvals[1:]
		n.lost++
	}
	n.approvals = append(n.approvals, a)
	select {
	case n.ready <- struct{}{}:
	default:
	}
}

// follow tells what comes, until End and all that came before it.
func (n *Narrator) follow(records *audit.Follower) {
	s := newFormatter(&n.lines)
	for {
		select {
		case <-n.ready:
		case <-records.Ready():
		case <-n.ended:
			n.flush(s, records)
			return
		}
		n.flush(s, records)
	}
}

// flush tells what has come. Approvals are first: what becomes of their calls is behind them.
func (n *Narrator) flush(s *formatter, records *audit.Follower) {
	stored, lost := records.Take()
	n.mu.Lock()
	approvals, missed := n.approvals, n.lost
	n.approvals, n.lost = nil, 0
	n.mu.Unlock()
	s.missed(n.now(), lost+missed)
	for i := range approvals {
		s.approval(&approvals[i])
	}
	for _, event := range stored {
		r := trail.Record{Event: event}
		if e, err := r.Entry(); err == nil {
			s.entry(&e)
		}
	}
}
