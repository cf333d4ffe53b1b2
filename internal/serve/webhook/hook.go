package webhook

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Approvals are the questions of a proxy. A [proxy.Proxy] has them.
type Approvals interface {
	MaskedApproval(id string, mask func([]byte) []byte) (operator.ApprovalInfo, error)
	PutApproval(id, channel string) error
	ApprovalState(id string) operator.ApprovalState
	ApprovalsChanged() <-chan struct{}
	Answer(id string, a operator.Answer) error
}

// Options configure a Hook.
type Options struct {
	URL       string // that questions are posted to: https, or http at this machine
	Secret    string
	TLS       *tls.Config // of an https URL; nil: the authorities of the system vouch for it
	Arguments string      // "masked", also where it is empty; "full" or "none": what of the arguments is posted and shown
	Mask      []string    // with "masked", see [audit.NewRedactor]

	Approvals Approvals
	Log       *slog.Logger     // nil: discard
	Now       func() time.Time // nil: time.Now

	Retry time.Duration // how long it waits after the first attempt that fails, and longer after each other; 0: a second
}

// A Hook posts the questions of a proxy to a system of an operator, and takes its answers.
// It is safe for concurrent use. Close it.
type Hook struct {
	Options
	signer   signer
	redactor *audit.Redactor
	client   *http.Client
	host     string       // of the URL, for people
	base     atomic.Value // string: of links
	tracker  *tracker
	health   health
	slots    chan struct{} // of requests at a time
	added    chan struct{} // there is one more question

	ctx  context.Context //nolint:containedctx // ends with the hook
	end  context.CancelFunc
	work sync.WaitGroup
}

const (
	maxConcurrent = 8 // requests to the system

	firstRetry   = time.Second
	lastRetry    = 30 * time.Second
	endedTimeout = time.Minute // how long it is tried to say that a question has ended
)

// New returns a hook that runs once it is started.
func New(o Options) (*Hook, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Retry = cmp.Or(o.Retry, firstRetry)
	at, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	mode := map[string]string{"full": audit.Full, "none": audit.Hash}[o.Arguments]
	redactor, err := audit.NewRedactor(cmp.Or(mode, audit.Masked), o.Mask)
	if err != nil {
		return nil, err
	}
	h := &Hook{
		Options: o, signer: signer{[]byte(o.Secret)}, redactor: redactor, client: newClient(at, o.TLS), host: at.Scheme + "://" + at.Host,
		tracker: newTracker(), slots: make(chan struct{}, maxConcurrent), added: make(chan struct{}, 1),
	}
	h.base.Store("")
	h.ctx, h.end = context.WithCancel(context.Background())
	return h, nil
}

// Start lets the hook post questions. Base is the URL by which the system and people reach
// the [Hook.Handler].
func (h *Hook) Start(base string) {
	h.base.Store(base)
	h.work.Go(h.watch)
}

// Close ends what the hook has under way. What it has not posted it does not post.
func (h *Hook) Close() {
	h.tracker.close()
	h.end()
	h.work.Wait()
	h.client.CloseIdleConnections()
}

// Asked takes a question that waits for an answer. It does not block.
func (h *Hook) Asked(a operator.ApprovalInfo) {
	if h.Approvals.PutApproval(a.ID, approval.Webhook) != nil {
		return // its rule names another channel
	}
	q, first := h.tracker.add(h.ctx, &h.work, a)
	switch {
	case first:
		h.Log.Warn("too many questions wait for the webhook: it is not told of more", "host", h.host, "of one user", maxPerPrincipal, "in all", maxTracked)
	case q == nil:
	default:
		go h.follow(q)
		select {
		case h.added <- struct{}{}:
		default:
		}
	}
}

// follow tells the system of a question, and when it has ended.
func (h *Hook) follow(q *trackedApproval) {
	defer h.work.Done()
	defer h.tracker.remove(q)
	h.deliver(q.ctx, q, "asked")
	<-q.ctx.Done()
	if h.ctx.Err() != nil || !q.tried {
		return
	}
	ctx, cancel := context.WithTimeout(h.ctx, endedTimeout)
	defer cancel()
	h.deliver(ctx, q, "ended")
}

// watch finds the questions that wait no more.
func (h *Hook) watch() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		changed := h.Approvals.ApprovalsChanged()
		if next := h.tracker.endFinished(h.hasEnded); next.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(max(next.Sub(h.Now()), 10*time.Millisecond)) // a clock may be set back
		}
		select {
		case <-changed:
		case <-timer.C:
		case <-h.added:
		case <-h.ctx.Done():
			return
		}
	}
}

func (h *Hook) hasEnded(id string) bool { return h.Approvals.ApprovalState(id) != operator.Pending }

// answerURL is where signed answers are posted.
func (h *Hook) answerURL() string { return h.base.Load().(string) + answerPath }

// Status describes the hook now.
func (h *Hook) Status() *operator.WebhookInfo {
	s := &operator.WebhookInfo{Host: h.host, Answers: h.answerURL(), Open: h.tracker.count()}
	if err, since := h.health.now(); err != "" {
		s.Error, s.Since = err, &since
	}
	return s
}
