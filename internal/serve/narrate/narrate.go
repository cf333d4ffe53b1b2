// Package narrate tells people at a terminal what a proxy is doing. It prints one line per event,
// such as a call, an approval, a new session, an operator action, or the end of the proxy.
//
//	12:03:44 pass files.read_text_file      12ms  cursor 1.2
//	12:03:51 stop files.edit_file           requires a successful call to read_text_file first (safety.rules:1)
//	12:04:02 wait deploy                    ap_7F3K  on ops, by cursor 1.2
//
// Most lines come from audit records; see [audit.Feed]. The others come from approvals reported by
// the proxy and from specially marked log records; see package logkind.
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
	maxRecordsHeld   = 10_000 // maximum number of records waiting to be printed
	maxApprovalsHeld = 1000
)

// Options configures a [Narrator].
type Options struct {
	Out   io.Writer // output; each line is written by a single call to Write
	Ink   text.Ink
	Quiet func() bool           // reports whether the narrator is in quiet mode, where it prints only approvals, problems and operator actions; if nil, the narrator is never in quiet mode
	Mask  func(s string) string // removes secrets from text that petrigate did not write; may be nil
	Now   func() time.Time      // if nil, time.Now is used
}

// A Narrator prints what a proxy does. A nil Narrator prints nothing. It is safe for concurrent
// use. The caller must call End.
type Narrator struct {
	lines     lines
	now       func() time.Time
	approvals *audit.Buffer[approval] // approvals waiting to be printed
	work      sync.WaitGroup
	ending    sync.Once
	ended     chan struct{}
}

// New returns a narrator that prints nothing until it is started.
func New(o Options) *Narrator {
	n := &Narrator{now: o.Now, approvals: audit.NewBuffer[approval](maxApprovalsHeld), ended: make(chan struct{})}
	if n.now == nil {
		n.now = time.Now
	}
	n.lines = lines{out: o.Out, ink: o.Ink, quiet: o.Quiet, mask: o.Mask}
	return n
}

// Start prints that the proxy has started, followed by the given details. From then on, the
// narrator prints each event until End is called.
func (n *Narrator) Start(feed *audit.Feed, details string) {
	if n == nil {
		return
	}
	n.lines.print(line{at: n.now(), verb: "run", about: "petrigate", text: details})
	records := feed.Follow(maxRecordsHeld)
	n.work.Go(func() {
		defer records.Close()
		n.follow(records)
	})
}

// End prints the remaining events and stops.
func (n *Narrator) End() {
	if n == nil {
		return
	}
	n.ending.Do(func() { close(n.ended) })
	n.work.Wait()
}

// Asked prints that an approval was requested. It does not block.
func (n *Narrator) Asked(a operator.ApprovalInfo) { n.add(approval{ApprovalInfo: a}) }

// Answered prints that an approval was answered. It does not block.
func (n *Narrator) Answered(a operator.ApprovalInfo) {
	n.add(approval{ApprovalInfo: a, answered: true})
}

func (n *Narrator) add(a approval) {
	if n != nil {
		a.at = n.now()
		n.approvals.Add(a)
	}
}

// follow prints events as they arrive. Once End has been called, it prints the events that have
// arrived by then, and returns.
func (n *Narrator) follow(records *audit.Follower) {
	s := newFormatter(&n.lines)
	for {
		select {
		case <-n.approvals.Ready():
		case <-records.Ready():
		case <-n.ended:
			n.flush(s, records)
			return
		}
		n.flush(s, records)
	}
}

// flush prints the events that have arrived. It prints approvals first, so that an approval appears
// before the call that it allows.
func (n *Narrator) flush(s *formatter, records *audit.Follower) {
	stored, lost := records.Take()
	approvals, missed := n.approvals.Take()
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
