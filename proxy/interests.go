package proxy

import (
	"maps"
	"slices"
	"sync"
)

// maxSubscriptions bounds the streams that one client holds open for news, and
// the resources that it watches.
const (
	maxSubscriptions = 64
	maxWatched       = 1024
	maxWatchedBytes  = 256 << 10 // of the URIs of these
)

// A subscription is a subscriptions/listen of revision 2026-07-28 that is open.
type subscription struct {
	id        string          // of the request, on the wire
	notes     *notes          // for the goroutine that serves it
	lists     map[string]bool // by the member of the filter
	resources []string
	tasks     []string
}

// interests are what a client is to be told of: lists and resources that change,
// and tasks. The zero value is of a client that is told of nothing.
type interests struct {
	mu            sync.Mutex
	listed        map[string]bool          // the lists that it has seen, by the notification of their changes
	watched       map[string]bool          // resources/subscribe, up to 2025-11-25
	subscriptions map[string]*subscription // subscriptions/listen, since 2026-07-28, by the id on the wire
}

// saw notes that the client has seen a list, and so is to be told of changes.
func (i *interests) saw(method string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.listed == nil {
		i.listed = map[string]bool{}
	}
	i.listed[method] = true
}

// inList reports whether the client has seen the list of whose changes a
// notification tells, and which of its subscriptions ask for that.
func (i *interests) inList(method string) (seen bool, subscribers []*subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range i.subscriptions {
		if s.lists[filterOf(method)] {
			subscribers = append(subscribers, s)
		}
	}
	return i.listed[method], subscribers
}

// subscribe opens a subscription. It reports false if too many are open.
func (i *interests) subscribe(sub *subscription) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.subscriptions) >= maxSubscriptions {
		return false
	}
	if i.subscriptions == nil {
		i.subscriptions = map[string]*subscription{}
	}
	i.subscriptions[sub.id] = sub
	return true
}

func (i *interests) unsubscribe(sub *subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.subscriptions, sub.id)
}

// watch notes resources/subscribe or resources/unsubscribe. It reports false if
// the client watches too many resources.
func (i *interests) watch(uri string, on bool) bool {
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
	if len(i.watched) >= maxWatched || size > maxWatchedBytes {
		return false
	}
	if i.watched == nil {
		i.watched = map[string]bool{}
	}
	i.watched[uri] = true
	return true
}

// watches reports whether the client has subscribed to any resource by
// resources/subscribe.
func (i *interests) watches() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.watched) > 0
}

// inResource says how a client is to be told of changes to a resource.
func (i *interests) inResource(uri string) (watched bool, subscribers []*subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range i.subscriptions {
		if slices.Contains(s.resources, uri) {
			subscribers = append(subscribers, s)
		}
	}
	return i.watched[uri], subscribers
}

// addResources adds the URIs of all resources that the client watches.
func (i *interests) addResources(uris map[string]bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	maps.Copy(uris, i.watched)
	for _, s := range i.subscriptions {
		for _, uri := range s.resources {
			uris[uri] = true
		}
	}
}

// inTask returns the subscriptions that ask for news of a task.
func (i *interests) inTask(id string) (list []*subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range i.subscriptions {
		if slices.Contains(s.tasks, id) {
			list = append(list, s)
		}
	}
	return list
}
