package stdiofront

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// An entry is one message of a recording.
type entry struct {
	Session string          `json:"session,omitempty"` // of the older era, in the order of their coming
	From    string          `json:"from"`              // client or server
	Message json.RawMessage `json:"message,omitempty"`
	Left    json.RawMessage `json:"left,omitempty"` // in place of a message: the id of a request whose client went away

	dropped bool // only HTTP knows it
}

// The members of a message that say what it is.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (e entry) read() envelope {
	var m envelope
	_ = json.Unmarshal(e.Message, &m) // only messages that can be read are recorded
	return m
}

// writeRecording writes an entry a line.
func writeRecording(w io.Writer, entries []*entry) error {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, e := range entries {
		if e.dropped {
			continue
		}
		if err := encoder.Encode(e); err != nil {
			return err
		}
	}
	return out.Flush()
}

// readRecording returns the conversations of a recording: those of the sessions,
// and that without one.
func readRecording(r io.Reader) ([][]entry, error) {
	var order []string
	bySession := map[string][]entry{}
	for d := json.NewDecoder(r); ; {
		var e entry
		switch err := d.Decode(&e); {
		case err == io.EOF:
			var all [][]entry
			for _, session := range order {
				all = append(all, bySession[session])
			}
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("reading a recording: %w", err)
		}
		if !slices.Contains(order, e.Session) {
			order = append(order, e.Session)
		}
		bySession[e.Session] = append(bySession[e.Session], e)
	}
}

// changed is a message, or the params of one, with another value of a member.
func changed(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	return edited(object, func(members map[string]json.RawMessage) { members[key] = value })
}

// without is an object without some of its members, the rest of them in the
// order of their keys.
func without(object json.RawMessage, keys ...string) json.RawMessage {
	return edited(object, func(members map[string]json.RawMessage) {
		for _, key := range keys {
			delete(members, key)
		}
	})
}

func edited(object json.RawMessage, edit func(map[string]json.RawMessage)) json.RawMessage {
	members := map[string]json.RawMessage{}
	if json.Unmarshal(object, &members) != nil {
		return object
	}
	edit(members)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(members) != nil {
		return object
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// at is a member of an object by its path; nil: there is none.
func at(object json.RawMessage, path ...string) json.RawMessage {
	for _, key := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(object, &members) != nil {
			return nil
		}
		object = members[key]
	}
	return object
}
