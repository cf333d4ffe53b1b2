package relay

import (
	"slices"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// A watchedResources contains the resources of one server that the proxy has subscribed to.
type watchedResources struct {
	mu   sync.Mutex
	uris []string
}

// has reports whether the proxy has subscribed to the given URI.
func (w *watchedResources) has(uri string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.uris, uri)
}

// note records that a request from a client has added or ended a subscription.
func (w *watchedResources) note(uri string, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = slices.DeleteFunc(w.uris, func(s string) bool { return s == uri })
	if on {
		w.uris = append(w.uris, uri)
	}
}

// Reset removes all subscriptions. It is called when the server has come up again.
func (w *watchedResources) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = nil
}

// Ask changes the subscriptions to those in uris. It sends one subscriptions/listen request
// (2026-07-28), or resources/subscribe and resources/unsubscribe for each difference.
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
