package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A message is a received message, raw and parsed.
type message struct {
	raw                 []byte
	id, method          string
	params, result, err json.RawMessage
	status              int
	session             string
}

// parseMessage parses what can be parsed of a message.
func parseMessage(raw []byte, status int) message {
	if len(raw) > large {
		return parseLarge(raw, status)
	}
	var m struct {
		ID                    json.RawMessage
		Method                string
		Params, Result, Error json.RawMessage
	}
	_ = json.Unmarshal(raw, &m)
	return message{raw: raw, id: string(m.ID), method: m.Method, params: m.Params, result: m.Result, err: m.Error, status: status}
}

// large is the minimum size of messages that are not parsed completely: under the race detector
// that takes seconds, and tests compare such messages by their bytes.
const large = 1 << 20

// parseLarge parses the members before the content of a message, and takes the content for the last
// one.
func parseLarge(raw []byte, status int) message {
	m := message{raw: raw, status: status}
	contents := map[string]*json.RawMessage{"params": &m.params, "result": &m.result, "error": &m.err}
	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token() // the brace
	for d.More() {
		key, _ := d.Token()
		name, _ := key.(string)
		if content := contents[name]; content != nil {
			*content = bytes.TrimPrefix(raw[d.InputOffset():len(raw)-1], []byte(":"))
			return m
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return m
		}
		switch name {
		case "id":
			m.id = string(value)
		case "method":
			_ = json.Unmarshal(value, &m.method)
		}
	}
	return m
}

// at returns the member of a result by its path, as JSON, or an empty string.
func at(doc []byte, path ...string) string {
	for _, key := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(doc, &members) != nil {
			return ""
		}
		doc = members[key]
	}
	return string(doc)
}

// isError reports whether the result of a call is an error.
func (m message) isError() bool { return at(m.result, "isError") == "true" }

// code returns the code of an error.
func (m message) code() string { return at(m.err, "code") }

// decision returns the machine-readable form of a refusal.
func (m message) decision(key string) string {
	s, _ := strconv.Unquote(at(m.result, "_meta", "io.petrigate/decision", key))
	return s
}

// text returns the text of the result's first block.
func (m message) text() string {
	var r struct{ Content []struct{ Text string } }
	if json.Unmarshal(m.result, &r) != nil || len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// A mailbox keeps messages until tests take them.
type mailbox struct {
	mu       sync.Mutex
	messages []message
	changed  chan struct{}
}

// newMailbox returns an empty mailbox.
func newMailbox() *mailbox { return &mailbox{changed: make(chan struct{})} }

func (b *mailbox) put(m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, m)
	close(b.changed)
	b.changed = make(chan struct{})
}

// take waits for the first message that satisfies ok, and removes it.
func (b *mailbox) take(ok func(message) bool) (message, bool) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		m, found, changed := b.find(ok)
		if found {
			return m, true
		}
		select {
		case <-changed:
		case <-limit.C:
			return message{}, false
		}
	}
}

func (b *mailbox) find(ok func(message) bool) (message, bool, chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, m := range b.messages {
		if ok(m) {
			b.messages = append(b.messages[:i:i], b.messages[i+1:]...)
			return m, true, nil
		}
	}
	return message{}, false, b.changed
}

// count returns the number of messages that satisfy ok.
func (b *mailbox) count(ok func(message) bool) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, m := range b.messages {
		if ok(m) {
			n++
		}
	}
	return n
}

// String lists the messages, for failures.
func (b *mailbox) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s strings.Builder
	for _, m := range b.messages {
		fmt.Fprintf(&s, "\n%d %s", m.status, m.raw)
	}
	return s.String()
}
