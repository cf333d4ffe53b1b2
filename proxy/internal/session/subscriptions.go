package session

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Limits on the subscriptions of one client.
const (
	maxSubscriptions = 64        // maximum number of open subscriptions/listen requests
	MaxWatched       = 1024      // maximum number of resources watched with resources/subscribe
	maxWatchedBytes  = 256 << 10 // maximum total length, in bytes, of the URIs of watched resources
)

// A Subscription is an open subscriptions/listen request (2026-07-28).
type Subscription struct {
	ID        string          // ID of the request, exactly as sent
	Outbox    *Outbox         // queue of notifications for the goroutine that serves the request
	Lists     map[string]bool // whether to announce changes to a list; keyed by filter member, such as toolsListChanged
	Resources []string
	Tasks     []string
}

// subscriptions records the lists, resources and tasks that a client wants to be notified about.
// The zero value is ready to use. mu guards the other fields.
type subscriptions struct {
	mu      sync.Mutex
	listed  []string                 // names of the list_changed notifications for the lists fetched by the client
	watched map[string]bool          // URIs from resources/subscribe requests, for revisions up to 2025-11-25
	open    map[string]*Subscription // subscriptions/listen requests, for revisions since 2026-07-28, keyed by ID exactly as sent
}

// SawList records that the client has fetched a list. From then on, the client receives the given
// notification whenever the list changes.
func (i *subscriptions) SawList(method string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.Contains(i.listed, method) {
		i.listed = append(i.listed, method)
	}
}

// OfList reports whether the client has fetched the list named by a list_changed notification. It
// also returns the subscriptions to that notification.
func (i *subscriptions) OfList(method string) (seen bool, subscribers []*Subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Contains(i.listed, method), i.matching(func(s *Subscription) bool { return s.Lists[filterOf(method)] })
}

// Subscribe opens a subscription. It returns false if too many are open.
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

// Unsubscribe closes a subscription.
func (i *subscriptions) Unsubscribe(sub *Subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.open, sub.ID)
}

// Watch records a resources/subscribe request or, if on is false, a resources/unsubscribe request.
// It returns false if the client would watch too many resources, or if their URIs would be too long
// in total.
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

// WatchesAny reports whether the client watches any resource with resources/subscribe.
func (i *subscriptions) WatchesAny() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.watched) > 0
}

// OfResource reports whether the client watches the resource with resources/subscribe, and returns
// the subscriptions that name the resource.
func (i *subscriptions) OfResource(uri string) (watched bool, subscribers []*Subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.watched[uri], i.matching(func(s *Subscription) bool { return slices.Contains(s.Resources, uri) })
}

// AddResources adds the URIs of all resources watched by the client to a set.
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

// OfTask returns the subscriptions that name the task.
func (i *subscriptions) OfTask(id string) []*Subscription {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.matching(func(s *Subscription) bool { return slices.Contains(s.Tasks, id) })
}

// matching returns the open subscriptions s where match(s) is true. The caller must hold mu.
func (i *subscriptions) matching(match func(*Subscription) bool) (list []*Subscription) {
	for _, s := range i.open {
		if match(s) {
			list = append(list, s)
		}
	}
	return list
}

// IsChange reports whether a message only notifies the client of a change to a list or resource. If
// two identical messages of this kind are waiting to be sent, one of them can be dropped.
func IsChange(message []byte) bool {
	const head = `{"jsonrpc":"2.0","method":"`
	return bytes.HasPrefix(message, []byte(head+spec.ListChanged+`"`)) || bytes.HasPrefix(message, []byte(head+spec.PromptsListChanged+`"`)) ||
		bytes.HasPrefix(message, []byte(head+spec.ResourcesListChanged+`"`)) || bytes.HasPrefix(message, []byte(head+spec.ResourceUpdated+`"`))
}

// filterOf returns the member of a subscriptions/listen filter that requests the given
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

// SubscriptionParams returns the params of a notification for a subscription, with the ID of the
// subscription's request in their _meta.
func SubscriptionParams(id, rest string) []byte {
	return []byte(`{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` + rest + `}`)
}

// maxOutbox is the maximum number of notifications queued for a client that does not read.
const maxOutbox = 256

// An Outbox passes messages from the goroutine that reads from a server to the goroutine that
// writes to one client. A full Outbox drops notifications, because the reading goroutine serves
// several clients and must not wait for one that does not read. It never drops requests: their
// number is limited elsewhere, and their senders wait for a response.
type Outbox struct {
	Wake wait.Signal // signaled when a message is added

	mu      sync.Mutex
	waiting [][]byte
}

// NewOutbox returns an empty Outbox.
func NewOutbox() *Outbox { return &Outbox{Wake: wait.NewSignal()} }

// Add queues a message without blocking. It drops a notification if the Outbox is full.
func (n *Outbox) Add(note []byte) {
	n.mu.Lock()
	if len(n.waiting) < maxOutbox || !wire.IsNotification(note) {
		n.waiting = append(n.waiting, note)
	}
	n.mu.Unlock()
	n.Wake.Send()
}

// WriteTo sends the queued messages to a stream.
func (n *Outbox) WriteTo(s spec.Stream) {
	n.mu.Lock()
	waiting := n.waiting
	n.waiting = nil
	n.mu.Unlock()
	for _, note := range waiting {
		s.Send(note)
	}
}

// An OutboxStream is a stream that queues its messages in an [Outbox].
type OutboxStream struct{ *Outbox }

func (s OutboxStream) Send(parts ...[]byte) { s.Add(bytes.Join(parts, nil)) }

func (s OutboxStream) Reply(parts ...[]byte) { s.Send(parts...) }
