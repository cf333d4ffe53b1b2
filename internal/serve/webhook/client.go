package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/internal/inet"
	"github.com/petrigate/petrigate/internal/text"
)

const (
	postTimeout  = 10 * time.Second // limit for one request, including its response
	maxResponse  = 64 << 10         // bytes read of a response, so that the connection can be reused
	maxErrorText = 200              // bytes of an error that are shown
)

// newClient returns the client for one URL. It follows no redirects. Without encryption it connects
// only to this machine, whatever the host name resolves to.
func newClient(at *url.URL, secure *tls.Config) *http.Client {
	if secure == nil {
		secure = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	plain := at.Scheme != "https"
	dialer := net.Dialer{Timeout: postTimeout, Control: func(_, address string, _ syscall.RawConn) error { return checkAddress(address, plain) }}
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        secure,
		MaxResponseHeaderBytes: maxResponse,
		IdleConnTimeout:        time.Minute,
		MaxIdleConnsPerHost:    maxConcurrent,
		ForceAttemptHTTP2:      true,
	}
	if !plain {
		t.Proxy = http.ProxyFromEnvironment
	}
	return &http.Client{
		Timeout: postTimeout, Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checkAddress refuses addresses that nothing may be posted to.
func checkAddress(address string, plain bool) error {
	at, err := netip.ParseAddrPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("the address %q is none", address)
	case plain && !inet.Plain(at.Addr()).IsLoopback():
		return fmt.Errorf("%s is not of this machine, and without https nothing is posted there", at.Addr())
	case inet.IsMetadata(at.Addr()):
		return fmt.Errorf("%s is a link-local address or one of a cloud's metadata service, where nothing is posted", at.Addr())
	}
	return nil
}

// deliver posts an event until the system has accepted it, or ctx ends.
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
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// errUnknownApproval: the proxy no longer keeps the approval.
var errUnknownApproval = errors.New("the approval is not kept any more")

// attempt posts an event once, as soon as a slot is free. Slots also limit how many messages, which
// may be long, exist at a time.
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
		err = wrapped.Err // the URL may contain a secret
	}
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.CopyN(io.Discard, response.Body, maxResponse) // the content of the response is ignored
	switch response.StatusCode / 100 {
	case 2:
		return nil
	case 3:
		return fmt.Errorf("it answers with a redirect (%d), which is not followed", response.StatusCode)
	}
	return fmt.Errorf("it answers with status %d", response.StatusCode)
}

// recordHealth records the result of the last request. Only a change is logged.
func (h *Hook) recordHealth(err error) {
	said := ""
	if err != nil {
		said = text.Excerpt(err.Error(), maxErrorText)
	}
	if !h.health.set(said, h.Now()) {
		return
	}
	if err == nil {
		h.Log.Info("the webhook takes questions again", "host", h.host)
		return
	}
	h.Log.Warn("the webhook does not take questions: they stay open elsewhere, and are posted again", "host", h.host, "error", said)
}
