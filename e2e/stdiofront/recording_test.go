package stdiofront

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// An entry is a message in a recording.
type entry struct {
	Session string          `json:"session,omitempty"` // of the older era, in the order of their coming
	From    string          `json:"from"`              // client or server
	Message json.RawMessage `json:"message,omitempty"`
	Left    json.RawMessage `json:"left,omitempty"` // in place of a message: the id of a request whose client went away

	dropped bool // whether the message only makes sense over HTTP
}

// An envelope contains the members that identify a message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (e entry) read() envelope {
	var m envelope
	_ = json.Unmarshal(e.Message, &m) // cannot fail: only valid messages are recorded
	return m
}

// writeRecording writes one entry per line.
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

// readRecording returns the conversations in a recording: one for each session, and one for
// messages without a session.
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

// changed returns a message, or its params, with the value of one member replaced.
func changed(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	return edited(object, func(members map[string]json.RawMessage) { members[key] = value })
}

// without returns an object without the given members. The remaining members are sorted by key.
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

// at returns the member of an object at the given path. If the member does not exist, it returns
// nil.
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
