package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/proto"

	"github.com/petrigate/petrigate/internal/text"
)

// maxAttempts is how many times the exporter tries to send a batch before dropping it.
const maxAttempts = 3

// An exporter sends batches of spans to a collector using OTLP over HTTP. It is used by a single
// goroutine, one batch at a time.
type exporter struct {
	target  *Target
	client  *http.Client
	log     *slog.Logger
	metrics *Metrics
	failing atomic.Bool // set when a failure to send is logged, and cleared when sending works again

	ending  chan struct{}   // closed to disable retries
	life    context.Context //nolint:containedctx // canceled by abort, which also ends the requests in progress
	abandon context.CancelFunc
	ended   chan struct{} // closed after the last batch
}

func newExporter(t *Target, log *slog.Logger, m *Metrics) *exporter {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	e := &exporter{target: t, client: t.client(), log: log, metrics: m, ending: make(chan struct{}), ended: make(chan struct{})}
	e.life, e.abandon = context.WithCancel(context.Background())
	return e
}

// ExportSpans sends spans. It logs errors itself, and therefore always returns nil. It logs only
// when sending begins to fail and when it works again.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	body, err := proto.Marshal(encode(spans))
	if err == nil && e.target.Gzip {
		body = gzipped(body)
	}
	if err == nil {
		err = e.send(ctx, body)
	}
	switch {
	case err != nil:
		e.metrics.SpansLost(len(spans))
		if !e.failing.Swap(true) {
			e.log.Warn("traces cannot be sent and are dropped; calls continue", "collector", e.target.URL, "error", err)
		}
	case e.failing.Swap(false):
		e.log.Info("traces are sent again", "collector", e.target.URL)
	}
	return nil
}

// Shutdown closes idle connections. It must be called after the last batch.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	close(e.ended)
	return nil
}

// stopRetrying disables retries, so that each remaining batch is sent only once. It is called when
// the proxy shuts down.
func (e *exporter) stopRetrying() { close(e.ending) }

// abort cancels pending requests and waits for the SDK to call Shutdown.
func (e *exporter) abort() {
	e.abandon()
	<-e.ended
}

// send posts a batch. It retries if the request fails in a way that may be temporary.
func (e *exporter) send(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	for n, wait := 1, time.Second; ; n, wait = n+1, 2*wait {
		again, err := e.post(ctx, body)
		if err == nil || !again || n == maxAttempts {
			return err
		}
		select {
		case <-time.After(wait):
			continue
		case <-e.ending:
		case <-ctx.Done():
		}
		return err
	}
}

// post makes one attempt to send a batch. If the attempt fails, the first result reports whether
// another attempt might succeed.
func (e *exporter) post(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.target.URL, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "petrigate")
	if e.target.Gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	for key, value := range e.target.Headers {
		r.Header.Set(key, value)
	}
	answer, err := e.client.Do(r)
	if err != nil {
		return true, text.Innermost(err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // read the body so that the connection can be reused
	switch answer.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("the collector responded %s", strconv.Itoa(answer.StatusCode)+" "+http.StatusText(answer.StatusCode))
}

func gzipped(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body) // writing to a bytes.Buffer never fails
	_ = w.Close()
	return b.Bytes()
}
