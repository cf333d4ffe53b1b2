package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
)

// Start starts posting approvals. base is the URL where the operator's system and its users can
// reach [Hook.Handler].
func (h *Hook) Start(base string) {
	h.base.Store(base)
	h.work.Go(h.watch)
}

// Asked starts posting the approval request a, unless its rule does not allow answers through the
// webhook. It does not block.
func (h *Hook) Asked(a operator.ApprovalInfo) {
	if h.Approvals.PutApproval(a.ID, approval.Webhook) != nil {
		return // the rule does not allow answers through the webhook
	}
	q, first := h.tracker.add(h.ctx, &h.work, a)
	switch {
	case first:
		h.Log.Warn("too many approvals wait for the webhook: new ones are not posted", "host", h.host, "of one user", maxPerPrincipal, "in all", maxTracked)
	case q == nil:
	default:
		go h.follow(q)
		select {
		case h.added <- struct{}{}:
		default:
		}
	}
}

// follow posts an event of type "asked" for an approval. When the approval has ended, follow posts
// an event of type "ended". It omits the second event if the hook is closed, or if it made no
// attempt to post the first event.
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

// watch cancels the contexts of approvals that have ended. It runs until the hook is closed.
func (h *Hook) watch() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		changed := h.Approvals.ApprovalsChanged()
		if next := h.tracker.endFinished(h.hasEnded); next.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(max(next.Sub(h.Now()), 10*time.Millisecond)) // avoid a busy loop if the clock was set back
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

// deliver posts an event until the system accepts it or ctx is done.
func (h *Hook) deliver(ctx context.Context, q *trackedApproval, event string) {
	delivery := rand.Text()
	for wait := h.Retry; ; wait = min(2*wait, lastRetry) {
		err := h.attempt(ctx, q, event, delivery)
		if ctx.Err() != nil || errors.Is(err, errUnknownApproval) {
			return
		}
		h.recordHealth(err)
		if err == nil {
			return
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// errUnknownApproval means that the proxy no longer has the approval.
var errUnknownApproval = errors.New("the approval is no longer kept")

// attempt waits for a free slot and then makes one attempt to post an event. The slots limit the
// number of concurrent requests and, because messages may be long, the number of messages in
// memory.
func (h *Hook) attempt(ctx context.Context, q *trackedApproval, event, delivery string) error {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	body, err := h.message(q.id, event, delivery)
	if err != nil {
		return errUnknownApproval
	}
	q.tried = true
	return h.post(ctx, delivery, body)
}

func (h *Hook) post(ctx context.Context, delivery string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("the URL cannot be used")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "petrigate")
	request.Header.Set(SignatureHeader, h.signer.sign(body, h.Now()))
	request.Header.Set(DeliveryHeader, delivery)
	response, err := h.client.Do(request)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the URL may contain a secret, so it must not be part of the error
	}
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.CopyN(io.Discard, response.Body, maxResponse) // read the body so that the connection can be reused
	switch response.StatusCode / 100 {
	case 2:
		return nil
	case 3:
		return fmt.Errorf("it responded with a redirect (%d); petrigate does not follow it", response.StatusCode)
	}
	return fmt.Errorf("it responded with status %d", response.StatusCode)
}

// recordHealth records whether the last request succeeded, and logs any change.
func (h *Hook) recordHealth(err error) {
	said := ""
	if err != nil {
		said = text.Excerpt(err.Error(), maxErrorText)
	}
	if !h.health.set(said, h.Now()) {
		return
	}
	if err == nil {
		h.Log.Info("the webhook accepts approvals again", "host", h.host)
		return
	}
	h.Log.Warn("the webhook does not accept approvals: they stay open elsewhere and are posted again", "host", h.host, "error", said)
}
