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
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Approvals gives access to a proxy's approvals. [proxy.Proxy] implements it.
type Approvals interface {
	MaskedApproval(id string, mask func([]byte) []byte) (operator.ApprovalInfo, error)
	PutApproval(id, channel string) error
	ApprovalState(id string) operator.ApprovalState
	ApprovalsChanged() <-chan struct{}
	Answer(id string, a operator.Answer) error
}

// Options configures a [Hook].
type Options struct {
	URL       string // URL that events are posted to: https, or http on this machine
	Secret    string
	TLS       *tls.Config // TLS configuration for an https URL; if nil, the system's certificate authorities are trusted
	Arguments string      // how to show the arguments of calls in events and on pages: "masked" (the default), "full" or "none"
	Mask      []string    // names of JSON members whose values are masked if Arguments is "masked"; see [audit.NewRedactor]

	Approvals Approvals
	Log       *slog.Logger     // if nil, nothing is logged
	Now       func() time.Time // if nil, time.Now is used

	Retry time.Duration // delay before the second attempt to post an event; doubled for each further attempt; 0 means one second
}

// A Hook posts a proxy's approvals to the operator's system and accepts answers. It is safe for
// concurrent use. The caller must close it.
type Hook struct {
	Options
	signer   signer
	redactor *audit.Redactor
	client   *http.Client
	host     string       // scheme and host of the URL that events are posted to, for display
	base     atomic.Value // base URL for links, as a string
	tracker  *tracker
	health   health
	slots    chan struct{} // limits the number of concurrent requests
	added    chan struct{} // tells [Hook.watch] that an approval has been added

	ctx  context.Context //nolint:containedctx // done when the hook ends
	end  context.CancelFunc
	work sync.WaitGroup
}

const (
	maxConcurrent = 8 // maximum number of concurrent requests to the system

	firstRetry   = time.Second
	lastRetry    = 30 * time.Second
	endedTimeout = time.Minute // time limit for delivering an event of type "ended"
)

// New returns a hook. The hook posts nothing until Start is called.
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

// Close cancels all deliveries. Events that have not been delivered are lost.
func (h *Hook) Close() {
	h.tracker.close()
	h.end()
	h.work.Wait()
	h.client.CloseIdleConnections()
}

// answerURL returns the URL that the system sends signed answers to.
func (h *Hook) answerURL() string { return h.base.Load().(string) + answerPath }

// Status returns the current state of the hook.
func (h *Hook) Status() *operator.WebhookInfo {
	s := &operator.WebhookInfo{Host: h.host, Answers: h.answerURL(), Open: h.tracker.count()}
	if err, since := h.health.now(); err != "" {
		s.Error, s.Since = err, &since
	}
	return s
}

const answerPath = "/answer"
