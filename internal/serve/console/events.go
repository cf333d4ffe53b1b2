package console

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	pingEvery  = 15 * time.Second
	maxStreams = 100
)

// sendEvents sends server-sent events to an open page when approvals or the journal change, so that
// the page reloads its content.
func (c *Console) sendEvents(w http.ResponseWriter, r *http.Request) {
	if n := c.streams.Add(1); n > maxStreams {
		c.streams.Add(-1)
		http.Error(w, "Too many pages of the console are open.", http.StatusServiceUnavailable)
		return
	}
	defer c.streams.Add(-1)
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	tell := func(event, data string) bool {
		_ = out.SetWriteDeadline(time.Now().Add(pingEvery)) // fails only if the connection does not support deadlines
		_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
		return err == nil && out.Flush() == nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	news := c.journal.updates(ctx)
	changed := c.options.Proxy.ApprovalsChanged()
	for ok := tell("approvals", fmt.Sprint(c.options.Proxy.Status().Waiting)); ok; {
		select {
		case <-changed:
			changed = c.options.Proxy.ApprovalsChanged()
			ok = tell("approvals", fmt.Sprint(c.options.Proxy.Status().Waiting))
		case <-news:
			ok = tell("activity", "")
		case <-ping.C:
			c.journal.markViewed()
			ok = tell("ping", "")
		case <-r.Context().Done():
			return
		case <-c.ctx.Done():
			return
		}
	}
}
