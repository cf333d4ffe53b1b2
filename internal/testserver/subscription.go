package testserver

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
)

// subscribe adds a subscription, and returns a function that removes it. It first calls begin,
// which can acknowledge the subscription before the client is notified of a change.
func (s *Server) subscribe(sub *subscription, begin func()) (end func()) {
	s.mu.Lock()
	begin()
	s.subs[sub] = struct{}{}
	s.mu.Unlock()
	s.record(Record{Kind: Subscribed, ID: sub.id})
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.subs, sub)
	}
}

func (s *Server) listChanged() {
	s.mu.Lock()
	subs := maps.Clone(s.subs)
	s.mu.Unlock()
	for sub := range subs {
		sub.send(notification("notifications/tools/list_changed", subscriptionMeta(sub.id)))
	}
}

// listen handles subscriptions/listen. The request stays open until it is canceled.
func (s *Server) listen(ctx context.Context, m message, x exchange) (json.RawMessage, error) {
	if m.id == nil {
		return nil, ErrSilent
	}
	ctx, end := x.conn.begin(ctx, m.id)
	defer end()
	wanted := text(object(m.params["notifications"])["toolsListChanged"]) == "true"
	granted, meta := `{}`, subscriptionMeta(m.id)
	if wanted {
		granted = `{"toolsListChanged":true}`
	}
	acknowledge := func() {
		x.send(notification("notifications/subscriptions/acknowledged",
			strings.TrimSuffix(meta, "}")+`,"notifications":`+granted+`}`))
	}
	if wanted {
		defer s.subscribe(&subscription{id: m.id, send: x.send}, acknowledge)()
		<-ctx.Done()
		return nil, errCancelled
	}
	acknowledge()
	return complete(json.RawMessage(meta)), nil
}

// subscriptionMeta returns the params of a notification for the subscription with the given ID. If
// id is nil (revision 2025-11-25 and earlier), the notification has no params.
func subscriptionMeta(id json.RawMessage) string {
	if id == nil {
		return ""
	}
	return `{"_meta":{"` + metaSubscription + `":` + string(id) + `}}`
}

// Notify sends a notification to all clients that are subscribed to changes.
func (s *Server) Notify(method, params string) {
	s.sendToAll(notification(method, params))
}

func (s *Server) sendToAll(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sub := range s.subs {
		sub.send(message)
	}
}
