package session

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// maxSubscriptions bounds the streams that one client holds open for news, and
// the resources that it watches.
const (
	maxSubscriptions = 64
	MaxWatched       = 1024
	maxWatchedBytes  = 256 << 10 // of the URIs of these
)

// A Subscription is a subscriptions/listen of revision 2026-07-28 that is open.
type Subscription struct {
	ID        string          // of the request, on the wire
	Outbox    *Outbox         // for the goroutine that serves it
	Lists     map[string]bool // by the member of the filter
	Resources []string
	Tasks     []string
}

// interests are what a client is to be told of: lists and resources that change,
// and tasks. The zero value is of a client that is told of nothing.
type subscriptions struct {
	mu      sync.Mutex
	listed  map[string]bool          // the lists that it has seen, by the notification of their changes
	watched map[string]bool          // resources/subscribe, up to 2025-11-25
	open    map[string]*Subscription // subscriptions/listen, since 2026-07-28, by the id on the wire
}

// Saw notes that the client has seen a list, and so is to be told of changes.
func (i *subscriptions) SawList(method string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.listed == nil {
		i.listed = map[string]bool{}
	}
	i.listed[method] = true
}

// InList reports whether the client has seen the list of whose changes a
// notification tells, and which of its subscriptions ask for that.
func (i *subscriptions) OfList(method string) (seen bool, subscribers []*Subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range i.open {
		if s.Lists[filterOf(method)] {
			subscribers = append(subscribers, s)
		}
	}
	return i.listed[method], subscribers
}

// Subscribe opens a subscription. It reports false if too many are open.
func (i *subscriptions) Subscribe(sub *Subscription) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.open) >= maxSubscriptions {
		return false
	}
	if i.open == nil {
		i.open = map[string]*Subscription{}
	}
	i.open[sub.ID] = sub
	return true
}

func (i *subscriptions) Unsubscribe(sub *Subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.open, sub.ID)
}

// Watch notes resources/subscribe or resources/unsubscribe. It reports false if
// the client watches too many resources.
func (i *subscriptions) Watch(uri string, on bool) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !on {
		delete(i.watched, uri)
		return true
	}
	size := len(uri)
	for other := range i.watched {
		size += len(other)
	}
	if len(i.watched) >= MaxWatched || size > maxWatchedBytes {
		return false
	}
	if i.watched == nil {
		i.watched = map[string]bool{}
	}
	i.watched[uri] = true
	return true
}

// Watches reports whether the client has subscribed to any resource by
// resources/subscribe.
func (i *subscriptions) WatchesAny() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.watched) > 0
}

// InResource says how a client is to be told of changes to a resource.
func (i *subscriptions) OfResource(uri string) (watched bool, subscribers []*Subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range i.open {
		if slices.Contains(s.Resources, uri) {
			subscribers = append(subscribers, s)
		}
	}
	return i.watched[uri], subscribers
}

// AddResources adds the URIs of all resources that the client watches.
func (i *subscriptions) AddResources(uris map[string]bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	maps.Copy(uris, i.watched)
	for _, s := range i.open {
		for _, uri := range s.Resources {
			uris[uri] = true
		}
	}
}

// InTask returns the subscriptions that ask for news of a task.
func (i *subscriptions) OfTask(id string) (list []*Subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range i.open {
		if slices.Contains(s.Tasks, id) {
			list = append(list, s)
		}
	}
	return list
}

// IsNews reports whether a message says that something has changed, which is
// said as well by one such message as by several.
func IsChange(message []byte) bool {
	const head = `{"jsonrpc":"2.0","method":"`
	return bytes.HasPrefix(message, []byte(head+spec.ListChanged+`"`)) || bytes.HasPrefix(message, []byte(head+spec.PromptsListChanged+`"`)) ||
		bytes.HasPrefix(message, []byte(head+spec.ResourcesListChanged+`"`)) || bytes.HasPrefix(message, []byte(head+spec.ResourceUpdated+`"`))
}

// filterOf is the member of the filter of subscriptions/listen that asks for a
// notification.
func filterOf(method string) string {
	switch method {
	case spec.ListChanged:
		return "toolsListChanged"
	case spec.PromptsListChanged:
		return "promptsListChanged"
	}
	return "resourcesListChanged"
}

// SubscriptionParams are the params of a message on a subscription: every one
// names the request that opened it.
func SubscriptionParams(id, rest string) []byte {
	return []byte(`{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` + rest + `}`)
}
