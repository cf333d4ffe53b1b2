package relay

import (
	"slices"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// watchedResources are the resources that the proxy has subscribed to at a server.
type watchedResources struct {
	mu   sync.Mutex
	uris []string
}

// has reports whether the proxy has subscribed to uri.
func (w *watchedResources) has(uri string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.uris, uri)
}

// note records a subscription that a client's own request has made or ended.
func (w *watchedResources) note(uri string, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = slices.DeleteFunc(w.uris, func(s string) bool { return s == uri })
	if on {
		w.uris = append(w.uris, uri)
	}
}

// Reset clears the subscriptions after the server has come up anew.
func (w *watchedResources) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = nil
}

// Ask updates the subscriptions to uris: by one subscriptions/listen (2026-07-28), or by
// resources/subscribe and resources/unsubscribe for the differences.
func (w *watchedResources) Ask(u *pool.Server, uris []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.uris
	w.uris = uris
	if u.Rev().Subscriptions {
		if !slices.Equal(before, uris) {
			u.Watch(uris)
		}
		return
	}
	for _, uri := range uris {
		if !slices.Contains(before, uri) {
			u.Send(upstream.Request{Method: "resources/subscribe", Params: uriParams(uri)})
		}
	}
	for _, uri := range before {
		if !slices.Contains(uris, uri) {
			u.Send(upstream.Request{Method: "resources/unsubscribe", Params: uriParams(uri)})
		}
	}
}

func uriParams(uri string) []byte { return rawjson.Object{}.String("uri", uri).Bytes() }
